package expr

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// lambdaBody is the compiled body of a lambda argument. Its frame holds the
// parameters first, then the captured columns of the frame around it.
type lambdaBody struct {
	params   int
	captured []int // places in the outer frame
	root     node
	shared   []*sharedNode
	frame    frame
	cols     []*column.Vector
	owned    []*column.Vector
}

func (c *compiler) compileLambda(l *logical.Lambda) (*lambdaBody, error) {
	body := &lambdaBody{params: len(l.Params)}
	inner := &compiler{
		program: &Program{opts: c.program.opts}, layout: layoutOf(l.Params),
		places: placesOf([]logical.Expr{l.Body}), common: map[int]*sharedNode{}, sites: c.sites * 1000,
	}
	logical.WalkExpr(l.Body, func(e logical.Expr) bool {
		col, ok := e.(*logical.Column)
		if !ok {
			return true
		}
		if _, known := inner.layout[col.Attr.ID]; known {
			return true
		}
		if at, outer := c.layout[col.Attr.ID]; outer {
			inner.layout[col.Attr.ID] = body.params + len(body.captured)
			body.captured = append(body.captured, at)
		}
		return true
	})
	root, err := inner.compile(l.Body)
	if err != nil {
		return nil, err
	}
	body.root, body.shared = root, inner.program.shared
	return body, nil
}

// callLambda is Ctx.Lambda of a call.
func (x *callNode) callLambda(i int, params []*column.Vector, outer []int32) *column.Vector {
	b, f := x.bodies[i], x.frame
	b.cols = append(b.cols[:0], params[:b.params]...)
	for _, at := range b.captured {
		src := f.cols[at]
		if src.Const {
			one := f.ev.Pool.Vector(src.Type)
			column.AppendRow(one, src, 0)
			one.SetConst(len(outer))
			b.cols, b.owned = append(b.cols, one), append(b.owned, one)
			continue
		}
		g := f.ev.Pool.Vector(src.Type)
		column.AppendRows(g, src, outer)
		b.cols, b.owned = append(b.cols, g), append(b.owned, g)
	}
	b.frame.ev, b.frame.cols, b.frame.n = f.ev, b.cols, len(outer)
	b.frame.serial++
	out := b.root.eval(&b.frame, nil)
	for _, s := range b.shared {
		s.drop()
	}
	for k, v := range b.owned {
		v.Release()
		b.owned[k] = nil
	}
	b.owned = b.owned[:0]
	return out
}
