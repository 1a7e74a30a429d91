package operator

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// generate runs a generator for each row.
type generate struct {
	p     *Plan
	out   port
	n     *logical.Generate
	args  *program
	drop  bool
	lanes []generateLane
}

type generateLane struct {
	ctx  funcs.Ctx
	rows []int32
	src  []int32
	made []int32
	flat []*column.Vector
}

func (bd *builder) generate(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Generate)
	args, err := bd.program(n.Args, n.Input.Output())
	if err != nil {
		return nil, nil, err
	}
	return &generate{p: bd.p, out: out, n: n, args: args, drop: bd.drop, lanes: make([]generateLane, bd.env.Lanes)}, nil, nil
}

func (g *generate) end() error { return g.out.end() }

func (g *generate) push(lane int, b *column.Batch) error {
	vecs, err := g.args.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	l := &g.lanes[lane]
	good, err := g.p.usable(vecs, b, g.drop)
	if err != nil {
		return err
	}
	sel := b.Sel
	if good != nil {
		sel = good
	}
	pool := g.p.env.Pool
	l.flat = l.flat[:0]
	for _, v := range vecs {
		l.flat = append(l.flat, column.FlattenDict(pool, v))
	}
	defer func() { releaseAll(l.flat) }()
	l.ctx.Rows, l.ctx.Sel, l.ctx.Pool, l.ctx.Session = b.Len, sel, pool, g.p.env.Session
	l.ctx.Now, l.ctx.Partition = g.p.step.Now, lane
	made := make([]*column.Vector, len(g.n.Columns))
	for i, c := range g.n.Columns {
		made[i] = pool.Vector(c.Type)
	}
	l.rows = g.n.Fn.Generate(&l.ctx, l.flat, made, l.rows[:0])
	nb := pool.Batch()
	src := l.rows
	if g.n.Outer {
		src = g.outer(l, sel, b.Len, made)
	}
	for _, c := range b.Cols {
		v := pool.Vector(c.Type)
		column.AppendRows(v, c, src)
		nb.Cols = append(nb.Cols, v)
	}
	nb.Cols = append(nb.Cols, made...)
	nb.Len = len(src)
	return pushFresh(g.out, lane, nb)
}

// outer adds a row of nulls for each source row that generated none, in place.
func (g *generate) outer(l *generateLane, sel []int32, n int, made []*column.Vector) []int32 {
	l.src, l.made = l.src[:0], l.made[:0]
	k := 0
	if sel == nil {
		sel = identity(n)
	}
	for _, r := range sel {
		from := k
		for k < len(l.rows) && l.rows[k] == r {
			l.src, l.made = append(l.src, r), append(l.made, int32(k))
			k++
		}
		if k == from {
			l.src, l.made = append(l.src, r), append(l.made, -1)
		}
	}
	for i, v := range made {
		w := g.p.env.Pool.Vector(v.Type)
		column.AppendRows(w, v, l.made)
		v.Release()
		made[i] = w
	}
	return l.src
}
