package operator

import (
	"math"
	"sync"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// aggregate groups rows by keys and folds them. Expressions run in the lanes;
// the table is one, behind a lock. Over a stream the groups are state (see
// aggstate.go); otherwise they live for one step.
type aggregate struct {
	p     *Plan
	out   port
	n     *logical.Aggregate
	nkeys int
	input *program
	drop  bool
	sel   [][]int32
	cols  []logical.Attr

	mem    *memory
	mu     sync.Mutex // guards below
	over   *tableSpill
	size   int64        // when the table was frozen
	extra  []spillExtra // what calls hold beside states, by side
	table  *groupTable
	calls  []*aggCall
	groups []int32
	seen   int
	state  *aggState // nil: not over a stream
	panes  *panes    // sliding windows by panes, nil for others
}

func (bd *builder) aggregate(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Aggregate)
	if s, at := sessionOf(n); s != nil {
		return bd.sessions(n, at, out)
	}
	a := &aggregate{p: bd.p, out: out, n: n, nkeys: len(n.Groups), drop: bd.drop, sel: make([][]int32, bd.env.Lanes), cols: n.Output()}
	var exprs []logical.Expr
	for _, g := range n.Groups {
		exprs = append(exprs, g.Expr)
	}
	a.calls, exprs = aggInputs(bd, n.Aggs, exprs)
	var err error
	if a.input, err = bd.program(exprs, n.Input.Output()); err != nil {
		return nil, nil, err
	}
	a.table = newGroupTable(typesOf(a.cols[:a.nkeys]))
	bd.add(a)
	a.mem = bd.memory(label("aggregate", n.State))
	a.over = newTableSpill(a.mem, a.table, nil)
	a.over.cols = a.spillColumns(exprs)
	if n.State == nil || !n.Input.Streaming() {
		bd.spillSets(a, exprs)
	} else {
		if err := bd.aggregateState(a); err != nil {
			return nil, nil, err
		}
		return a, a.state, nil
	}
	return a, nil, nil
}

// byPanes builds an aggregate over the panes of a sliding window.
func (bd *builder) byPanes(tw *logical.TimeWindow, at int) func(logical.Node, port) (port, watermarked, error) {
	return func(n logical.Node, out port) (port, watermarked, error) {
		in, wm, err := bd.aggregate(n, out)
		if err == nil {
			a := in.(*aggregate)
			a.panes = newPanes(a, tw, at)
		}
		return in, wm, err
	}
}

func (a *aggregate) begin(*stepState) error {
	if a.state != nil {
		a.state.begin()
		return nil
	}
	a.reset()
	return nil
}

func (a *aggregate) reset() {
	a.over.reset()
	for _, c := range a.calls {
		c.reset()
	}
	if a.panes != nil {
		a.panes.reset()
	}
}

func (a *aggregate) close() {
	a.over.close()
	for _, c := range a.calls {
		if c.ordered != nil {
			c.ordered.reset()
		}
		if c.distinct != nil {
			c.distinct.over.close()
		}
	}
}

func (a *aggregate) push(lane int, b *column.Batch) error {
	vecs, err := a.input.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	used := vecs[:a.nkeys]
	if a.drop {
		used = vecs
	}
	rows, err := a.p.usable(used, b, &a.sel[lane], a.drop)
	if err != nil {
		return err
	}
	if rows == nil {
		if b.Sel == nil {
			a.sel[lane] = identity(b.Len, a.sel[lane])
		}
		rows = rowsOf(b, a.sel[lane])
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != nil {
		rows = a.state.onTime(vecs, rows)
	}
	if len(rows) == 0 {
		return nil
	}
	return a.fold(b.Len, vecs, rows)
}

// fold finds the groups of rows and updates all aggregates.
func (a *aggregate) fold(n int, vecs []*column.Vector, rows []int32) error {
	if a.over.frozen() {
		return a.foldFrozen(n, vecs, rows)
	}
	a.groups = grow(a.groups, len(rows))
	a.table.assign(vecs[:a.nkeys], rows, a.groups)
	if a.panes != nil {
		a.panes.note(vecs, rows, a.groups, a.table.fresh)
	}
	if err := a.update(n, vecs, rows, a.groups); err != nil {
		return err
	}
	if a.state != nil {
		a.state.touch(a.groups, vecs, rows)
	}
	return a.check()
}

func (a *aggregate) update(n int, vecs []*column.Vector, rows, groups []int32) error {
	for _, c := range a.calls {
		c.st.Grow(a.table.groups)
		if err := c.update(n, vecs, rows, groups); err != nil {
			return err
		}
	}
	return nil
}

func (a *aggregate) bytes() int64 {
	n := a.table.bytes()
	for _, c := range a.calls {
		n += c.st.Bytes()
		if c.distinct != nil {
			n += c.distinct.table.bytes()
		}
		if c.ordered != nil {
			n += c.ordered.store.bytes() + c.ordered.keyed.bytes()
		}
	}
	return n
}

// ensureGlobal makes the one group of an aggregate without keys.
func (a *aggregate) ensureGlobal() {
	if a.nkeys > 0 || a.table.live() > 0 {
		return
	}
	out := [1]int32{}
	a.table.assign(nil, []int32{0}, out[:])
	for _, c := range a.calls {
		c.st.Grow(a.table.groups)
	}
}

func (a *aggregate) end() error {
	if err := a.feed(); err != nil {
		return err
	}
	if a.state != nil {
		if err := a.state.end(); err != nil {
			return err
		}
		return a.out.end()
	}
	a.ensureGlobal()
	if err := a.emitAll(); err != nil {
		return err
	}
	if a.over.frozen() {
		if err := a.drain(a.over.take()); err != nil {
			return err
		}
	}
	a.reset()
	return a.out.end()
}

// emitAll pushes the rows of all groups.
func (a *aggregate) emitAll() error {
	if a.panes != nil {
		return a.panes.emit(math.MinInt64, math.MaxInt64)
	}
	return a.emit(identity(a.table.groups, nil))
}

// emit pushes the rows of the groups, in order.
func (a *aggregate) emit(groups []int32) error {
	for len(groups) > 0 {
		n := min(len(groups), column.BatchRows)
		b := newBatch(a.p.env.Pool, a.cols)
		a.table.appendKeys(groups[:n], b.Cols[:a.nkeys])
		for i, c := range a.calls {
			c.finish(groups[:n], b.Cols[a.nkeys+i])
		}
		b.Len = n
		if err := pushFresh(a.out, 0, b); err != nil {
			return err
		}
		groups = groups[n:]
	}
	return nil
}
