package rewrite

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// worthOrder is what part of the guessed cost another order must come down to:
// guesses are rough.
const worthOrder = 0.7

// joinOrder orders inner joins of three and more inputs by the guessed sizes
// of what they give: the two whose join is the smallest first, the smaller side
// kept. A condition that can fail is checked after all others, so that it sees
// no row that it did not see before; a key that can fail keeps the order.
func joinOrder(c *Context, n logical.Node) logical.Node {
	if c.facts.Bytes == nil {
		return n
	}
	return c.ordered(n, map[logical.Node]logical.Node{})
}

// ordered orders the joins in n; done are those of before.
func (c *Context) ordered(n logical.Node, done map[logical.Node]logical.Node) logical.Node {
	if out := done[n]; out != nil {
		return out
	}
	out := logical.Node(nil)
	if j, ok := n.(*logical.Join); ok && movable(j) {
		g := &joinGraph{c: c}
		g.flatten(j)
		for i := range g.parts {
			g.parts[i].node = c.ordered(g.parts[i].node, done)
		}
		out = g.order(j)
	}
	if out == nil {
		out = logical.MapInputs(n, func(in logical.Node) logical.Node { return c.ordered(in, done) })
	}
	done[n] = out
	return out
}

// movable reports an inner join of batches.
func movable(j *logical.Join) bool {
	return (j.Type == logical.InnerJoin || j.Type == logical.CrossJoin) && !j.Lateral && !j.NullAware && j.State == nil && !j.Streaming()
}

// joinGraph is a tree of inner joins taken apart.
type joinGraph struct {
	c     *Context
	parts []joinPart
	conds []logical.Expr // of the joins, those of lower ones first
	bad   bool
	// domain is, for a column that equalities tie to others, the size of the
	// smallest input with such a column: it has no more values than that has
	// rows.
	domain map[logical.ColumnID]float64
}

// joinPart is an input, or a join of some.
type joinPart struct {
	node logical.Node
	ids  idSet
	size float64
	// kept is the part of its rows that filters leave, by guess.
	kept float64
}

func (g *joinGraph) flatten(n logical.Node) {
	j, ok := n.(*logical.Join)
	if !ok || !movable(j) {
		g.parts = append(g.parts, g.part(n))
		return
	}
	g.flatten(j.Left)
	g.flatten(j.Right)
	marked := logical.MayFail(j.Left)
	for id := range logical.MayFail(j.Right) {
		marked[id] = true
	}
	for i := range j.LeftKeys {
		op := "="
		if j.NullSafe[i] {
			op = "<=>"
		}
		if logical.Fails(j.LeftKeys[i], marked) || logical.Fails(j.RightKeys[i], marked) {
			g.bad = true
			return
		}
		g.conds = append(g.conds, g.c.call(op, j.LeftKeys[i], j.RightKeys[i]))
	}
	for _, e := range logical.Conjuncts(j.Cond) {
		g.bad = g.bad || logical.Volatility(e) == funcs.Volatile
		g.conds = append(g.conds, e)
	}
}

func (g *joinGraph) part(n logical.Node) joinPart {
	bytes := logical.GuessBytes(n, g.c.facts.Bytes)
	g.bad = g.bad || bytes < 0
	return joinPart{node: n, ids: setOf(n.Output()), size: float64(bytes), kept: keptBy(n)}
}

// keptBy guesses what part of a relation's rows a part gives.
func keptBy(n logical.Node) float64 {
	switch m := n.(type) {
	case *logical.Filter:
		return keptBy(m.Input) / 2
	case *logical.Project:
		return keptBy(m.Input)
	}
	return 1
}

// order joins the parts anew; nil when that does not pay.
func (g *joinGraph) order(j *logical.Join) logical.Node {
	if g.bad || len(g.parts) < 3 {
		return nil
	}
	var conds, last []logical.Expr
	marked := idSet{}
	for _, p := range g.parts {
		for id := range logical.MayFail(p.node) {
			marked[id] = true
		}
	}
	for _, e := range g.conds {
		if logical.Fails(e, marked) {
			last = append(last, e)
		} else {
			conds = append(conds, e)
		}
	}
	g.domains(conds)
	parts, cost := append([]joinPart(nil), g.parts...), 0.0
	for len(parts) > 1 {
		a, b := g.cheapestPair(parts, conds)
		if a < 0 {
			return nil // something is not connected
		}
		var joined joinPart
		joined, conds = g.join(parts[a], parts[b], conds)
		cost += joined.size + min(parts[a].size, parts[b].size)
		parts[a] = joined
		parts = append(parts[:b], parts[b+1:]...)
	}
	if cost > worthOrder*g.cost(j) {
		return nil
	}
	return passing(filtered(parts[0].node, append(conds, last...)), j.Output())
}

// cheapestPair finds the two parts, the one before the other, that an equality
// connects and whose join is the smallest; -1 for none.
func (g *joinGraph) cheapestPair(parts []joinPart, conds []logical.Expr) (a, b int) {
	a, b = -1, -1
	best, bestBuild := 0.0, 0.0
	for i := range parts {
		for k := i + 1; k < len(parts); k++ {
			fan := g.fan(parts[i], parts[k], conds)
			if fan < 0 {
				continue
			}
			size, build := joinedSize(parts[i], parts[k])*fan, min(parts[i].size, parts[k].size)
			if a < 0 || size < best || size == best && build < bestBuild {
				a, b, best, bestBuild = i, k, size, build
			}
		}
	}
	return a, b
}

// sides gives the columns of an equality; ok is false for other conditions.
func sides(e logical.Expr) (x, y idSet, ok bool) {
	call, isCall := e.(*logical.Call)
	if !isCall || len(call.Args) != 2 || call.Fn.Fn == nil || call.Fn.Fn.Name != "=" && call.Fn.Fn.Name != "<=>" {
		return nil, nil, false
	}
	x, y = columnsOf(call.Args[0]), columnsOf(call.Args[1])
	return x, y, len(x) > 0 && len(y) > 0
}

// domains finds which columns equalities tie together, directly or not.
func (g *joinGraph) domains(conds []logical.Expr) {
	g.domain = map[logical.ColumnID]float64{}
	for _, p := range g.parts {
		for id := range p.ids {
			g.domain[id] = p.size / p.kept
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range conds {
			x, y, ok := sides(e)
			if !ok || len(x) != 1 || len(y) != 1 {
				continue
			}
			for a := range x {
				for b := range y {
					if d := min(g.domain[a], g.domain[b]); d < g.domain[a] || d < g.domain[b] {
						g.domain[a], g.domain[b], changed = d, d, true
					}
				}
			}
		}
	}
}

// fan guesses how many rows of the smaller side have the same key: below zero
// when no equality connects the sides. With several equalities the best counts.
func (g *joinGraph) fan(a, b joinPart, conds []logical.Expr) float64 {
	small, best := min(a.size/a.kept, b.size/b.kept), -1.0
	for _, e := range conds {
		x, y, ok := sides(e)
		if !ok || !(x.within(a.ids) && y.within(b.ids) || x.within(b.ids) && y.within(a.ids)) {
			continue
		}
		fan := 1.0
		for id := range x {
			if len(x) == 1 && len(y) == 1 {
				fan = max(1, small/max(1, g.domain[id]))
			}
		}
		if best < 0 || fan < best {
			best = fan
		}
	}
	return best
}

// joinedSize guesses a join over a key of the smaller side: what its filters
// leave of the larger one.
func joinedSize(a, b joinPart) float64 {
	if a.size < b.size {
		a, b = b, a
	}
	return a.size * b.kept
}

// join joins two parts, the smaller one as the side that is kept, and returns
// the conditions that are left.
func (g *joinGraph) join(a, b joinPart, conds []logical.Expr) (joinPart, []logical.Expr) {
	fan := max(1, g.fan(a, b, conds))
	if a.size < b.size {
		a, b = b, a
	}
	out := joinPart{ids: a.ids.copy(), size: joinedSize(a, b) * fan, kept: a.kept * b.kept}
	for id := range b.ids {
		out.ids[id] = true
	}
	var own, left []logical.Expr
	for _, e := range conds {
		if ids := columnsOf(e); len(ids) > 0 && ids.within(out.ids) {
			own = append(own, e)
		} else {
			left = append(left, e)
		}
	}
	out.node = logical.SplitJoin(&logical.Join{Left: a.node, Right: b.node, Type: logical.InnerJoin, Cond: logical.Conjunction(own)})
	return out, left
}

// cost guesses the tree as it stands, by the same measure.
func (g *joinGraph) cost(n logical.Node) float64 {
	_, cost := g.costOf(n)
	return cost
}

func (g *joinGraph) costOf(n logical.Node) (joinPart, float64) {
	j, ok := n.(*logical.Join)
	if !ok || !movable(j) {
		return g.part(n), 0
	}
	l, lc := g.costOf(j.Left)
	r, rc := g.costOf(j.Right)
	size := joinedSize(l, r)
	if len(j.LeftKeys) == 0 {
		size = l.size * max(r.size, 1)
	}
	var keys []logical.Expr
	for i := range j.LeftKeys {
		keys = append(keys, g.c.call("=", j.LeftKeys[i], j.RightKeys[i]))
	}
	size *= max(1, g.fan(l, r, keys))
	return joinPart{ids: setOf(j.Output()), size: size, kept: l.kept * r.kept}, lc + rc + size + min(l.size, r.size)
}
