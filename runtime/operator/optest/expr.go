package optest

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Call binds a scalar function by name.
func Call(name string, args ...logical.Expr) logical.Expr {
	f := funcs.Lookup(name)
	if f == nil {
		panic("optest: no function " + name)
	}
	var as []funcs.Arg
	for _, a := range args {
		arg := funcs.Arg{Type: a.Type(), Nullable: a.Nullable()}
		if l, ok := a.(*logical.Literal); ok {
			arg.Const = l.Value
		}
		as = append(as, arg)
	}
	b, err := f.Bind(Session(), as)
	if err != nil {
		panic("optest: " + name + ": " + err.Error())
	}
	return &logical.Call{Fn: b, Args: args}
}

// Value is a literal.
func Value(t schema.Type, x any) logical.Expr {
	return &logical.Literal{Value: column.Constant(t, 1, x)}
}

// Int is a BIGINT literal.
func Int(x int64) logical.Expr { return Value(schema.Of(schema.Int64), x) }

// Named gives an expression an output column.
func Named(id logical.ColumnID, name string, e logical.Expr) logical.Alias {
	return logical.Alias{Expr: e, Attr: logical.Attr{ID: id, Name: name, Type: e.Type(), Nullable: true, Watermark: -1}}
}

// Count is count(args…): rows without null arguments.
func Count(id logical.ColumnID, args ...logical.Expr) logical.AggCall {
	i64 := schema.Of(schema.Int64)
	fn := &funcs.BoundAggregate{
		Fn: &funcs.Aggregate{Name: "count"}, Result: i64, State: []funcs.StateColumn{{Name: "count", Type: i64}},
		Update: func(_ *funcs.Ctx, st *funcs.States, groups, rows []int32, args []*column.Vector) {
			n := st.Fixed[0].I64
			for k, g := range groups {
				null := false
				for _, a := range args {
					null = null || a.IsNull(int(rows[k]))
				}
				if !null {
					n[g]++
				}
			}
		},
		Merge: func(_ *funcs.Ctx, st *funcs.States, groups, rows []int32, other *funcs.States) {
			for k, g := range groups {
				st.Fixed[0].I64[g] += other.Fixed[0].I64[rows[k]]
			}
		},
		Finish: func(_ *funcs.Ctx, st *funcs.States, groups []int32, out *column.Vector) {
			for _, g := range groups {
				out.I64 = append(out.I64, st.Fixed[0].I64[g])
			}
			out.Len = len(out.I64)
		},
	}
	return logical.AggCall{Fn: fn, Args: args, Attr: logical.Attr{ID: id, Name: "count", Type: i64, Watermark: -1}}
}

// Sum is the wrapping sum of a BIGINT argument, null when all are null.
func Sum(id logical.ColumnID, arg logical.Expr) logical.AggCall {
	i64 := schema.Of(schema.Int64)
	cols := []funcs.StateColumn{{Name: "sum", Type: i64}, {Name: "count", Type: i64}}
	fn := &funcs.BoundAggregate{
		Fn: &funcs.Aggregate{Name: "sum"}, Result: i64, Nullable: true, State: cols,
		Update: func(_ *funcs.Ctx, st *funcs.States, groups, rows []int32, args []*column.Vector) {
			sum, n, v := st.Fixed[0].I64, st.Fixed[1].I64, args[0]
			for k, g := range groups {
				if r := int(rows[k]); !v.IsNull(r) {
					sum[g] += v.I64[v.Row(r)]
					n[g]++
				}
			}
		},
		Merge: func(_ *funcs.Ctx, st *funcs.States, groups, rows []int32, other *funcs.States) {
			for k, g := range groups {
				st.Fixed[0].I64[g] += other.Fixed[0].I64[rows[k]]
				st.Fixed[1].I64[g] += other.Fixed[1].I64[rows[k]]
			}
		},
		Finish: func(_ *funcs.Ctx, st *funcs.States, groups []int32, out *column.Vector) {
			for _, g := range groups {
				if st.Fixed[1].I64[g] == 0 {
					out.AppendNull()
					continue
				}
				out.I64 = append(out.I64, st.Fixed[0].I64[g])
				out.Len++
			}
		},
	}
	return logical.AggCall{Fn: fn, Args: []logical.Expr{arg}, Attr: logical.Attr{ID: id, Name: "sum", Type: i64, Nullable: true, Watermark: -1}}
}

// Collect is collect_list of a BIGINT argument.
func Collect(id logical.ColumnID, arg logical.Expr) logical.AggCall {
	t := schema.ArrayOf(schema.Of(schema.Int64), false)
	fn := &funcs.BoundAggregate{
		Fn: &funcs.Aggregate{Name: "collect_list", OrderSensitive: true}, Result: t,
		State: []funcs.StateColumn{{Name: "list", Type: schema.Of(schema.Int64), Form: funcs.StateList}},
		Update: func(_ *funcs.Ctx, st *funcs.States, groups, rows []int32, args []*column.Vector) {
			for k, g := range groups {
				if r := int(rows[k]); !args[0].IsNull(r) {
					st.Lists[0].Add(g, args[0], r)
				}
			}
		},
		Finish: func(_ *funcs.Ctx, st *funcs.States, groups []int32, out *column.Vector) {
			for _, g := range groups {
				st.Lists[0].Each(g, func(v *column.Vector, r int) { column.AppendRow(out.Children[0], v, r) })
				out.EndList()
			}
		},
	}
	return logical.AggCall{Fn: fn, Args: []logical.Expr{arg}, Attr: logical.Attr{ID: id, Name: "list", Type: t, Watermark: -1}}
}
