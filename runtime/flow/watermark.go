package flow

import (
	"maps"
	"math"
	"slices"
	"strings"

	"pipelines/runtime/stream"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// watermarks follows the event times of a flow's watermark nodes and gives the
// global watermark: the least of the nodes' (or the greatest, by
// spark.sql.streaming.multipleWatermarkPolicy=max), never going back. A node
// whose sources were quiet for their idle timeout is left out; when all are,
// none is quieter than the others and the greatest counts.
type watermarks struct {
	nodes map[string]markNode
	times map[string]int64 // node -> greatest event time seen
	// heard is, for nodes with a timeout, the recorded wall time of the newest
	// epoch that brought an event time, or of the first epoch.
	heard map[string]int64
	max   bool
	// late and evict are those of the newest committed epoch.
	late, evict int64
	// noData allows epochs that only close what the watermark has passed.
	noData bool
}

// markNode is a watermark node of the plan; lengths in microseconds.
type markNode struct {
	delay   int64
	timeout int64    // 0: it is never left out
	sources []string // the streams below it
}

func newWatermarks(root logical.Node, s *funcs.Session) watermarks {
	w := watermarks{
		nodes: map[string]markNode{}, times: map[string]int64{}, heard: map[string]int64{},
		late: stream.NoWatermark, evict: stream.NoWatermark, noData: true,
	}
	stateful := false
	logical.WalkNode(root, func(n logical.Node) bool {
		switch n := n.(type) {
		case *logical.Watermark:
			w.add(n)
		case *logical.Aggregate, *logical.Deduplicate, *logical.Distinct, *logical.Join, *logical.Window:
			stateful = stateful || n.Streaming() && closes(n)
		}
		return true
	})
	if s != nil {
		w.max = strings.EqualFold(s.Conf["spark.sql.streaming.multipleWatermarkPolicy"], "max")
		w.noData = !strings.EqualFold(s.Conf["spark.sql.streaming.noDataMicroBatches.enabled"], "false")
	}
	w.noData = w.noData && stateful && len(w.nodes) > 0
	return w
}

// add takes a node. It is quiet when all its sources are: its timeout is the
// longest of theirs, and none if one of them has none.
func (w *watermarks) add(n *logical.Watermark) {
	out := markNode{delay: n.Delay}
	forever := false
	logical.WalkNode(n.Input, func(x logical.Node) bool {
		if s, ok := x.(*logical.Scan); ok && s.Relation.Streaming {
			out.sources = append(out.sources, s.Relation.ID)
			out.timeout = max(out.timeout, s.Relation.IdleTimeout)
			forever = forever || s.Relation.IdleTimeout == 0
		}
		return true
	})
	if forever {
		out.timeout = 0
	}
	w.nodes[n.ID] = out
}

// observe takes the greatest event times of the step just ended, whose epoch
// has the recorded wall time now.
func (w *watermarks) observe(times map[string]int64, now int64) {
	for id, t := range times {
		if old, ok := w.times[id]; !ok || t > old {
			w.times[id] = t
		}
	}
	for id, n := range w.nodes {
		if n.timeout == 0 {
			continue
		}
		_, rows := times[id]
		if _, known := w.heard[id]; rows || !known {
			w.heard[id] = now
		}
	}
}

// restore takes what an epoch has recorded.
func (w *watermarks) restore(times, heard map[string]int64) {
	maps.Copy(w.times, times)
	maps.Copy(w.heard, heard)
}

func (w *watermarks) committed(late, evict int64) { w.late, w.evict = late, evict }

// quiet reports whether a node has heard nothing for its timeout and has no
// new rows in the epoch that begins at the wall time now either.
func (w *watermarks) quiet(id string, now int64, fresh map[string]bool) bool {
	n := w.nodes[id]
	heard, known := w.heard[id]
	return n.timeout > 0 && known && now-heard >= n.timeout &&
		!slices.ContainsFunc(n.sources, func(s string) bool { return fresh[s] })
}

// global is the watermark that the event times seen so far lead to, for an
// epoch at the wall time now that reads something of the sources in fresh.
func (w *watermarks) global(now int64, fresh map[string]bool) int64 {
	least, greatest := int64(math.MaxInt64), int64(stream.NoWatermark)
	for id, n := range w.nodes {
		m := int64(stream.NoWatermark)
		if t, ok := w.times[id]; ok {
			m = t - n.delay
		}
		greatest = max(greatest, m)
		if !w.quiet(id, now, fresh) {
			least = min(least, m)
		}
	}
	if w.max || least == math.MaxInt64 {
		least = greatest
	}
	if least <= 0 { // W-03: watermarks begin at the epoch and have to pass it
		return w.evict
	}
	return max(least, w.evict)
}

// next returns the watermarks of the next epoch (W-05: late is one behind).
func (w *watermarks) next(now int64, fresh map[string]bool) (late, evict int64) {
	return w.evict, w.global(now, fresh)
}

// pending reports whether an epoch without rows has something to close.
func (w *watermarks) pending(now int64) bool { return w.noData && w.global(now, nil) > w.evict }

// nextQuiet returns how long after the wall time now the next node may be left
// out, 0 for never.
func (w *watermarks) nextQuiet(now int64) (in int64) {
	for id, n := range w.nodes {
		heard, known := w.heard[id]
		if left := heard + n.timeout - now; w.noData && n.timeout > 0 && known && left > 0 && (in == 0 || left < in) {
			in = left
		}
	}
	return in
}

// closes reports whether a moved watermark alone makes the operator do
// something (1.5): not an aggregation that shows its whole result each time, nor
// a join that keeps its rows for ever or keeps none.
func closes(n logical.Node) bool {
	switch n := n.(type) {
	case *logical.Aggregate:
		return n.State == nil || n.State.Mode != logical.Complete
	case *logical.Distinct:
		return n.State == nil || n.State.Mode != logical.Complete
	case *logical.Join:
		t := n.Time
		return n.Left.Streaming() && n.Right.Streaming() && t != nil && (t.KeyWindow ||
			t.LeftBound && timed(n.Left, t.LeftTime) || t.RightBound && timed(n.Right, t.RightTime))
	}
	return true
}

// timed reports whether a column of a side of a join has a watermark.
func timed(side logical.Node, id logical.ColumnID) bool {
	a, ok := logical.Find(side.Output(), id)
	return ok && a.Watermark >= 0
}
