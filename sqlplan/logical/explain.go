package logical

import (
	"fmt"
	"strconv"
	"strings"
)

// Explain prints a plan as a tree, one node a line, inputs indented below. The
// text is stable: it depends on the plan alone.
func Explain(n Node) string { return ExplainInputs(n, nil) }

// ExplainInputs is Explain with a line, if above gives one, between a node and
// one of its inputs.
func ExplainInputs(n Node, above func(n Node, input int) string) string {
	e := explainer{above: above}
	e.node(n, 0)
	return e.String()
}

type explainer struct {
	strings.Builder
	above func(n Node, input int) string
}

func (b *explainer) node(n Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(Describe(n))
	if n.Streaming() {
		if _, ok := n.(*Scan); ok {
			b.WriteString(" stream")
		}
	}
	b.WriteByte('\n')
	EachExpr(n, func(e Expr) {
		WalkExpr(e, func(x Expr) bool {
			if s, ok := x.(*Subquery); ok {
				b.WriteString(strings.Repeat("  ", depth+1) + "Subquery" + outerText(s.Outer) + "\n")
				b.node(s.Plan, depth+2)
			}
			return true
		})
	})
	for i, c := range n.Inputs() {
		line := ""
		if b.above != nil {
			line = b.above(n, i)
		}
		if line == "" {
			b.node(c, depth+1)
			continue
		}
		b.WriteString(strings.Repeat("  ", depth+1) + line + "\n")
		b.node(c, depth+2)
	}
}

func outerText(outer []Attr) string {
	if len(outer) == 0 {
		return ""
	}
	return " of (" + attrList(outer) + ")"
}

var joinNames = [...]string{
	InnerJoin: "inner", LeftJoin: "left", RightJoin: "right", FullJoin: "full", CrossJoin: "cross",
	SemiJoin: "semi", AntiJoin: "anti", MarkJoin: "mark", SingleJoin: "single",
}

// String returns the type's name in lower case.
func (t JoinType) String() string { return joinNames[t] }

// Describe prints one node without its inputs.
//
//tidy:allow-long one case a node kind
func Describe(n Node) string {
	switch n := n.(type) {
	case *Scan:
		s := "Scan " + strings.Join(n.Relation.Name, ".") + " [" + attrList(n.Columns) + "]" + narrowed(n)
		if len(n.Filters) > 0 {
			s += " filters [" + exprList(n.Filters) + "]"
		}
		if n.Relation.IdleTimeout > 0 {
			s += " idle after " + micros(n.Relation.IdleTimeout)
		}
		if n.Late {
			s += " late"
		}
		if n.Shared > 0 {
			s += " shared " + strconv.Itoa(n.Shared)
		}
		return s
	case *Values:
		return fmt.Sprintf("Values %d rows [%s]", n.Rows, attrList(n.Columns))
	case *RangeScan:
		return fmt.Sprintf("Range %d to %d step %d [%s]", n.Start, n.End, n.Step, attrText(n.Column))
	case *Filter:
		if n.Deletes {
			return "Filter, deleting others by key, " + Text(n.Cond)
		}
		return "Filter " + Text(n.Cond)
	case *Project:
		return "Project [" + aliasList(n.Exprs) + "]"
	case *Aggregate:
		parts := make([]string, len(n.Aggs))
		for i, a := range n.Aggs {
			parts[i] = aggText(a)
		}
		return "Aggregate [" + aliasList(n.Groups) + "] [" + strings.Join(parts, ", ") + "]" + stateText(n.State)
	case *Expand:
		parts := make([]string, len(n.Projections))
		for i, p := range n.Projections {
			parts[i] = "[" + exprList(p) + "]"
		}
		return "Expand [" + attrList(n.Columns) + "] " + strings.Join(parts, ", ")
	case *Join:
		return joinText(n)
	case *Sort:
		s := "Sort [" + keyList(n.Keys) + "]"
		if n.Limit >= 0 {
			s += " limit " + strconv.FormatInt(n.Limit, 10)
		}
		return s
	case *Limit:
		s := "Limit"
		if n.Count >= 0 {
			s += " " + strconv.FormatInt(n.Count, 10)
		}
		if n.Offset > 0 {
			s += " offset " + strconv.FormatInt(n.Offset, 10)
		}
		return s
	case *Recursion:
		s := fmt.Sprintf("Recursion %d [%s]", n.Loop, attrList(n.Columns))
		if n.Wanted >= 0 {
			s += " limit " + strconv.FormatInt(n.Wanted, 10)
		}
		return s
	case *RecursionRef:
		return fmt.Sprintf("RecursionRef %d %s [%s]", n.Loop, n.Name, attrList(n.Columns))
	case *Union:
		return "Union [" + attrList(n.Columns) + "]"
	case *SetOp:
		return "SetOp " + [...]string{Intersect: "intersect", Except: "except"}[n.Op] + allText(n.All) + " [" + attrList(n.Columns) + "]"
	case *Distinct:
		return "Distinct" + stateText(n.State)
	case *Window:
		return windowText(n)
	case *Generate:
		s := "Generate "
		if n.Outer {
			s += "outer "
		}
		return s + n.Fn.Fn.Name + "(" + exprList(n.Args) + ") [" + attrList(n.Columns) + "]"
	case *Sample:
		if n.Rows >= 0 {
			return fmt.Sprintf("Sample %d rows seed %d", n.Rows, n.Seed)
		}
		return fmt.Sprintf("Sample %s seed %d", strconv.FormatFloat(n.Fraction, 'g', -1, 64), n.Seed)
	case *Watermark:
		future := ""
		if n.MaxFuture > 0 {
			future = " max future " + micros(n.MaxFuture)
		}
		return fmt.Sprintf("Watermark #%d delay %s%s%s", n.Column, micros(n.Delay), future, idText(n.ID))
	case *TimeWindow:
		s := fmt.Sprintf("TimeWindow %s size %s slide %s", Text(n.Time), micros(n.Size), micros(n.Slide))
		if n.Start != 0 {
			s += " start " + micros(n.Start)
		}
		return s + " [" + attrText(n.Column) + "]"
	case *SessionWindow:
		return "SessionWindow " + Text(n.Time) + " gap " + Text(n.Gap) + " [" + attrText(n.Column) + "]"
	case *Deduplicate:
		s := "Deduplicate ["
		for i, k := range n.Keys {
			if i > 0 {
				s += ", "
			}
			s += "#" + strconv.Itoa(int(k))
		}
		s += "]"
		if n.WithinWatermark {
			s += " within watermark"
		}
		return s + stateText(n.State)
	case *Expect:
		parts := make([]string, len(n.Rules))
		for i, r := range n.Rules {
			parts[i] = r.Name + ": " + Text(r.Cond) + " " + [...]string{Warn: "warn", Drop: "drop", FailFlow: "fail"}[r.Action]
		}
		s := "Expect [" + strings.Join(parts, ", ") + "]"
		if n.Dataset != "" {
			s += " of " + n.Dataset
		}
		if n.DropErrors {
			s += " on error drop"
		}
		return s
	}
	panic(fmt.Sprintf("bug: logical: no description of %T", n))
}

// narrowed names the structs of which a scan reads some fields only.
func narrowed(n *Scan) string {
	s := ""
	for i, a := range n.Columns {
		if f := n.Fields[i]; f >= 0 && f < len(n.Relation.Schema.Fields) && !n.Relation.Schema.Fields[f].Type.SameShape(a.Type) {
			s += " " + a.Name + " " + a.Type.String()
		}
	}
	return s
}

func allText(all bool) string {
	if all {
		return " all"
	}
	return ""
}

func idText(id string) string {
	if id == "" {
		return ""
	}
	return " id " + id
}

func micros(us int64) string {
	if us%1_000_000 == 0 {
		return strconv.FormatInt(us/1_000_000, 10) + "s"
	}
	return strconv.FormatInt(us, 10) + "us"
}

func stateText(s *StateInfo) string {
	if s == nil {
		return ""
	}
	out := " state " + s.ID
	if s.EventTime >= 0 {
		out += " time #" + strconv.Itoa(int(s.EventTime))
		if s.IsWindow {
			out += ".end"
		}
	}
	return out + " " + s.Mode.String()
}

// String returns the mode's name as users write it.
func (m OutputMode) String() string {
	return [...]string{Append: "append", Update: "update", Complete: "complete"}[m]
}

func joinText(n *Join) string {
	s := "Join " + n.Type.String()
	if n.Lateral {
		s += " lateral"
	}
	if n.NullAware {
		s += " null-aware"
	}
	var on []string
	for i := range n.LeftKeys {
		op := " = "
		if i < len(n.NullSafe) && n.NullSafe[i] {
			op = " <=> "
		}
		on = append(on, Text(n.LeftKeys[i])+op+Text(n.RightKeys[i]))
	}
	if len(on) > 0 {
		s += " keys [" + strings.Join(on, ", ") + "]"
	}
	if n.Cond != nil {
		s += " on " + Text(n.Cond)
	}
	if n.Type == MarkJoin {
		s += " mark " + attrText(n.Mark)
	}
	return s + boundsText(n.Time) + stateText(n.State)
}

func boundsText(t *TimeBounds) string {
	if t == nil {
		return ""
	}
	s := " bounds ("
	side := func(name string, id ColumnID, until int64, bound bool) {
		s += name
		if id >= 0 {
			s += " #" + strconv.Itoa(int(id))
		}
		if bound {
			s += " until " + micros(until)
		} else {
			s += " unbounded"
		}
	}
	side("left", t.LeftTime, t.LeftUntil, t.LeftBound)
	s += ", "
	side("right", t.RightTime, t.RightUntil, t.RightBound)
	if t.KeyWindow {
		s += ", key window"
	}
	return s + ")"
}

func windowText(n *Window) string {
	parts := make([]string, len(n.Calls))
	for i, c := range n.Calls {
		parts[i] = windowCallText(c)
	}
	s := "Window [" + strings.Join(parts, ", ") + "] partition [" + exprList(n.PartitionBy) + "]"
	if len(n.OrderBy) > 0 {
		s += " order [" + keyList(n.OrderBy) + "]"
	}
	if n.First > 0 {
		s += fmt.Sprintf(" first %d by #%d", n.First, n.FirstBy)
	}
	return s + stateText(n.State)
}
