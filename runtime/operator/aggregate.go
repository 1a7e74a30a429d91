package operator

import (
	"fmt"
	"math"
	"slices"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// aggregate groups rows by keys and folds them: one part of an exchange. Over a
// stream the groups are state (see aggstate.go); otherwise they live for one
// step.
type aggregate struct {
	p     *Plan
	out   port
	n     *logical.Aggregate
	nkeys int
	cols  []logical.Attr
	above limits

	mem    *memory
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
	return bd.groupBy(n, bd.exchange(out, len(n.Groups)), firstN(len(n.Groups)), func(*aggregate) {})
}

// byPanes builds an aggregate over the panes of a sliding window.
func (bd *builder) byPanes(tw *logical.TimeWindow, at int) func(logical.Node, port) (port, watermarked, error) {
	return func(n logical.Node, out port) (port, watermarked, error) {
		a := n.(*logical.Aggregate)
		// A window merges the groups of its panes: they have to be in one part.
		keys := slices.Delete(firstN(len(a.Groups)), at, at+1)
		x := bd.exchange(out, len(keys))
		in, wm, err := bd.groupBy(a, x, keys, func(a *aggregate) { a.panes = newPanes(a, tw, at) })
		if err == nil {
			x.routedBy(x.parts[0].(*aggregate).panes.route)
		}
		return in, wm, err
	}
}

// groupBy builds the parts of an aggregate, among which rows are dealt by the
// groups at keys; with prepares each.
func (bd *builder) groupBy(n *logical.Aggregate, x *exchange, keys []int, with func(*aggregate)) (port, watermarked, error) {
	spec := inletSpec{attrs: n.Input.Output(), keys: keys, used: len(n.Groups), time: -1}
	var to []taker
	for _, o := range x.outlets {
		a, exprs, err := bd.aggregatePart(n, o)
		if err != nil {
			return nil, nil, err
		}
		with(a)
		spec.exprs, to = exprs, append(to, a)
		if a.state != nil {
			a.state.prepareCold()
			x.add(a, a.state)
		} else {
			x.add(a, nil)
		}
	}
	in, err := bd.inlet(x, spec, to)
	return in, bd.watermarked(x), err
}

// aggregatePart builds one part and lists what it wants evaluated.
func (bd *builder) aggregatePart(n *logical.Aggregate, out port) (*aggregate, []logical.Expr, error) {
	a := &aggregate{p: bd.p, out: out, n: n, nkeys: len(n.Groups), cols: n.Output(), above: bd.above}
	var exprs []logical.Expr
	for _, g := range n.Groups {
		exprs = append(exprs, g.Expr)
	}
	a.calls, exprs = aggInputs(bd, n.Aggs, exprs)
	a.table = newGroupTable(typesOf(a.cols[:a.nkeys]))
	bd.add(a)
	a.mem = bd.memory(label("aggregate", n.State))
	a.over = newTableSpill(a.mem, a.table, nil)
	a.over.cols = a.spillColumns(exprs)
	if n.State == nil || !n.Input.Streaming() {
		bd.spillSets(a, exprs)
		return a, exprs, nil
	}
	return a, exprs, bd.aggregateState(a)
}

func (a *aggregate) begin(*stepState) error {
	if a.state != nil && !a.state.bounded {
		return a.state.begin()
	}
	a.reset()
	return nil
}

func (a *aggregate) reset() {
	if a.state != nil {
		a.state.cold.close()
		a.state = nil
	}
	a.over.reset()
	for _, c := range a.calls {
		c.reset()
	}
	if a.panes != nil {
		a.panes.reset()
	}
}

func (a *aggregate) close() {
	if a.state != nil {
		a.state.cold.close()
		a.state.values.close()
	}
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

func (a *aggregate) take(x *dealt) error {
	rows := x.rows
	if a.state != nil {
		rows = a.state.onTime(x.vecs, rows)
	}
	if len(rows) == 0 {
		return nil
	}
	if a.state != nil {
		return a.state.fold(x.b.Len, x.vecs, rows)
	}
	return a.fold(x.b.Len, x.vecs, rows)
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
	if a.state != nil {
		a.state.saveFirst(a.groups)
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
		if c.st.Full() {
			return fmt.Errorf("%s: the values that %s keeps of its groups are too many for one lane: at most 1.75 GiB of text, or as many values, fit; use more lanes, or group by more", a.mem.name, c.call.Attr.Name)
		}
	}
	return nil
}

func (a *aggregate) bytes() int64 {
	n := a.table.bytes()
	for _, c := range a.calls {
		n += c.st.Bytes()
		if c.distinct != nil {
			n += c.distinct.bytes()
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
	if a.state != nil && a.state.bounded {
		return a.endPanes()
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
	return a.emit(identity(a.table.groups))
}

// emit pushes the rows of the groups, in order.
func (a *aggregate) emit(groups []int32) error {
	for len(groups) > 0 && !a.above.full() {
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
