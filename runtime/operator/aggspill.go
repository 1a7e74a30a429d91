package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// The inputs of an aggregate's partitions: groups with their states, which come
// first, then what the sets and the ordered inputs of calls hold, then rows that
// were not folded yet. Each has the keys in its first columns.
const (
	sideStates = iota
	sideRows
	sideExtra // the first of those of calls
)

// spillExtra is what a call holds beside its states.
type spillExtra struct {
	call    *aggCall
	ordered bool // else the set
}

// spillColumns lists the columns of all sides.
func (a *aggregate) spillColumns(exprs []logical.Expr) [][]logical.Attr {
	cols := make([][]logical.Attr, sideExtra)
	for _, e := range exprs {
		cols[sideRows] = append(cols[sideRows], logical.Attr{Type: e.Type()})
	}
	keys := cols[sideRows][:a.nkeys:a.nkeys]
	cols[sideStates] = keys
	for _, c := range a.calls {
		for _, s := range c.fn.State {
			cols[sideStates] = append(cols[sideStates], logical.Attr{Name: s.Name, Type: s.StoredType()})
		}
		args := keys
		for _, e := range c.call.Args {
			args = append(args, logical.Attr{Type: e.Type()})
		}
		if c.distinct != nil {
			a.extra = append(a.extra, spillExtra{call: c})
			cols = append(cols, args)
		}
		if c.ordered != nil {
			a.extra = append(a.extra, spillExtra{call: c, ordered: true})
			cols = append(cols, append(args[:len(args):len(args)], logical.Attr{Type: schema.Of(schema.Binary)}))
		}
	}
	return cols
}

// check asks now and then for the memory that the groups take. When it is
// refused the table is frozen; when the states of frozen groups still grow, the
// groups are spilled too.
func (a *aggregate) check() error {
	a.seen++
	if a.seen%8 != 0 && !a.p.env.Budget.Tight() {
		return nil
	}
	if a.state != nil {
		return a.state.check()
	}
	if a.panes != nil {
		return a.checkPanes()
	}
	total := a.bytes()
	spill, err := a.mem.mayExceed(total)
	if err != nil || !spill {
		return err
	}
	switch {
	case a.nkeys > 0 && !a.over.frozen():
		a.size = total
		return a.over.freeze()
	case total <= a.size+a.size/4:
		return nil
	case a.canEvict():
		return a.evict()
	}
	a.size = total
	frozen, err := a.freezeSets()
	if err != nil || frozen {
		return err
	}
	return a.mem.must(total)
}

// freezeSets ends the growth of sets and reports whether there was one.
func (a *aggregate) freezeSets() (bool, error) {
	done := false
	for _, c := range a.calls {
		if c.distinct == nil || c.distinct.over.frozen() {
			continue
		}
		if err := c.distinct.over.freeze(); err != nil {
			return false, err
		}
		done = true
	}
	return done, nil
}

// spillSets lets the sets of a's calls spill: the group, the arguments, the
// order keys.
func (bd *builder) spillSets(a *aggregate, exprs []logical.Expr) {
	for _, c := range a.calls {
		if c.distinct == nil {
			continue
		}
		cols := []logical.Attr{{Type: schema.Of(schema.Int32)}}
		for _, e := range exprs[c.args : c.order+len(c.call.OrderBy)] {
			cols = append(cols, logical.Attr{Type: e.Type()})
		}
		c.distinct.over = newTableSpill(bd.memory("aggregate"), c.distinct.table, nil)
		c.distinct.over.cols = [][]logical.Attr{cols}
	}
}

// spill puts by the rows that are not in a frozen set; used are the arguments
// and the order keys.
func (d *distinctSet) spill(used []*column.Vector, nargs int, rows, groups []int32) error {
	if len(rows) == 0 {
		return nil
	}
	d.setGroups(rows, groups)
	cols := append([]*column.Vector{d.group}, used...)
	return d.over.split(d.over.now.sides[0], cols[:1+nargs], cols, rows)
}

// feed folds what was put by: the rows of sets, then what waits to be ordered.
func (a *aggregate) feed() error {
	for _, c := range a.calls {
		if c.distinct != nil && c.distinct.over.frozen() {
			if err := c.drain(c.distinct.over.take()); err != nil {
				return err
			}
		}
		if c.ordered != nil {
			c.ordered.feed(c)
		}
	}
	return nil
}

// drain folds the first of equal rows of a set that was spilled.
func (a *aggCall) drain(s *spilledTable) error {
	d, nargs := a.distinct, len(a.call.Args)
	return d.over.eachPart(s, func(i int) error {
		return s.sides[0].read(&s.sides[0].parts[i], func(b *column.Batch) error {
			rows, used := rowsOf(b), b.Cols[1:]
			if d.over.frozen() {
				return d.over.split(d.over.now.sides[0], b.Cols[:1+nargs], b.Cols, rows)
			}
			first, groups := d.first(used[:nargs], rows, b.Cols[0].I32[:b.Len])
			a.take(b.Len, used, first, groups)
			return d.over.check(0)
		})
	}, a.drain)
}

// canEvict reports whether spilling the groups helps: a group that is large
// alone stays large.
func (a *aggregate) canEvict() bool {
	for _, c := range a.calls {
		if c.distinct != nil && c.distinct.over.frozen() {
			return false
		}
	}
	return a.table.live() > 1 && a.over.level < spillDepth
}

// foldFrozen folds the rows whose groups are in memory and spills the others.
func (a *aggregate) foldFrozen(n int, vecs []*column.Vector, rows []int32) error {
	if err := a.over.split(a.over.now.sides[sideRows], vecs[:a.nkeys], vecs, rows); err != nil {
		return err
	}
	if len(a.over.known) == 0 {
		return nil
	}
	if err := a.update(n, vecs, a.over.known, a.over.groups); err != nil {
		return err
	}
	return a.check()
}

// evict spills all groups with all that they hold.
func (a *aggregate) evict() error {
	states := func(groups []int32, b *column.Batch) {
		at := a.nkeys
		for _, c := range a.calls {
			k := len(c.fn.State)
			for _, g := range groups {
				c.st.Append(g, b.Cols[at:at+k])
			}
			at += k
		}
	}
	if err := a.evictSide(sideStates, identity(a.table.groups), states); err != nil {
		return err
	}
	for i, x := range a.extra {
		held := func() ([]int32, func([]int32, *column.Batch)) { return x.call.distinct.held(a.nkeys) }
		if x.ordered {
			held = func() ([]int32, func([]int32, *column.Batch)) { return x.call.ordered.held(a.nkeys) }
		}
		groups, fill := held()
		if err := a.evictSide(sideExtra+i, groups, fill); err != nil {
			return err
		}
	}
	a.table.discardAll()
	a.resetCalls()
	a.mem.free()
	a.size = 0
	return nil
}

// evictSide spills one row for each entry of groups; fill appends the columns
// after the keys of the next entries.
func (a *aggregate) evictSide(side int, groups []int32, fill func(groups []int32, b *column.Batch)) error {
	var kb keyBatch
	all := identity(column.BatchRows / 4)
	for len(groups) > 0 {
		n := min(len(groups), len(all))
		b := newBatch(a.p.env.Pool, a.over.cols[side])
		a.table.appendKeys(groups[:n], b.Cols[:a.nkeys])
		fill(groups[:n], b)
		b.Len = n
		err := a.over.now.sides[side].add(b.Cols, all[:n], a.table.hashKeys(&kb, b.Cols[:a.nkeys], all[:n]))
		b.Release()
		if err != nil {
			return err
		}
		groups = groups[n:]
	}
	return nil
}

// held lists the group of each entry of the set and how to write the entries,
// in order.
func (d *distinctSet) held(nkeys int) ([]int32, func([]int32, *column.Batch)) {
	entries := identity(d.table.groups)
	cols := make([]*column.Vector, len(d.table.layout.types))
	for i, t := range d.table.layout.types {
		cols[i] = column.New(t)
	}
	d.table.appendKeys(entries, cols)
	return cols[0].I32, func(groups []int32, b *column.Batch) {
		d.table.appendKeys(entries[:len(groups)], append([]*column.Vector{column.New(cols[0].Type)}, b.Cols[nkeys:]...))
		entries = entries[len(groups):]
	}
}

// held is the same of an ordered input: arguments, then the sort key.
func (o *orderedInput) held(nkeys int) ([]int32, func([]int32, *column.Batch)) {
	at := int32(0)
	return o.groups, func(groups []int32, b *column.Batch) {
		ids := make([]int32, len(groups))
		key := b.Cols[len(b.Cols)-1]
		for i := range ids {
			ids[i] = at
			key.AppendStr(o.keyed.key(at))
			at++
		}
		o.store.gather(ids, b.Cols[nkeys:len(b.Cols)-1])
	}
}

// loadExtra takes what a call held.
func (a *aggregate) loadExtra(i int, b *column.Batch) error {
	x := a.extra[i]
	keys, args := b.Cols[:a.nkeys], b.Cols[a.nkeys:]
	rows := rowsOf(b)
	if a.over.frozen() {
		if err := a.over.split(a.over.now.sides[sideExtra+i], keys, b.Cols, rows); err != nil {
			return err
		}
		rows, a.groups = a.over.known, append(a.groups[:0], a.over.groups...)
	} else {
		a.groups = grow(a.groups, len(rows))
		a.table.find(&a.over.kb, keys, rows, a.groups)
	}
	if len(rows) == 0 {
		return nil
	}
	if !x.ordered {
		x.call.distinct.first(args, rows, a.groups)
		return a.check()
	}
	o := x.call.ordered
	o.store.add(args[:len(args)-1], rows)
	for _, r := range rows {
		from := len(o.keyed.arena)
		o.keyed.arena = append(o.keyed.arena, args[len(args)-1].Str(int(r))...)
		o.keyed.close(from)
	}
	o.groups = append(o.groups, a.groups...)
	return a.check()
}

func (a *aggregate) resetCalls() {
	for _, c := range a.calls {
		c.reset()
	}
}

// drain works through the partitions of a frozen table.
func (a *aggregate) drain(s *spilledTable) error {
	a.resetCalls()
	states, rows := s.sides[sideStates], s.sides[sideRows]
	return a.over.eachPart(s, func(i int) error {
		defer a.resetCalls()
		if err := states.read(&states.parts[i], a.load); err != nil {
			return err
		}
		for k := range a.extra {
			side := s.sides[sideExtra+k]
			if err := side.read(&side.parts[i], func(b *column.Batch) error { return a.loadExtra(k, b) }); err != nil {
				return err
			}
		}
		err := rows.read(&rows.parts[i], func(b *column.Batch) error {
			return a.fold(b.Len, b.Cols, rowsOf(b))
		})
		if err != nil {
			return err
		}
		if err := a.feed(); err != nil {
			return err
		}
		return a.emitAll()
	}, a.drain)
}

// load takes spilled groups.
func (a *aggregate) load(b *column.Batch) error {
	all := rowsOf(b)
	if a.over.frozen() {
		err := a.over.split(a.over.now.sides[sideStates], b.Cols[:a.nkeys], b.Cols, all)
		if err == nil && len(a.over.known) > 0 {
			panic("bug: operator: a group was spilled twice")
		}
		return err
	}
	a.groups = grow(a.groups, b.Len)
	a.table.assign(b.Cols[:a.nkeys], all, a.groups)
	at := a.nkeys
	for _, c := range a.calls {
		c.st.Grow(a.table.groups)
		k := len(c.fn.State)
		for i, g := range a.groups {
			c.st.Load(g, b.Cols[at:at+k], i)
		}
		at += k
	}
	return a.check()
}
