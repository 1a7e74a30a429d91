package expr

import (
	"errors"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// Foldable reports whether e is a constant: it reads no column, no subquery
// and no function whose value changes.
func Foldable(e logical.Expr) bool {
	params := map[logical.ColumnID]bool{}
	ok := true
	logical.WalkExpr(e, func(x logical.Expr) bool {
		switch x := x.(type) {
		case *logical.Column:
			ok = ok && params[x.Attr.ID]
		case *logical.Subquery:
			ok = false
		case *logical.Lambda:
			for _, p := range x.Params {
				params[p.ID] = true
			}
		case *logical.Cast:
			ok = ok && (x.Fn == nil || x.Fn.Fn.Volatility == funcs.Immutable)
		case *logical.Call:
			ok = ok && (x.Fn.Fn == nil || x.Fn.Fn.Volatility == funcs.Immutable)
		}
		return ok
	})
	return ok
}

// Fold evaluates a constant expression. It returns a constant vector of one
// row outside any pool, or the error that the evaluation ends in, or neither
// when e is not constant.
func Fold(e logical.Expr, s *funcs.Session) (*column.Vector, *funcs.Error) {
	if !Foldable(e) {
		return nil, nil
	}
	p, err := Compile(e, nil, Options{Session: s})
	if err != nil {
		return nil, asError(err)
	}
	v := p.Eval(&Evaluation{Session: s}, &column.Batch{Len: 1})
	if err := v.Errs.At(0); err != nil {
		return nil, asError(err)
	}
	if v.Const && v.Len == 1 {
		return v, nil
	}
	out := column.New(v.Type)
	column.AppendRow(out, v, 0)
	out.SetConst(1)
	return out, nil
}

func asError(err error) *funcs.Error {
	var e *funcs.Error
	if errors.As(err, &e) {
		return e
	}
	return funcs.NewError("INTERNAL_ERROR", err.Error(), nil)
}
