package operator

import "pipelines/sqlplan/logical"
import "pipelines/tables/column"

// expand makes, of each row, one row a projection (grouping sets). The rows of
// one projection of a batch come together.
type expand struct {
	p    *Plan
	out  port
	sets []*program
}

func (bd *builder) expand(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Expand)
	e := &expand{p: bd.p, out: out}
	for _, exprs := range n.Projections {
		pr, err := bd.program(exprs, n.Input.Output())
		if err != nil {
			return nil, nil, err
		}
		e.sets = append(e.sets, pr)
	}
	return e, nil, nil
}

func (e *expand) end() error { return e.out.end() }

func (e *expand) push(lane int, b *column.Batch) error {
	for _, set := range e.sets {
		vecs, err := set.run(lane, b)
		if err != nil {
			return err
		}
		nb := e.p.env.Pool.Batch()
		nb.Cols = append(nb.Cols, vecs...)
		nb.Len, nb.Change = b.Len, b.Change
		if b.Sel != nil {
			nb.Sel = append(nb.SelBuffer(), b.Sel...)
		}
		if err := pushFresh(e.out, lane, nb); err != nil {
			return err
		}
	}
	return nil
}
