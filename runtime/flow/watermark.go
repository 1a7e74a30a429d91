package flow

import (
	"maps"
	"strings"

	"pipelines/runtime/stream"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// watermarks follows the event times of a flow's watermark nodes and gives the
// global watermark: the least of the nodes' (or the greatest, by
// spark.sql.streaming.multipleWatermarkPolicy=max), never going back.
type watermarks struct {
	delays map[string]int64 // node -> delay
	times  map[string]int64 // node -> greatest event time seen
	max    bool
	// late and evict are those of the newest committed epoch.
	late, evict int64
	// noData allows epochs that only close what the watermark has passed.
	noData bool
}

func newWatermarks(root logical.Node, s *funcs.Session) watermarks {
	w := watermarks{delays: map[string]int64{}, times: map[string]int64{}, late: stream.NoWatermark, evict: stream.NoWatermark, noData: true}
	stateful := false
	var walk func(n logical.Node)
	walk = func(n logical.Node) {
		switch n := n.(type) {
		case *logical.Watermark:
			w.delays[n.ID] = n.Delay
		case *logical.Aggregate, *logical.Deduplicate, *logical.Distinct, *logical.Join, *logical.Window:
			stateful = stateful || n.Streaming() && closes(n)
		}
		for _, c := range n.Inputs() {
			walk(c)
		}
	}
	walk(root)
	if s != nil {
		w.max = strings.EqualFold(s.Conf["spark.sql.streaming.multipleWatermarkPolicy"], "max")
		w.noData = !strings.EqualFold(s.Conf["spark.sql.streaming.noDataMicroBatches.enabled"], "false")
	}
	w.noData = w.noData && stateful && len(w.delays) > 0
	return w
}

// observe takes the greatest event times of the step just ended.
func (w *watermarks) observe(times map[string]int64) {
	for id, t := range times {
		if old, ok := w.times[id]; !ok || t > old {
			w.times[id] = t
		}
	}
}

func (w *watermarks) restore(times map[string]int64) { maps.Copy(w.times, times) }

func (w *watermarks) committed(late, evict int64) { w.late, w.evict = late, evict }

// global is the watermark that the event times seen so far lead to.
func (w *watermarks) global() int64 {
	out := int64(stream.NoWatermark)
	first := true
	for id, delay := range w.delays {
		t, ok := w.times[id]
		m := int64(stream.NoWatermark)
		if ok {
			m = t - delay
		}
		if first || w.max && m > out || !w.max && m < out {
			out, first = m, false
		}
	}
	return max(out, w.evict)
}

// next returns the watermarks of the next epoch (W-05: late is one behind).
func (w *watermarks) next() (late, evict int64) { return w.evict, w.global() }

// pending reports whether an epoch without rows has something to close.
func (w *watermarks) pending() bool { return w.noData && w.global() > w.evict }

// closes reports whether a moved watermark alone makes the operator do
// something: an aggregation that shows its whole result each time does not.
func closes(n logical.Node) bool {
	a, ok := n.(*logical.Aggregate)
	return !ok || a.State == nil || a.State.Mode != logical.Complete
}
