package streaming

import (
	"fmt"

	"pipelines/spec/diag"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// Options steer the check.
type Options struct {
	Text  *diag.Text
	Place diag.Span // the whole query, where nothing closer is known
	Mode  logical.OutputMode
	Name  string // the dataset, for ids
	TTL   int64  // microseconds, 0 for none
	Zone  string // see ZoneTag
}

// unsupported is Spark's unnamed class of its checker of operations.
const unsupported diag.Code = "_LEGACY_ERROR_TEMP_3102"

// outputMode is the class of what a mode cannot give.
const outputMode diag.Code = "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"

// Check refuses what is not legal over streams and annotates the rest. The
// plan is returned as it was when there is an error or nothing streams.
func Check(n logical.Node, opts Options) (logical.Node, diag.List) {
	c := &checker{opts: opts, seen: map[string]int{}}
	c.subqueries(n)
	if !n.Streaming() {
		return n, c.diags
	}
	prepared := prepare(n)
	c.first = firstRows(prepared)
	c.modes(prepared)
	logical.WalkNode(prepared, func(n logical.Node) bool {
		if n.Streaming() {
			c.node(n)
		}
		return true
	})
	c.eventTimes(prepared)
	if c.diags.HasErrors() {
		return n, c.diags
	}
	out := c.annotate(prepared)
	return out, c.diags
}

type checker struct {
	opts  Options
	diags diag.List
	seen  map[string]int // ids given so far
	// first are the windows that keep the first rows of each partition.
	first map[*logical.Window]int64
}

func (c *checker) fail(at diag.Span, code diag.Code, format string, args ...any) {
	at = c.own(at)
	c.diags = append(c.diags, diag.AtSpan(c.file(at), at, code, fmt.Sprintf(format, args...)))
}

// file is the one in which a place stands, nil if it is that of a view elsewhere.
func (c *checker) file(at diag.Span) *diag.File {
	if c.opts.Text == nil || c.opts.Text.File() == nil || c.opts.Text.File().Name != at.File {
		return nil
	}
	return c.opts.Text.File()
}

// own is a place in the query itself for one that may be in a view: the view is
// legal in some output mode, and the query is not in its own.
func (c *checker) own(at diag.Span) diag.Span {
	before := func(a, b diag.Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column }
	whole := c.opts.Place
	if !at.IsValid() || whole.IsValid() && (at.File != whole.File || before(at.Start, whole.Start) || before(whole.End, at.End)) {
		return whole
	}
	return at
}

// place finds a place for a node: the first expression below it that has one.
func place(n logical.Node) diag.Span {
	var at diag.Span
	logical.WalkNode(n, func(m logical.Node) bool {
		logical.EachExpr(m, func(e logical.Expr) {
			if !at.IsValid() && e != nil {
				at = e.Span()
			}
		})
		if s, ok := m.(*logical.Scan); ok && !at.IsValid() {
			at = s.Place
		}
		return !at.IsValid()
	})
	return at
}

// prepare brings the plan into the form that the rules speak of: a filter over
// an inner join of streams belongs to its condition, equalities are keys.
func prepare(n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		if f, ok := m.(*logical.Filter); ok {
			if j, ok := f.Input.(*logical.Join); ok && bothStream(j) && isInner(j) && !logical.HasSubquery(f.Cond) {
				k := *j
				conds := append([]logical.Expr(nil), logical.Conjuncts(j.Cond)...)
				var stay []logical.Expr
				for _, e := range logical.Conjuncts(f.Cond) {
					if logical.CanFail(e) || logical.Volatility(e) == funcs.Volatile {
						stay = append(stay, e)
					} else {
						conds = append(conds, e)
					}
				}
				k.Cond = logical.Conjunction(conds)
				joined := logical.Node(logical.SplitJoin(&k))
				if cond := logical.Conjunction(stay); cond != nil {
					return &logical.Filter{Input: joined, Cond: cond}
				}
				return joined
			}
		}
		if j, ok := m.(*logical.Join); ok && bothStream(j) {
			return logical.SplitJoin(j)
		}
		return m
	})
}

func bothStream(j *logical.Join) bool { return j.Left.Streaming() && j.Right.Streaming() }

func isInner(j *logical.Join) bool {
	return j.Type == logical.InnerJoin || j.Type == logical.CrossJoin
}

// subqueries refuses the subqueries over streams that were not turned into joins
// (rewrite.StreamExistence).
func (c *checker) subqueries(n logical.Node) {
	logical.WalkNode(n, func(m logical.Node) bool {
		logical.EachExpr(m, func(e logical.Expr) {
			logical.WalkExpr(e, func(x logical.Expr) bool {
				if s, ok := x.(*logical.Subquery); ok {
					if s.Plan.Streaming() {
						c.streamSubquery(s)
					}
					c.subqueries(s.Plan)
				}
				return true
			})
		})
		return true
	})
}

func (c *checker) streamSubquery(s *logical.Subquery) {
	const code, text = "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY", "Streaming query is not allowed in subquery expressions."
	if s.Kind == logical.ScalarSubquery {
		c.fail(s.Place, code, text)
		return
	}
	c.diags = append(c.diags, c.withHint(s.Place, code, text,
		"EXISTS, NOT EXISTS and IN over a stream run in the WHERE of a stream, joined by AND with the rest; for NOT IN write NOT EXISTS with the equality in it"))
}

// stateful reports an operator that keeps state over a stream.
func stateful(n logical.Node) bool {
	switch n := n.(type) {
	case *logical.Aggregate, *logical.Distinct, *logical.Deduplicate, *logical.Window:
		return n.Streaming()
	case *logical.Join:
		return bothStream(n)
	}
	return false
}

// aggregates reports an aggregation over a stream; SELECT DISTINCT is one.
func aggregates(n logical.Node) bool {
	switch n.(type) {
	case *logical.Aggregate, *logical.Distinct:
		return n.Streaming()
	}
	return false
}

func hasAggregation(n logical.Node) bool {
	found := false
	logical.WalkNode(n, func(m logical.Node) bool {
		found = found || aggregates(m)
		return !found
	})
	return found
}

// modes checks the output mode against the operators (5.4).
func (c *checker) modes(root logical.Node) {
	if c.opts.Mode == logical.Complete && !hasAggregation(root) {
		c.fail(place(root), outputMode, "Invalid streaming output mode: complete. This output mode is not supported for no streaming aggregations on streaming DataFrames/DataSets.")
		return
	}
	logical.WalkNode(root, func(n logical.Node) bool {
		if c.opts.Mode == logical.Append && aggregates(n) && eventTimeKey(n) < 0 {
			what := "aggregations"
			c.diags = append(c.diags, c.withHint(c.own(place(n)), outputMode,
				"Invalid streaming output mode: append. This output mode is not supported for streaming "+what+" without watermark on streaming DataFrames/DataSets.",
				"declare a watermark on the stream (WATERMARK column DELAY OF INTERVAL ...) and group by that column or a window of it, or use output mode update"))
			return false
		}
		if c.opts.Mode == logical.Update && sessionOf(n) != nil {
			c.fail(place(n), outputMode, "Invalid streaming output mode: update. This output mode is not supported for session window streaming aggregations on streaming DataFrames/DataSets.")
			return false
		}
		if c.opts.Mode != logical.Append && stateful(n) && statefulBelow(n) && !c.firstOfAppended(n) {
			c.fail(place(n), unsupported, "Detected pattern of possible 'correctness' issue due to global watermark. The query contains stateful operation which can emit rows older than the current watermark plus allowed late record delay, which are \"late rows\" in downstream stateful operations and these rows can be discarded.")
			return false
		}
		return true
	})
}

func (c *checker) withHint(at diag.Span, code diag.Code, msg, hint string) diag.Diagnostic {
	if !at.IsValid() {
		at = c.opts.Place
	}
	return diag.AtSpan(c.file(at), at, code, msg).WithHint(hint)
}

func statefulBelow(n logical.Node) bool {
	found := false
	for _, in := range n.Inputs() {
		logical.WalkNode(in, func(m logical.Node) bool {
			found = found || stateful(m)
			return !found
		})
	}
	return found
}

// firstOfAppended reports row_number() in update mode over operators that only
// add rows (joins, deduplications): it drops no row for its time, so nothing
// that comes late from below is lost.
func (c *checker) firstOfAppended(n logical.Node) bool {
	w, ok := n.(*logical.Window)
	if !ok || c.opts.Mode != logical.Update {
		return false
	}
	added := true
	logical.WalkNode(w.Input, func(m logical.Node) bool {
		_, window := m.(*logical.Window)
		added = added && !(window && m.Streaming()) && !aggregates(m)
		return added
	})
	return added
}

// sessionOf finds the session window that an aggregate groups by.
func sessionOf(n logical.Node) *logical.SessionWindow {
	a, ok := n.(*logical.Aggregate)
	if !ok {
		return nil
	}
	var out *logical.SessionWindow
	logical.WalkNode(a.Input, func(m logical.Node) bool {
		s, ok := m.(*logical.SessionWindow)
		if ok {
			for _, g := range a.Groups {
				if col, ok := g.Expr.(*logical.Column); ok && col.Attr.ID == s.Column.ID {
					out = s
				}
			}
		}
		return !ok && !stateful(m)
	})
	return out
}

// node checks one operator over a stream (5.10).
//
//tidy:allow-long one case an operator
func (c *checker) node(n logical.Node) {
	logical.EachExpr(n, func(e logical.Expr) { c.expr(e) })
	at := place(n)
	switch n := n.(type) {
	case *logical.Aggregate:
		if sessionOf(n) != nil && len(n.Groups) < 2 {
			c.fail(at, "STREAM_FAILED", "Global aggregation with session window in streaming query is not supported.")
		}
		for _, x := range n.Aggs {
			if len(x.OrderBy) > 0 {
				c.diags = append(c.diags, c.withHint(x.Place, "FEATURE_NOT_AVAILABLE", x.Fn.Fn.Name+" with WITHIN GROUP (ORDER BY …) over a stream is not available yet",
					"collect the values and sort them: array_join(transform(array_sort(collect_list(struct(v, k))), x -> x.k), ',') is listagg(k, ',') WITHIN GROUP (ORDER BY v)"))
			}
		}
	case *logical.Join:
		c.join(n, at)
	case *logical.Sort:
		if c.opts.Mode != logical.Complete || !hasAggregation(n) {
			c.fail(at, unsupported, "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated DataFrame/Dataset in Complete output mode.")
		}
	case *logical.Limit:
		switch {
		case n.Offset > 0:
			c.fail(at, unsupported, "Offset is not supported on streaming DataFrames/Datasets.")
		case c.opts.Mode == logical.Update:
			c.fail(at, unsupported, "Limits are not supported on streaming DataFrames/Datasets in Update output mode.")
		}
	case *logical.Union:
		for _, in := range n.Children {
			if !in.Streaming() {
				c.fail(at, unsupported, "Union between streaming and batch DataFrames/Datasets is not supported.")
				break
			}
		}
	case *logical.Recursion:
		c.fail(at, unsupported, "Recursive queries over streaming DataFrames/Datasets are not supported.")
	case *logical.SetOp:
		name := "Intersect of"
		if n.Op == logical.Except {
			name = "Except on"
		}
		c.fail(at, unsupported, "%s streaming DataFrames/Datasets is not supported.", name)
	case *logical.Sample:
		c.fail(at, unsupported, "Sampling is not supported on streaming DataFrames/Datasets.")
	case *logical.Window:
		c.window(n)
	case *logical.Deduplicate:
		if n.WithinWatermark && watermarked(n.Input.Output()) < 0 {
			c.fail(at, unsupported, "dropDuplicatesWithinWatermark is not supported on streaming DataFrames/DataSets without watermark.")
		}
	}
}

// expr refuses functions that make no sense over a stream.
func (c *checker) expr(e logical.Expr) {
	logical.WalkExpr(e, func(x logical.Expr) bool {
		if call, ok := x.(*logical.Call); ok && call.Fn.Fn != nil && call.Fn.Fn.Name == "monotonically_increasing_id" {
			c.fail(call.Place, unsupported, "Expression(s): monotonically_increasing_id() is not supported with streaming DataFrames/Datasets.")
		}
		return true
	})
}
