package streaming

import (
	"regexp"
	"sort"
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// annotate gives each stateful operator its StateInfo, each join of streams
// its bounds and each watermark its id.
func (c *checker) annotate(root logical.Node) logical.Node {
	return c.down(root)
}

// down visits a node before its inputs, so that ordinals follow the plan from
// the output down.
func (c *checker) down(n logical.Node) logical.Node {
	if !n.Streaming() {
		return n
	}
	switch m := n.(type) {
	case *logical.Aggregate:
		k := *m
		k.State = c.aggregateState(m)
		c.warnDistinct(m, k.State)
		k.State.Below = chosenBy(m)
		n = &k
	case *logical.Distinct:
		k := *m
		out := m.Input.Output()
		k.State = c.state("distinct", attrNames(out), "distinct rows"+stored(c.opts.Zone, m.Inputs(), refs(out)...), out)
		k.State.Below = chosenBy(m)
		n = &k
	case *logical.Deduplicate:
		k := *m
		k.State = c.dedupState(m)
		k.State.Below = chosenBy(m)
		c.warnDedup(m, k.State)
		n = &k
	case *logical.Join:
		if bothStream(m) {
			k := *m
			k.Time = bounds(m)
			k.State = c.joinState(m, k.Time)
			k.State.Below = chosenBy(m)
			c.warnJoin(m, k.Time, k.State)
			n = &k
		}
	case *logical.Window:
		k := *m
		k.State = c.windowState(m)
		k.State.Below = chosenBy(m)
		n = &k
	case *logical.Watermark:
		k := *m
		a, _ := logical.Find(m.Input.Output(), m.Column)
		k.ID = c.id("watermark", []string{strings.ToLower(a.Name)})
		if statefulBelow(m) {
			c.diags = append(c.diags, c.withHint(place(m), "WATERMARK_ABOVE_STATE",
				"This watermark stands above an operator that waits for a watermark itself: under the policy min each waits for the other and nothing comes out.",
				"use the event time that the operator passes on (window_time(window)) without a new watermark, or set spark.sql.streaming.multipleWatermarkPolicy to max").Warn())
		}
		n = &k
	}
	return logical.MapInputs(n, c.down)
}

// id names an operator: kind, normalised keys, ordinal among equals.
func (c *checker) id(kind string, keys []string) string {
	s := kind + "(" + strings.Join(keys, ",") + ")"
	if c.opts.Name != "" {
		s = c.opts.Name + "/" + s
	}
	c.seen[s]++
	return s + "#" + strconv.Itoa(c.seen[s])
}

func (c *checker) state(kind string, keys []string, meaning string, timed []logical.Attr) *logical.StateInfo {
	s := &logical.StateInfo{ID: c.id(kind, keys), Meaning: meaning, EventTime: -1, Mode: c.opts.Mode, TTL: c.opts.TTL}
	for _, a := range timed {
		if a.Watermark >= 0 {
			s.EventTime, s.IsWindow = a.ID, a.Type.Kind == schema.Struct
			break
		}
	}
	return s
}

func (c *checker) aggregateState(n *logical.Aggregate) *logical.StateInfo {
	kind := "aggregate"
	if sessionOf(n) != nil {
		kind = "session"
	}
	var keys []string
	var timed []logical.Attr
	var kept []logical.Expr
	for _, g := range n.Groups {
		kept = append(kept, g.Expr)
		keys = append(keys, normal(g.Expr))
		timed = append(timed, g.Attr)
	}
	var parts []string
	for _, a := range n.Aggs {
		var args []string
		for _, x := range a.Args {
			args = append(args, normal(x)+" "+x.Type().String())
		}
		s := a.Fn.Fn.Name + "/" + strconv.Itoa(a.Fn.Version) + "(" + strings.Join(args, ",") + ")"
		if a.Distinct {
			s += " distinct"
		}
		kept = append(kept, a.Args...)
		if a.Filter != nil {
			s += " filter " + normal(a.Filter)
			kept = append(kept, a.Filter)
		}
		parts = append(parts, s)
	}
	return c.state(kind, keys, strings.Join(parts, "; ")+stored(c.opts.Zone, n.Inputs(), kept...), timed)
}

func (c *checker) dedupState(n *logical.Deduplicate) *logical.StateInfo {
	in := n.Input.Output()
	keys := in
	if len(n.Keys) > 0 {
		keys = nil
		for _, id := range n.Keys {
			if a, ok := logical.Find(in, id); ok {
				keys = append(keys, a)
			}
		}
	}
	names := attrNames(keys)
	sort.Strings(names)
	kind, meaning := "dedup", "first row of each key"
	if n.WithinWatermark {
		kind, meaning = "dedup_within", "first row of each key within the watermark"
	}
	// A time among the keys expires state; any other only drops late rows.
	timed := append(append([]logical.Attr(nil), keys...), in...)
	return c.state(kind, names, meaning+stored(c.opts.Zone, n.Inputs(), refs(keys)...), timed)
}

func (c *checker) joinState(n *logical.Join, t *logical.TimeBounds) *logical.StateInfo {
	var keys []string
	for i := range n.LeftKeys {
		keys = append(keys, normal(n.LeftKeys[i])+"="+normal(n.RightKeys[i]))
	}
	kept := append(append([]logical.Expr{}, n.LeftKeys...), n.RightKeys...)
	s := c.state("join", keys, n.Type.String()+" join on "+normal(n.Cond)+c.joinStored(n, kept)+renamed(c.opts.Zone, n.Inputs()), nil)
	s.EventTime = t.LeftTime
	return s
}

// joinStored is what the keys of a join are made of, and its condition. That is
// looked at when rows meet: the zone is no part of what is kept.
func (c *checker) joinStored(n *logical.Join, keys []logical.Expr) string {
	out := stored(c.opts.Zone, n.Inputs(), keys...)
	if n.Cond == nil {
		return out
	}
	if len(keys) > 0 {
		out += ","
	}
	return out + strings.TrimPrefix(stored("", n.Inputs(), n.Cond), " over ")
}

// unbounded is the code of warnings about state that nothing ever drops.
const unbounded diag.Code = "UNBOUNDED_STATE"

func (c *checker) warn(at diag.Span, msg, hint string) {
	c.diags = append(c.diags, c.withHint(at, unbounded, msg, hint).Warn())
}

// warnJoin says which side of a join keeps its rows for ever.
func (c *checker) warnJoin(j *logical.Join, t *logical.TimeBounds, s *logical.StateInfo) {
	if t.KeyWindow || t.LeftBound && t.RightBound || c.opts.TTL > 0 {
		return
	}
	side := "both sides"
	switch {
	case t.LeftBound:
		side = "the right side"
	case t.RightBound:
		side = "the left side"
	}
	c.warn(place(j), "The state of this join ("+s.ID+") keeps the rows of "+side+" for ever.",
		"declare watermarks on both streams and bound the time between their rows, for example r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR")
}

// warnDedup says when the keys of a deduplication are kept for ever.
func (c *checker) warnDedup(d *logical.Deduplicate, s *logical.StateInfo) {
	if d.WithinWatermark || c.opts.TTL > 0 {
		return
	}
	for _, k := range d.Keys {
		if k == s.EventTime {
			return
		}
	}
	if s.EventTime >= 0 && len(d.Keys) == 0 {
		return
	}
	c.warn(place(d), "The state of this deduplication ("+s.ID+") keeps each key for ever.",
		"add the event-time column to the keys, or deduplicate within the watermark")
}

// warnDistinct says when the values of DISTINCT aggregates are kept for ever:
// they are exact sets in the state, which Spark refuses (O-37).
func (c *checker) warnDistinct(a *logical.Aggregate, s *logical.StateInfo) {
	if eventTimeKey(a) >= 0 || c.opts.TTL > 0 {
		return
	}
	for _, x := range a.Aggs {
		if x.Distinct && !x.Fn.Fn.IgnoresDistinct {
			c.warn(x.Place, "The state of this aggregation ("+s.ID+") keeps each distinct value of each group for ever.",
				"group by a window of a column with a watermark, or use approx_count_distinct, whose state has a fixed size")
			return
		}
	}
}

func attrNames(attrs []logical.Attr) []string {
	out := make([]string, len(attrs))
	for i, a := range attrs {
		out[i] = strings.ToLower(a.Name)
	}
	return out
}

var idSuffix = regexp.MustCompile(`#\d+`)

// normal prints an expression without column ids, in lower case outside of
// texts: equal for queries that differ in spelling only.
func normal(e logical.Expr) string {
	if e == nil {
		return ""
	}
	s := idSuffix.ReplaceAllString(logical.Text(e), "")
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		ch := s[i]
		if ch == '"' && (i == 0 || s[i-1] != '\\') {
			quoted = !quoted
		}
		if !quoted && ch >= 'A' && ch <= 'Z' {
			ch += 'a' - 'A'
		}
		b.WriteByte(ch)
	}
	return b.String()
}

// eventTimeKey is the grouping column of an aggregation that carries a
// watermark, or -1.
func eventTimeKey(n logical.Node) logical.ColumnID {
	switch n := n.(type) {
	case *logical.Aggregate:
		for _, g := range n.Groups {
			if g.Attr.Watermark >= 0 {
				return g.Attr.ID
			}
		}
	case *logical.Distinct:
		return watermarked(n.Input.Output())
	}
	return -1
}
