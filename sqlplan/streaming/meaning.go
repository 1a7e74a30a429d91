package streaming

import (
	"fmt"
	"strconv"
	"strings"

	"pipelines/sqlplan/logical"
)

// definitions maps the columns below a stateful operator to what they are
// computed from, down to the columns of relations: two queries that store the
// same thing have equal texts, however their columns are called on the way.
type definitions struct {
	of map[logical.ColumnID]string
	// zone is put behind what depends on the session time zone.
	zone string
	// bare leaves the names of relations out.
	bare bool
}

// describe adds the columns that n and everything below it makes.
func (d definitions) describe(n logical.Node) {
	for _, in := range n.Inputs() {
		d.describe(in)
	}
	switch n := n.(type) {
	case *logical.Scan:
		for _, c := range n.Columns {
			d.of[c.ID] = strings.ToLower(c.Name)
			if !d.bare {
				d.of[c.ID] = n.Relation.ID + "." + d.of[c.ID]
			}
		}
	case *logical.Project:
		made := make([]string, len(n.Exprs))
		for i, a := range n.Exprs {
			made[i] = d.text(a.Expr)
		}
		for i, a := range n.Exprs {
			d.of[a.Attr.ID] = made[i]
		}
	case *logical.TimeWindow:
		d.of[n.Column.ID] = fmt.Sprintf("window(%s,%d,%d,%d)", d.text(n.Time), n.Size, n.Slide, n.Start)
	case *logical.SessionWindow:
		d.of[n.Column.ID] = fmt.Sprintf("session(%s,%s)", d.text(n.Time), d.text(n.Gap))
	case *logical.Aggregate:
		for _, g := range n.Groups {
			d.of[g.Attr.ID] = d.text(g.Expr)
		}
		for _, a := range n.Aggs {
			d.of[a.Attr.ID] = d.aggregate(a)
		}
	case *logical.Generate:
		for i, c := range n.Columns {
			d.of[c.ID] = n.Fn.Fn.Name + "(" + d.texts(n.Args) + ")." + strconv.Itoa(i)
		}
	case *logical.Union:
		for i, c := range n.Columns {
			var sides []string
			for _, in := range n.Children {
				sides = append(sides, d.column(in.Output()[i]))
			}
			d.of[c.ID] = "union(" + strings.Join(sides, ",") + ")"
		}
	}
}

func (d definitions) column(a logical.Attr) string {
	if s, ok := d.of[a.ID]; ok {
		return s
	}
	return strings.ToLower(a.Name)
}

// text prints an expression over definitions instead of names.
func (d definitions) text(e logical.Expr) string {
	s := normal(logical.MapExpr(e, func(x logical.Expr) logical.Expr {
		c, ok := x.(*logical.Column)
		if !ok {
			return x
		}
		k := *c
		k.Attr.Name = d.column(c.Attr)
		return &k
	}))
	if d.zone != "" && Zoned(e) {
		s += d.zone
	}
	return s
}

func (d definitions) texts(es []logical.Expr) string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = d.text(e)
	}
	return strings.Join(out, ",")
}

func (d definitions) aggregate(a logical.AggCall) string {
	s := a.Fn.Fn.Name + "(" + d.texts(a.Args) + ")"
	if a.Filter != nil {
		s += " filter " + d.text(a.Filter)
	}
	return s
}

// stored is what the keys and values that an operator keeps are made of, with
// their types.
func stored(zone string, inputs []logical.Node, exprs ...logical.Expr) string {
	d := definitions{of: map[logical.ColumnID]string{}, zone: zone}
	for _, n := range inputs {
		d.describe(n)
	}
	var out []string
	for _, e := range exprs {
		if e != nil {
			out = append(out, d.text(e)+" "+e.Type().String())
		}
	}
	return " over " + strings.Join(out, ",")
}

// Origin is what a column of a node is computed from, down to the columns of
// relations by their names alone: equal for queries that differ in spelling, and
// whatever a relation is called.
func Origin(n logical.Node, a logical.Attr) string {
	d := definitions{of: map[logical.ColumnID]string{}, bare: true}
	d.describe(n)
	return d.column(a)
}

// chosenBy is a normal form of what chooses the rows of an operator.
func chosenBy(n logical.Node) string {
	d := definitions{of: map[logical.ColumnID]string{}}
	var out []string
	for _, in := range n.Inputs() {
		d.describe(in)
		logical.WalkNode(in, func(m logical.Node) bool {
			switch m := m.(type) {
			case *logical.Scan:
				out = append(out, m.Relation.ID)
			case *logical.Filter:
				out = append(out, d.text(m.Cond))
			case *logical.Expect:
				for _, r := range m.Rules {
					if r.Action == logical.Drop {
						out = append(out, d.text(r.Cond))
					}
				}
			}
			return true
		})
	}
	return strings.Join(out, "; ")
}

// renamed lists the columns of an operator's inputs that are not simply
// columns of a relation under their own name. An operator that keeps whole
// rows adds it to its meaning; which of the columns it keeps, and their types,
// is the physical operator's to say.
func renamed(zone string, inputs []logical.Node) string {
	d := definitions{of: map[logical.ColumnID]string{}, zone: zone}
	var out []string
	for _, n := range inputs {
		d.describe(n)
		for _, a := range n.Output() {
			name := strings.ToLower(a.Name)
			def := d.column(a)
			if def != name && (!strings.HasSuffix(def, "."+name) || strings.ContainsAny(def, "( ")) {
				out = append(out, name+"="+def)
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " of " + strings.Join(out, ",")
}

// refs makes column expressions.
func refs(attrs []logical.Attr) []logical.Expr {
	out := make([]logical.Expr, len(attrs))
	for i, a := range attrs {
		out[i] = a.Ref()
	}
	return out
}
