package operator

import (
	"slices"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// aggCall is one aggregate of an operator: where its inputs stand in the
// program's results and its states by group.
type aggCall struct {
	p      *Plan
	call   *logical.AggCall
	fn     *funcs.BoundAggregate
	filter int // place of FILTER in the results, -1 for none
	args   int // place of the first argument
	order  int // place of the first WITHIN GROUP key
	st     *funcs.States
	ctx    funcs.Ctx

	distinct *distinctSet
	ordered  *orderedInput
	flat     []*column.Vector // scratch: arguments without dictionaries
	rows     []int32
	groups   []int32
}

// aggInputs lists what the calls need evaluated, after the keys in exprs, and
// prepares the calls.
func aggInputs(bd *builder, calls []logical.AggCall, exprs []logical.Expr) ([]*aggCall, []logical.Expr) {
	out := make([]*aggCall, len(calls))
	for i := range calls {
		c := &calls[i]
		a := &aggCall{p: bd.p, call: c, fn: c.Fn, filter: -1, st: funcs.NewStates(c.Fn.State)}
		if c.Filter != nil {
			a.filter = len(exprs)
			exprs = append(exprs, c.Filter)
		}
		a.args = len(exprs)
		exprs = append(exprs, c.Args...)
		a.order = len(exprs)
		for _, k := range c.OrderBy {
			exprs = append(exprs, k.Expr)
		}
		if c.Distinct && (c.Fn.Fn == nil || !c.Fn.Fn.IgnoresDistinct) {
			a.distinct = newDistinctSet(c.Args)
		}
		if len(c.OrderBy) > 0 {
			a.ordered = newOrderedInput(bd.env.Pool, c)
		}
		a.ctx = funcs.Ctx{Pool: bd.env.Pool, Session: bd.env.Session}
		out[i] = a
	}
	return out, exprs
}

// update folds rows (of a batch of n rows) into groups, one a row.
func (a *aggCall) update(n int, vecs []*column.Vector, rows, groups []int32) error {
	if a.filter >= 0 {
		f := vecs[a.filter]
		a.rows, a.groups = a.rows[:0], a.groups[:0]
		for k, r := range rows {
			if f.Errs != nil {
				if err := f.Errs.At(f.Row(int(r))); err != nil {
					return rowError(err)
				}
			}
			if isTrue(f, int(r)) {
				a.rows, a.groups = append(a.rows, r), append(a.groups, groups[k])
			}
		}
		rows, groups = a.rows, a.groups
	}
	args := vecs[a.args : a.args+len(a.call.Args)]
	used := vecs[a.args : a.order+len(a.call.OrderBy)]
	for _, v := range used {
		if !v.Errs.Any() {
			continue
		}
		for _, r := range rows {
			if err := rowFailure(used, int(r)); err != nil {
				return rowError(err)
			}
		}
	}
	if a.distinct != nil {
		if a.distinct.over.frozen() {
			return a.distinct.spill(used, len(args), rows, groups)
		}
		if a.distinct.unseen != nil {
			var err error
			if rows, groups, err = a.distinct.unseen(args, rows, groups); err != nil {
				return err
			}
		}
		rows, groups = a.distinct.first(args, rows, groups)
	}
	a.take(n, used, rows, groups)
	return nil
}

// take folds rows, of arguments and order keys, or keeps them to be ordered.
func (a *aggCall) take(n int, used []*column.Vector, rows, groups []int32) {
	switch {
	case len(rows) == 0:
	case a.ordered != nil:
		a.ordered.add(used, rows, groups)
	default:
		a.fold(n, used[:len(a.call.Args)], rows, groups)
	}
}

// fold calls the kernel with flat arguments.
func (a *aggCall) fold(n int, args []*column.Vector, rows, groups []int32) {
	a.ctx.Rows, a.ctx.Now = n, a.p.step.Now
	a.flat = a.flat[:0]
	for _, v := range args {
		a.flat = append(a.flat, column.FlattenDict(a.p.env.Pool, v))
	}
	a.st.TouchFixed(groups)
	a.fn.Update(&a.ctx, a.st, groups, rows, a.flat)
	releaseAll(a.flat)
}

// reset forgets all groups.
func (a *aggCall) reset() {
	a.st = funcs.NewStates(a.fn.State)
	if a.distinct != nil {
		a.distinct.reset()
	}
	if a.ordered != nil {
		a.ordered.reset()
	}
}

// finish appends the results of groups to out.
func (a *aggCall) finish(groups []int32, out *column.Vector) {
	a.fn.Finish(&a.ctx, a.st, groups, out)
}

// distinctSet remembers which arguments each group has seen.
type distinctSet struct {
	table  *groupTable
	over   *tableSpill // nil where sets stay in memory
	keys   []*column.Vector
	group  *column.Vector
	out    []int32
	rows   []int32
	groups []int32
	chain  *chains     // entries by group, kept only when groups can be removed
	dirty  []madeEntry // since the last changelog, likewise
	isMade column.Bits // entries in dirty that still exist
	// unseen leaves out the rows whose arguments are not in memory but known; nil:
	// all are in memory.
	unseen func(args []*column.Vector, rows, groups []int32) ([]int32, []int32, error)
	kb     keyBatch // of unseen
}

func newDistinctSet(args []logical.Expr) *distinctSet {
	types := []schema.Type{schema.Of(schema.Int32)}
	for _, a := range args {
		types = append(types, a.Type())
	}
	return &distinctSet{table: newGroupTable(types), group: column.New(types[0])}
}

func (d *distinctSet) reset() {
	if d.chain != nil {
		*d.chain = chains{}
		d.dirty, d.isMade = nil, nil
	}
	if d.over != nil {
		d.over.reset()
		return
	}
	d.table.reset()
}

// bytes estimates the memory held.
func (d *distinctSet) bytes() int64 {
	n := d.table.bytes() + int64(8*(cap(d.dirty)+len(d.isMade)))
	if d.chain != nil {
		n += d.chain.bytes()
	}
	return n
}

// first keeps the rows whose arguments are new to their group.
func (d *distinctSet) first(args []*column.Vector, rows, groups []int32) ([]int32, []int32) {
	if len(rows) == 0 {
		return rows, groups
	}
	d.setGroups(rows, groups)
	d.keys = append(append(d.keys[:0], d.group), args...)
	d.out = grow(d.out, len(rows))
	d.table.assign(d.keys, rows, d.out)
	d.rows, d.groups = d.rows[:0], d.groups[:0]
	fresh := d.table.fresh
	for k, g := range d.out {
		if len(fresh) > 0 && g == fresh[0] {
			fresh = fresh[1:]
			d.rows, d.groups = append(d.rows, rows[k]), append(d.groups, groups[k])
			if d.chain != nil {
				d.chain.add(groups[k], g)
				d.dirty = append(d.dirty, madeEntry{groups[k], g})
				d.isMade = d.isMade.Grow(int(g) + 1)
				d.isMade.Set(int(g))
			}
		}
	}
	return d.rows, d.groups
}

// setGroups fills the column of groups.
func (d *distinctSet) setGroups(rows, groups []int32) {
	d.group.Resize(int(slices.Max(rows)) + 1)
	for k, r := range rows {
		d.group.I32[r] = groups[k]
	}
}

// orderedInput keeps the arguments of an aggregate with an order of its own
// until the group is finished.
type orderedInput struct {
	store  *rowStore
	keyed  sortedKeys
	orders []sortOrder
	nargs  int
	groups []int32
	into   []int32 // group -> what it was joined into, itself if it was not
}

func newOrderedInput(pool *column.Pool, c *logical.AggCall) *orderedInput {
	var cols []logical.Attr
	for _, a := range c.Args {
		cols = append(cols, logical.Attr{Type: a.Type()})
	}
	return &orderedInput{store: newRowStore(pool, cols), orders: ordersOf(c.OrderBy), nargs: len(c.Args)}
}

func (o *orderedInput) add(vecs []*column.Vector, rows, groups []int32) {
	o.store.add(vecs[:o.nargs], rows)
	o.keyed.add(vecs[o.nargs:], o.orders, rows)
	o.groups = append(o.groups, groups...)
}

// join makes the rows of group b those of a.
func (o *orderedInput) join(a, b int32) {
	for g := int32(len(o.into)); g <= max(a, b); g++ {
		o.into = append(o.into, g)
	}
	o.into[b] = a
}

// groupOf is the group that row has now.
func (o *orderedInput) groupOf(row int32) int32 {
	g := o.groups[row]
	for int(g) < len(o.into) && o.into[g] != g {
		o.into[g] = o.into[o.into[g]]
		g = o.into[g]
	}
	return g
}

// feed folds the rows in their order and forgets them.
func (o *orderedInput) feed(a *aggCall) {
	o.keyed.sort()
	ids, groups := make([]int32, 0, column.BatchRows), make([]int32, 0, column.BatchRows)
	all := identity(column.BatchRows)
	for rest := o.keyed.entries; len(rest) > 0; {
		n := min(len(rest), column.BatchRows)
		ids, groups = ids[:0], groups[:0]
		for _, e := range rest[:n] {
			ids, groups = append(ids, e.row), append(groups, o.groupOf(e.row))
		}
		b := o.store.batch(ids)
		a.fold(n, b.Cols, all[:n], groups)
		b.Release()
		rest = rest[n:]
	}
	o.reset()
}

func (o *orderedInput) reset() {
	o.store.reset()
	o.keyed.reset()
	o.groups, o.into = o.groups[:0], o.into[:0]
}

// madeEntry is an entry that was made since the last changelog.
type madeEntry struct{ group, entry int32 }

// made calls f for the entries made since the last call that still exist.
func (d *distinctSet) made(f func(group, entry int32)) {
	for _, m := range d.dirty {
		if d.isMade.Get(int(m.entry)) {
			d.isMade.Unset(int(m.entry))
			f(m.group, m.entry)
		}
	}
	d.dirty = d.dirty[:0]
}

// removeEntry forgets an entry; its chain is the caller's.
func (d *distinctSet) removeEntry(entry int32) {
	if int(entry)>>6 < len(d.isMade) {
		d.isMade.Unset(int(entry))
	}
	d.table.remove(entry)
}
