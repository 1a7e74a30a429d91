package operator

import (
	"fmt"

	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// program evaluates expressions over the batches of one input: one compiled
// instance a lane.
type program struct {
	p     *Plan
	lanes []*expr.Program // nil when there are no expressions
	outs  [][]*column.Vector
}

func newProgram(p *Plan, exprs []logical.Expr, input []logical.Attr) (*program, error) {
	pr := &program{p: p, outs: make([][]*column.Vector, p.env.Lanes)}
	if len(exprs) == 0 {
		return pr, nil
	}
	first, err := expr.CompileAll(exprs, input, expr.Options{Session: p.env.Session})
	if err != nil {
		return nil, fmt.Errorf("build plan: %w", err)
	}
	pr.lanes = append(pr.lanes, first)
	for len(pr.lanes) < p.env.Lanes {
		pr.lanes = append(pr.lanes, first.NewInstance())
	}
	return pr, nil
}

// run evaluates all expressions over the selected rows of b. The caller owns a
// reference on each vector; the slice is valid until the lane's next run.
func (pr *program) run(lane int, b *column.Batch) ([]*column.Vector, error) {
	if pr.lanes == nil {
		return nil, nil
	}
	pr.outs[lane] = pr.lanes[lane].EvalAll(pr.p.evals[lane], b, pr.outs[lane][:0])
	return pr.outs[lane], nil
}

func (pr *program) begin(*stepState) error { return nil }

func (pr *program) close() {}

func releaseAll(vecs []*column.Vector) {
	for _, v := range vecs {
		v.Release()
	}
}

// newBatch returns a batch of empty vectors for the columns.
func newBatch(pool *column.Pool, cols []logical.Attr) *column.Batch {
	b := pool.Batch()
	for _, c := range cols {
		b.Cols = append(b.Cols, pool.Vector(c.Type))
	}
	return b
}

// pushFresh pushes a batch that the caller made, and releases it.
func pushFresh(out port, lane int, b *column.Batch) error {
	defer b.Release()
	if b.Len == 0 {
		return nil
	}
	return out.push(lane, b)
}

func exprTypes(exprs []logical.Expr) []schema.Type {
	out := make([]schema.Type, len(exprs))
	for i, e := range exprs {
		out[i] = e.Type()
	}
	return out
}

func typesOf(cols []logical.Attr) []schema.Type {
	out := make([]schema.Type, len(cols))
	for i, c := range cols {
		out[i] = c.Type
	}
	return out
}
