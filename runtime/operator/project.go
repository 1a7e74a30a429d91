package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// project computes columns. Marks of failed rows travel with the columns until
// somebody uses them.
type project struct {
	p     *Plan
	out   port
	exprs *program
	// pass[i] is the input column that output i is, -1 when it is computed.
	pass []int
}

func (bd *builder) project(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Project)
	in := n.Input.Output()
	pr := &project{p: bd.p, out: out, pass: make([]int, len(n.Exprs))}
	var computed []logical.Expr
	for i, a := range n.Exprs {
		pr.pass[i] = -1
		if c, ok := a.Expr.(*logical.Column); ok {
			pr.pass[i] = logical.IndexOf(in, c.Attr.ID)
		}
		if pr.pass[i] < 0 {
			computed = append(computed, a.Expr)
		}
	}
	var err error
	pr.exprs, err = bd.program(computed, in)
	return pr, nil, err
}

func (pr *project) end() error { return pr.out.end() }

func (pr *project) push(lane int, b *column.Batch) error {
	vecs, err := pr.exprs.run(lane, b)
	if err != nil {
		return err
	}
	nb := pr.p.env.Pool.Batch()
	defer nb.Release()
	for _, from := range pr.pass {
		if from >= 0 {
			nb.Cols = append(nb.Cols, b.Cols[from].Retain())
			continue
		}
		nb.Cols = append(nb.Cols, vecs[0])
		vecs = vecs[1:]
	}
	nb.Len, nb.Change = b.Len, b.Change
	if b.Sel != nil {
		nb.Sel = append(nb.SelBuffer(), b.Sel...)
	}
	return pr.out.push(lane, nb)
}
