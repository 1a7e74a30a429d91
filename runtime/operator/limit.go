package operator

import (
	"sync"
	"sync/atomic"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// limit passes a number of rows after an offset. Over a stream in append mode
// the count goes on over the epochs; in complete mode and in bounded queries
// it starts anew each step.
type limit struct {
	p             *Plan
	out           port
	count, offset int64
	keep          bool // the count is state
	// scans from..to-1 of the plan lie below; they are not wanted once all rows
	// have passed.
	from, to int
	// leaves of the plan that lie below, likewise.
	leafFrom, leafTo int

	mu     sync.Mutex // guards below
	seen   int64
	before int64 // seen when the step began

	full atomic.Bool
}

func (bd *builder) limit(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Limit)
	l := &limit{p: bd.p, out: out, count: n.Count, offset: n.Offset}
	bd.divide(0, division{kind: oneLane})
	l.keep = n.Streaming() && !isComplete(n.Input)
	if l.keep {
		bd.addLimitState(l)
	}
	if !n.Streaming() {
		bd.p.limits = append(bd.p.limits, l)
	}
	bd.add(l)
	return l, nil, nil
}

// isComplete reports whether the rows are the whole result of each epoch.
func isComplete(n logical.Node) bool {
	found := false
	logical.WalkNode(n, func(n logical.Node) bool {
		if a, ok := n.(*logical.Aggregate); ok && a.State != nil && a.State.Mode == logical.Complete {
			found = true
		}
		return !found
	})
	return found
}

func (l *limit) begin(*stepState) error {
	if !l.keep {
		l.seen = 0
	}
	l.before = l.seen
	l.full.Store(!l.keep && l.count == 0 && l.offset == 0)
	return nil
}

func (l *limit) close() {}

func (l *limit) end() error { return l.out.end() }

func (l *limit) push(lane int, b *column.Batch) error {
	n := int64(b.Rows())
	l.mu.Lock()
	from := max(l.offset-l.seen, 0)
	to := n
	if l.count >= 0 {
		to = min(n, l.offset+l.count-l.seen)
	}
	l.seen += n
	if l.count >= 0 {
		l.seen = min(l.seen, l.offset+l.count)
		l.full.Store(l.seen == l.offset+l.count)
	}
	l.mu.Unlock()
	switch {
	case from >= to:
		return nil
	case from == 0 && to == n:
		return l.out.push(lane, b)
	}
	rows := rowsOf(b)[from:to]
	nb := selected(l.p.env.Pool, b, rows)
	defer nb.Release()
	return l.out.push(lane, nb)
}

// limits are those over an operator.
type limits []*limit

// full reports whether no row of the operator can matter any more in this
// step: what makes many rows of few should look at it.
func (ls limits) full() bool {
	for _, l := range ls {
		if l.full.Load() {
			return true
		}
	}
	return false
}

// Wants reports whether more rows of the scan can matter in this step. The
// flow may stop reading a scan that is not wanted, and must still end it.
func (p *Plan) Wants(scan int) bool {
	for _, l := range p.limits {
		if scan >= l.from && scan < l.to && l.full.Load() {
			return false
		}
	}
	return true
}

// wantsLeaf is Wants for an input without a scan.
func (p *Plan) wantsLeaf(i int) bool {
	for _, l := range p.limits {
		if i >= l.leafFrom && i < l.leafTo && l.full.Load() {
			return false
		}
	}
	return true
}
