package streaming

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
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
		w, _, k := logical.RankLimit(f)
		if w == nil || k == 0 || len(w.Calls) != 1 || w.Calls[0].Fn.Kind != funcs.RowNumber {
			return true
		}
		if out[w] == 0 || k < out[w] {
			out[w] = k
		}
		return true
	})
	return out
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
		c.diags = append(c.diags, c.withHint(c.own(at), outputMode,
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
	s := c.state("first_rows", keys, meaning+stored(c.opts.Zone, w.Inputs(), kept...)+renamed(c.opts.Zone, w.Inputs()), nil)
	s.EventTime = orderTime(w)
	return s
}
