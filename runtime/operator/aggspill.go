package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// The two inputs of an aggregate's partitions: groups with their states, which
// come first, and rows that were not folded yet.
const (
	sideStates = iota
	sideRows
)

// spillColumns lists the columns of both: keys and states, and all inputs.
func (a *aggregate) spillColumns(exprs []logical.Expr) [2][]logical.Attr {
	var cols [2][]logical.Attr
	for i, e := range exprs {
		c := logical.Attr{Type: e.Type()}
		if i < a.nkeys {
			cols[sideStates] = append(cols[sideStates], c)
		}
		cols[sideRows] = append(cols[sideRows], c)
	}
	for _, c := range a.calls {
		for _, s := range c.fn.State {
			cols[sideStates] = append(cols[sideStates], logical.Attr{Name: s.Name, Type: s.StoredType()})
		}
	}
	return cols
}

// check asks now and then for the memory that the groups take. When it is
// refused the table is frozen; when the states of frozen groups still grow, the
// groups are spilled too.
func (a *aggregate) check() error {
	a.seen++
	if a.seen%8 != 0 {
		return nil
	}
	total := a.bytes()
	if a.nkeys == 0 || a.state != nil || a.panes != nil {
		return a.mem.must(total)
	}
	spill, err := a.mem.mayExceed(total)
	if err != nil || !spill {
		return err
	}
	if !a.over.frozen() {
		a.size = total
		return a.over.freeze()
	}
	if total <= a.size+a.size/4 {
		return nil
	}
	if !a.canEvict() {
		return a.mem.must(total)
	}
	return a.evict()
}

// canEvict reports whether the groups can be spilled: what a group has seen, or
// waits to be ordered, cannot; and a group that is large alone stays large.
func (a *aggregate) canEvict() bool {
	for _, c := range a.calls {
		if c.distinct != nil || c.ordered != nil {
			return false
		}
	}
	return a.over.level < spillDepth
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

// evict spills all groups with their states.
func (a *aggregate) evict() error {
	groups := identity(a.table.groups, nil)
	var kb keyBatch
	all := identity(column.BatchRows/4, nil)
	for len(groups) > 0 {
		n := min(len(groups), len(all))
		b := newBatch(a.p.env.Pool, a.over.cols[sideStates])
		a.table.appendKeys(groups[:n], b.Cols[:a.nkeys])
		at := a.nkeys
		for _, c := range a.calls {
			k := len(c.fn.State)
			for _, g := range groups[:n] {
				c.st.Append(g, b.Cols[at:at+k])
			}
			at += k
		}
		b.Len = n
		hashes := a.table.hashKeys(&kb, b.Cols[:a.nkeys], all[:n])
		err := a.over.now.sides[sideStates].add(b.Cols, all[:n], hashes)
		b.Release()
		if err != nil {
			return err
		}
		groups = groups[n:]
	}
	a.table.discardAll()
	a.resetCalls()
	a.mem.free()
	a.size = 0
	return nil
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
		err := rows.read(&rows.parts[i], func(b *column.Batch) error {
			return a.fold(b.Len, b.Cols, rowsOf(b, nil))
		})
		if err != nil {
			return err
		}
		for _, c := range a.calls {
			if c.ordered != nil {
				c.ordered.feed(c)
			}
		}
		return a.emitAll()
	}, a.drain)
}

// load takes spilled groups.
func (a *aggregate) load(b *column.Batch) error {
	all := rowsOf(b, nil)
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
