package operator

import (
	"cmp"
	"slices"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// panes makes an aggregate over sliding windows with many windows a row keep
// its states by pane (one slide of time) and merge those that a window covers
// when it comes out, so that a row costs one update whatever the size.
//
// Windows come out in order of time. acc holds, by key, the merged states of
// the panes of the window before: a window that only gains panes merges those
// alone; one that loses a pane with rows starts anew.
type panes struct {
	a           *aggregate
	at          int // place of the window among the groups
	size, slide int64

	keys    *groupTable // the other keys
	refs    []int32     // panes with the key
	kid     []int32     // group -> key
	start   []int64     // group -> start of its pane
	place   []int32     // group -> its place in the pane
	live    []*pane     // in order of start after tidy
	byStart map[int64]*pane
	mixed   bool // live is out of order, or has panes without groups
	acc     []*funcs.States
	seen    []int32 // keys in acc, in order of merging
	inAcc   column.Bits
	lo      int64 // acc covers panes that start in [lo, hi)
	hi      int64
	cols    []*column.Vector // scratch
	codec   *rowCodec        // of route
	one     *rowCodec        // of enterGroup
	kb      keyBatch         // of route
	out     []int32
	phase   int64 // start of some pane: all are a multiple of slide apart
}

// pane is the groups of one slide.
type pane struct {
	start  int64
	groups []int32
}

// minPanes is the number of windows a row from which panes are used. (Below, state
// is counted in windows, as Spark does.)
const minPanes = 5

// panesOf recognises an aggregate over sliding windows that may run by panes
// and returns it over panes instead, with the place of the window.
func panesOf(n *logical.Aggregate) (*logical.Aggregate, *logical.TimeWindow, int) {
	tw, at := slidingBelow(n)
	if tw == nil {
		return nil, nil, 0
	}
	for i, g := range n.Groups {
		if i != at && reads(g.Expr, tw.Column.ID) {
			return nil, nil, 0
		}
	}
	for _, c := range n.Aggs {
		if c.Distinct || len(c.OrderBy) > 0 || c.Fn.Merge == nil || reads(c.Filter, tw.Column.ID) {
			return nil, nil, 0
		}
		for _, e := range c.Args {
			if reads(e, tw.Column.ID) {
				return nil, nil, 0
			}
		}
	}
	small := *tw
	small.Size = small.Slide
	m := *n
	if p, ok := n.Input.(*logical.Project); ok {
		m.Input = p.WithInputs([]logical.Node{&small})
	} else {
		m.Input = &small
	}
	return &m, tw, at
}

// slidingBelow finds the sliding window that one group of n is.
func slidingBelow(n *logical.Aggregate) (*logical.TimeWindow, int) {
	if s := n.State; s != nil && n.Input.Streaming() && (s.Mode != logical.Append || s.TTL > 0 || !s.IsWindow) {
		return nil, 0
	}
	in := n.Input
	if p, ok := in.(*logical.Project); ok {
		in = p.Input
		for _, e := range p.Exprs {
			if c, ok := e.Expr.(*logical.Column); !ok || c.Attr.ID != e.Attr.ID {
				if tw, ok := in.(*logical.TimeWindow); !ok || reads(e.Expr, tw.Column.ID) {
					return nil, 0
				}
			}
		}
	}
	tw, ok := in.(*logical.TimeWindow)
	if !ok || tw.Size%tw.Slide != 0 || tw.Size/tw.Slide < minPanes {
		return nil, 0
	}
	for i, g := range n.Groups {
		if isColumn(g.Expr, tw.Column.ID) {
			return tw, i
		}
	}
	return nil, 0
}

func reads(e logical.Expr, id logical.ColumnID) bool {
	ids := map[logical.ColumnID]bool{}
	logical.Columns(e, ids)
	return ids[id]
}

func newPanes(a *aggregate, tw *logical.TimeWindow, at int) *panes {
	p := &panes{a: a, at: at, size: tw.Size, slide: tw.Slide}
	var keys []logical.Attr
	keys = append(append(keys, a.cols[:at]...), a.cols[at+1:a.nkeys]...)
	p.keys = newGroupTable(typesOf(keys))
	p.reset()
	return p
}

func (p *panes) reset() {
	p.keys.reset()
	p.refs, p.live, p.byStart, p.mixed = p.refs[:0], nil, map[int64]*pane{}, false
	p.acc = p.acc[:0]
	for _, c := range p.a.calls {
		p.acc = append(p.acc, funcs.NewStates(c.fn.State))
	}
	p.seen, p.inAcc = p.seen[:0], nil
}

// lag is how long a pane stays after its own end.
func (p *panes) lag() int64 { return p.size - p.slide }

// note takes the groups that are new: rows[k] is a row of group groups[k].
func (p *panes) note(vecs []*column.Vector, rows, groups []int32, fresh []int32) {
	if len(fresh) == 0 {
		return
	}
	var at []int32
	for k, g := range groups {
		if len(fresh) > 0 && g == fresh[0] {
			fresh = fresh[1:]
			at = append(at, rows[k])
			p.out = append(p.out[:len(at)-1], g)
		}
	}
	p.enter(vecs, at, p.out)
}

// enter files groups under their pane and key.
func (p *panes) enter(vecs []*column.Vector, rows, groups []int32) {
	p.cols = append(append(p.cols[:0], vecs[:p.at]...), vecs[p.at+1:p.a.nkeys]...)
	kids := make([]int32, len(rows))
	p.keys.assign(p.cols, rows, kids)
	for len(p.refs) < p.keys.groups {
		p.refs = append(p.refs, 0)
	}
	start, _, place := sessionTimes(vecs[p.at])
	for k, g := range groups {
		p.phase = start[place(int(rows[k]))]
		for len(p.kid) <= int(g) {
			p.kid, p.start, p.place = append(p.kid, 0), append(p.start, 0), append(p.place, 0)
		}
		p.kid[g] = kids[k]
		p.refs[kids[k]]++
		p.start[g] = start[place(int(rows[k]))]
		x := p.pane(p.start[g])
		p.place[g] = int32(len(x.groups))
		x.groups = append(x.groups, g)
	}
}

// pane finds or makes the pane that starts at s.
func (p *panes) pane(s int64) *pane {
	x := p.byStart[s]
	if x == nil {
		x = &pane{start: s}
		p.byStart[s] = x
		p.mixed = p.mixed || len(p.live) > 0 && p.live[len(p.live)-1].start >= s
		p.live = append(p.live, x)
	}
	return x
}

// tidy puts the panes in order and drops those without groups.
func (p *panes) tidy() {
	if !p.mixed {
		return
	}
	p.mixed = false
	p.live = slices.DeleteFunc(p.live, func(x *pane) bool { return len(x.groups) == 0 })
	slices.SortFunc(p.live, func(a, b *pane) int { return cmp.Compare(a.start, b.start) })
}

// forget drops a group that is going, with its pane and key when they are empty.
func (p *panes) forget(g int32) {
	x := p.byStart[p.start[g]]
	last := x.groups[len(x.groups)-1]
	x.groups[p.place[g]], p.place[last] = last, p.place[g]
	x.groups = x.groups[:len(x.groups)-1]
	if len(x.groups) == 0 {
		delete(p.byStart, x.start)
		p.mixed = true
	}
	k := p.kid[g]
	if p.refs[k]--; p.refs[k] == 0 {
		p.keys.remove(k)
	}
}

// emit pushes the windows that end in (after, upTo].
func (p *panes) emit(after, upTo int64) error {
	p.tidy()
	if len(p.live) == 0 {
		return nil
	}
	p.hi = p.lo // rows have changed what was merged
	first, last := p.live[0].start, p.live[len(p.live)-1].start
	end := first + p.slide // the first window with rows
	if after >= end {
		end += (after - end + p.slide) / p.slide * p.slide
	}
	for i := 0; end <= upTo && end <= last+p.size; end += p.slide {
		for i < len(p.live) && p.live[i].start < end-p.size {
			i++
		}
		if i < len(p.live) && p.live[i].start >= end { // a gap: no pane in this window
			end = p.live[i].start // + slide by the loop
			continue
		}
		p.cover(end-p.size, end, i)
		if err := p.push(end); err != nil {
			return err
		}
	}
	return nil
}

// cover makes acc hold the panes that start in [lo, hi); i is the first one.
func (p *panes) cover(lo, hi int64, i int) {
	anew := p.hi == p.lo || p.lo > lo || p.hi > hi
	for k := i - 1; k >= 0 && !anew && p.live[k].start >= p.lo; k-- {
		anew = true // the window loses a pane that has rows
	}
	if anew {
		for c := range p.acc {
			for _, k := range p.seen {
				p.acc[c].Clear(k)
			}
		}
		for _, k := range p.seen {
			p.inAcc.Unset(int(k))
		}
		p.seen = p.seen[:0]
		p.hi = lo
	}
	for ; i < len(p.live) && p.live[i].start < hi; i++ {
		if p.live[i].start >= p.hi {
			p.merge(p.live[i].groups)
		}
	}
	p.lo, p.hi = lo, hi
}

func (p *panes) merge(groups []int32) {
	kids := make([]int32, len(groups))
	p.inAcc = p.inAcc.Grow(p.keys.groups)
	for i, g := range groups {
		k := p.kid[g]
		kids[i] = k
		if !p.inAcc.Get(int(k)) {
			p.inAcc.Set(int(k))
			p.seen = append(p.seen, k)
		}
	}
	for c, call := range p.a.calls {
		p.acc[c].Grow(p.keys.groups)
		call.fn.Merge(&call.ctx, p.acc[c], kids, groups, call.st)
	}
}

// push emits the window that ends at end from acc.
func (p *panes) push(end int64) error {
	for kids := p.seen; len(kids) > 0; {
		n := min(len(kids), column.BatchRows)
		b := newBatch(p.a.p.env.Pool, p.a.cols)
		win := b.Cols[p.at]
		for range n {
			win.Children[0].I64 = append(win.Children[0].I64, end-p.size)
			win.Children[1].I64 = append(win.Children[1].I64, end)
		}
		win.Len, win.Children[0].Len, win.Children[1].Len = n, n, n
		p.cols = append(append(p.cols[:0], b.Cols[:p.at]...), b.Cols[p.at+1:p.a.nkeys]...)
		p.keys.appendKeys(kids[:n], p.cols)
		for i, c := range p.a.calls {
			c.fn.Finish(&c.ctx, p.acc[i], kids[:n], b.Cols[p.a.nkeys+i])
		}
		b.Len = n
		if err := pushFresh(p.a.out, 0, b); err != nil {
			return err
		}
		kids = kids[n:]
	}
	return nil
}

// due says whether a window ends in (after, upTo].
func (p *panes) due(after, upTo int64) bool {
	return floor(upTo-p.phase, p.slide) > floor(after-p.phase, p.slide)
}

// floor is the greatest multiple of n up to x, in units of n.
func floor(x, n int64) int64 {
	if x < 0 {
		return -((n - 1 - x) / n)
	}
	return x / n
}

// away forgets all panes, which have left memory.
func (p *panes) away() {
	*p = panes{a: p.a, at: p.at, size: p.size, slide: p.slide, phase: p.phase, keys: newGroupTable(p.keys.layout.types)}
	p.reset()
}

// bytes estimates the memory held.
func (p *panes) bytes() int64 {
	n := p.keys.bytes() + int64(4*(cap(p.refs)+cap(p.kid)+2*cap(p.place)+cap(p.seen))+8*cap(p.start)+8*cap(p.live)+96*len(p.byStart))
	for _, st := range p.acc {
		n += st.Bytes()
	}
	return n
}

// enterGroup files one group.
func (p *panes) enterGroup(g int32) {
	if p.one == nil {
		p.one = newRowCodec(typesOf(p.a.cols[:p.a.nkeys]))
	}
	p.one.clear()
	p.a.table.appendKeys([]int32{g}, p.one.cols)
	p.enter(p.one.cols, []int32{0}, []int32{g})
}

// route is the key group of the other keys in the stored key of a group.
func (p *panes) route(key []byte) (uint8, bool) {
	t := p.a.table
	if len(key) < 2 || key[1] != 0 {
		return 0, false
	}
	if _, ok := t.loadKey(key[2:]); !ok {
		return 0, false
	}
	if p.codec == nil {
		p.codec = newRowCodec(typesOf(p.a.cols[:p.a.nkeys]))
	}
	p.codec.clear()
	if s := t.layout.stride; s > 0 {
		t.layout.unload(t.kw[:s], p.codec.cols)
	} else if decodeRow(t.kb, p.codec.cols) != nil {
		return 0, false
	}
	p.cols = append(append(p.cols[:0], p.codec.cols[:p.at]...), p.codec.cols[p.at+1:]...)
	return keyGroup(p.keys.hashKeys(&p.kb, p.cols, []int32{0})[0]), true
}

// restore files all living groups of the aggregate.
func (p *panes) restore(alive func(g int32) bool) {
	for g := range int32(p.a.table.groups) {
		if alive(g) {
			p.enterGroup(g)
		}
	}
}
