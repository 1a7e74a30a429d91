package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var conditionalFunctions = []*Function{
	extremeFunction("greatest", 1).example("SELECT greatest(10, 9, 2, 4, 3)", "10"),
	extremeFunction("least", -1).example("SELECT least(10, 9, 2, 4, 3)", "2"),
	custom("nvl", "conditional", "nvl(expr1, expr2)", "The first value that is not null.", bindNvl).alias("ifnull").example("SELECT nvl(NULL, 2)", "2"),
	custom("nullif", "conditional", "nullif(expr1, expr2)", "NULL when both are equal, the first else.", bindNullif).example("SELECT nullif(2, 2)", "NULL"),
	custom("nanvl", "conditional", "nanvl(expr1, expr2)", "The first value unless it is NaN, the second then.", bindNanvl).example("SELECT nanvl(double('NaN'), 123)", "123.0"),
	define("nullifzero", "conditional", "nullifzero(expr)", "NULL for zero, the value else.", signature{
		params: []param{pNumeric}, infer: firstType, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			copyKernel(c, args, out)
			c.live(out, func(i int) {
				if isZero(out, i) {
					out.SetNull(i)
				}
			})
		},
	}).example("SELECT nullifzero(0)", "NULL"),
	define("zeroifnull", "conditional", "zeroifnull(expr)", "Zero for NULL, the value else.", signature{
		params: []param{{pNumeric.want, func(s *Session, t schema.Type) (schema.Type, bool) {
			if t.Kind == schema.Void {
				return tInt, true
			}
			return pNumeric.take(s, t)
		}}}, infer: firstType, nulls: NullAware, neverNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			copyKernel(c, args, out)
			out.Nulls = nil
		},
	}).example("SELECT zeroifnull(NULL)", "0"),
}

func isZero(v *vector, i int) bool {
	switch column.PhysicalOf(v.Type) {
	case column.PhysF32:
		return v.F32[i] == 0
	case column.PhysF64:
		return v.F64[i] == 0
	case column.PhysI128:
		return v.I128[i] == column.Int128{}
	}
	return intAt(v, i) == 0
}

// commonArgs finds the one type that all arguments are cast to; strings are
// not promoted when strict.
func commonArgs(s *Session, name string, args []Arg, strict bool) (schema.Type, error) {
	types := make([]schema.Type, len(args))
	texts, others := false, false
	for i, a := range args {
		types[i] = a.Type
		texts = texts || a.Type.Kind == schema.String
		others = others || a.Type.Kind != schema.String && a.Type.Kind != schema.Void
	}
	t, ok := CommonOf(s, types)
	if !ok || strict && texts && others {
		return t, errDataDiffTypes(name, callText(name, args), args)
	}
	return t, nil
}

func repeatType(t schema.Type, n int) []schema.Type {
	out := make([]schema.Type, n)
	for i := range out {
		out[i] = t
	}
	return out
}

func extremeFunction(name string, sign int) *Function {
	return custom(name, "conditional", name+"(expr, ...)", "The extreme of the values that are not null.", func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 2, 1<<20, len(args)); err != nil {
			return nil, err
		}
		t, err := commonArgs(s, name, args, true)
		if err != nil {
			return nil, err
		}
		if !Orderable(t) {
			return nil, errOrdering(name, callText(name, args), t)
		}
		b := &Bound{Args: repeatType(t, len(args)), Result: t, Nullable: true, Nulls: NullAware}
		for _, a := range args {
			b.Nullable = b.Nullable && a.Nullable
		}
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			pickRows(c, args, out, func(i int) int {
				best := -1
				for k, v := range args {
					if !v.IsNull(i) && (best < 0 || column.Compare(v, i, args[best], i)*sign > 0) {
						best = k
					}
				}
				return best
			})
		}
		return b, nil
	})
}

// pickRows builds out from row i of args[f(i)]; -1 gives null.
func pickRows(c *Ctx, args []*vector, out *vector, f func(i int) int) {
	out.Resize(0)
	next := 0
	pad := func(to int) {
		for ; next < to; next++ {
			out.AppendNull()
		}
	}
	c.Each(func(i int) {
		pad(i)
		if k := f(i); k < 0 {
			out.AppendNull()
		} else {
			column.AppendRow(out, args[k], i)
		}
		next++
	})
	pad(c.Rows)
}

func bindNvl(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("nvl", 2, 2, len(args)); err != nil {
		return nil, err
	}
	t, err := commonArgs(s, "coalesce", args, false)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: repeatType(t, 2), Result: t, Nullable: args[0].Nullable && args[1].Nullable, Nulls: NullAware,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			pickRows(c, args, out, func(i int) int {
				if args[0].IsNull(i) {
					return 1
				}
				return 0
			})
		},
	}, nil
}

func bindNullif(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("nullif", 2, 2, len(args)); err != nil {
		return nil, err
	}
	t, ok := comparisonType(s, args[0].Type, args[1].Type)
	if !ok {
		return nil, errDiffTypes("("+args[0].Text+" = "+args[1].Text+")", args[0].Type, args[1].Type)
	}
	first := args[0].Type
	if !first.SameShape(t) { // compare in the common type, give the first back in its own
		back := castKernel(s, first, t, CastANSI)
		if back == nil {
			return nil, errDiffTypes(callText("nullif", args), args[0].Type, args[1].Type)
		}
		return nullifCast(first, t, args, back), nil
	}
	return &Bound{
		Args: []schema.Type{t, t}, Result: t, Nullable: true, Nulls: NullAware,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			pickRows(c, args, out, func(i int) int {
				if args[1].IsNull(i) || column.Compare(args[0], i, args[1], i) != 0 {
					return 0
				}
				return -1
			})
		},
	}, nil
}

func nullifCast(first, t schema.Type, args []Arg, widen Kernel) *Bound {
	return &Bound{
		Args: []schema.Type{first, t}, Result: first, Nullable: true, Nulls: NullAware,
		CanFail: castFails(first, t),
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			wide := c.Pool.Vector(t)
			flat := column.Flatten(c.Pool, args[0])
			castChild(c, widen, flat, wide)
			pickRows(c, args, out, func(i int) int {
				if args[1].IsNull(i) || wide.Errs.At(i) != nil || column.Compare(wide, i, args[1], i) != 0 {
					return 0
				}
				return -1
			})
			wide.Errs.Each(func(row int, err error) {
				if selected(c, row) {
					c.Fail(out, row, asError(err))
				}
			})
			flat.Release()
			wide.Release()
		},
	}
}

func bindNanvl(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("nanvl", 2, 2, len(args)); err != nil {
		return nil, err
	}
	for i, a := range args {
		if _, ok := pNumeric.take(s, a.Type); !ok {
			return nil, errInputType(callText("nanvl", args), i, `("DOUBLE" or "FLOAT")`, a)
		}
	}
	t := tDouble
	if args[0].Type.Kind == schema.Float32 && args[1].Type.Kind == schema.Float32 {
		t = args[0].Type
	}
	return &Bound{
		Args: repeatType(t, 2), Result: t, Nullable: args[0].Nullable || args[1].Nullable, Nulls: NullAware,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[0]
			pickRows(c, args, out, func(i int) int {
				r := v.Row(i)
				if !v.IsNull(i) && (t.Kind == schema.Float64 && v.F64[r] != v.F64[r] || t.Kind == schema.Float32 && v.F32[r] != v.F32[r]) {
					return 1
				}
				return 0
			})
		},
	}, nil
}
