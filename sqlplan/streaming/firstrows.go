package streaming

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// maxFirstRows bounds the rows that are kept of each partition.
const maxFirstRows = 1000

// firstRows finds the windows over streams that run: row_number() under a
// filter that keeps the first rows of each partition (ours; Spark has none).
func firstRows(root logical.Node) map[*logical.Window]int64 {
	out := map[*logical.Window]int64{}
	logical.WalkNode(root, func(n logical.Node) bool {
		f, ok := n.(*logical.Filter)
		if !ok || !f.Streaming() {
			return true
		}
		names := map[logical.ColumnID]logical.ColumnID{}
		in := f.Input
		for {
			p, ok := in.(*logical.Project)
			if !ok {
				break
			}
			for _, a := range p.Exprs {
				if c, ok := a.Expr.(*logical.Column); ok {
					names[a.Attr.ID] = c.Attr.ID
				}
			}
			in = p.Input
		}
		w, ok := in.(*logical.Window)
		if !ok || len(w.Calls) != 1 || w.Calls[0].Fn == nil || w.Calls[0].Fn.Kind != funcs.RowNumber {
			return true
		}
		for _, c := range logical.Conjuncts(f.Cond) {
			if k := rankBound(c, w.Calls[0].Attr.ID, names); k > 0 && (out[w] == 0 || k < out[w]) {
				out[w] = k
			}
		}
		return true
	})
	return out
}

// rankBound reads rn = 1, rn <= n, rn < n and the same turned round; 0 for
// anything else.
func rankBound(e logical.Expr, id logical.ColumnID, names map[logical.ColumnID]logical.ColumnID) int64 {
	call, ok := e.(*logical.Call)
	if !ok || len(call.Args) != 2 || call.Fn.Fn == nil {
		return 0
	}
	op, a, b := call.Fn.Fn.Name, uncast(call.Args[0]), uncast(call.Args[1])
	if _, turned := a.(*logical.Literal); turned {
		a, b = b, a
		op = map[string]string{">": "<", ">=": "<=", "=": "="}[op]
	}
	c, ok := a.(*logical.Column)
	lit, ok2 := b.(*logical.Literal)
	if !ok || !ok2 || lit.Value.IsNull(0) || !lit.Value.Type.IsInteger() {
		return 0
	}
	at := c.Attr.ID
	for range len(names) {
		if next, ok := names[at]; ok && next != at {
			at = next
		}
	}
	k := int64(0)
	switch v := column.At(lit.Value, 0).(type) {
	case int8:
		k = int64(v)
	case int16:
		k = int64(v)
	case int32:
		k = int64(v)
	case int64:
		k = v
	}
	switch {
	case at != id:
		return 0
	case op == "<=", op == "=" && k == 1:
		return k
	case op == "<":
		return k - 1
	}
	return 0
}

func uncast(e logical.Expr) logical.Expr {
	for {
		c, ok := e.(*logical.Cast)
		if !ok || !c.To.IsInteger() {
			return e
		}
		e = c.Input
	}
}

// window checks a window over a stream.
func (c *checker) window(w *logical.Window) {
	k := c.first[w]
	at := w.Calls[0].Place
	switch {
	case k < 1 || k > maxFirstRows || c.opts.Mode == logical.Complete:
		for _, x := range w.Calls {
			c.diags = append(c.diags, c.withHint(x.Place, "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING",
				"Window function is not supported on streaming DataFrames/Datasets. Structured Streaming only supports time-window aggregation using the WINDOW function.",
				"group by window(...), or keep the first rows of each partition: row_number() OVER (PARTITION BY ... ORDER BY ...) with a filter on it"))
		}
	case c.opts.Mode == logical.Append && (k != 1 || orderTime(w) < 0):
		c.diags = append(c.diags, c.withHint(at, outputMode,
			"In append mode row_number() over a stream gives only the first row of each partition by event time.",
			"order by the column with the watermark, ascending, and keep row number 1; or use output mode update"))
	}
}

// orderTime is the event-time column that a window is ordered by, or -1.
func orderTime(w *logical.Window) logical.ColumnID {
	if len(w.OrderBy) == 0 || w.OrderBy[0].Descending {
		return -1
	}
	c, ok := w.OrderBy[0].Expr.(*logical.Column)
	if !ok || c.Attr.Watermark < 0 {
		return -1
	}
	return c.Attr.ID
}

func (c *checker) windowState(w *logical.Window) *logical.StateInfo {
	var keys []string
	for _, p := range w.PartitionBy {
		keys = append(keys, normal(p))
	}
	meaning := "first rows by"
	for _, k := range w.OrderBy {
		meaning += " " + normal(k.Expr)
		if k.Descending {
			meaning += " desc"
		}
		if k.NullsLast {
			meaning += " nulls last"
		}
	}
	kept := append([]logical.Expr{}, w.PartitionBy...)
	for _, k := range w.OrderBy {
		kept = append(kept, k.Expr)
	}
	s := c.state("first_rows", keys, meaning+stored(w.Inputs(), kept...)+renamed(w.Inputs()), nil)
	s.EventTime = orderTime(w)
	return s
}
