package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// aggSpec describes an aggregate whose arguments are checked like those of a
// scalar function and whose code is chosen by their types.
type aggSpec struct {
	sig   signature
	build func(s *Session, args []Arg, types []schema.Type) (*BoundAggregate, error)
}

// aggregate makes an aggregate function.
func aggregate(name, usage, doc string, spec aggSpec) *Aggregate {
	f := &Aggregate{Name: name, Usage: usage, Doc: doc}
	shadow := &Function{Name: name}
	f.Bind = func(s *Session, args []Arg) (*BoundAggregate, error) {
		b, err := spec.sig.bind(s, shadow, args)
		if err != nil {
			return nil, err
		}
		a, err := spec.build(s, args, b.Args)
		if err != nil {
			return nil, err
		}
		a.Fn, a.Args = f, b.Args
		return a, nil
	}
	return f
}

func (f *Aggregate) alias(names ...string) *Aggregate {
	f.Aliases = append(f.Aliases, names...)
	return f
}

func (f *Aggregate) ordered() *Aggregate {
	f.OrderSensitive = true
	return f
}

func (f *Aggregate) anyOrder() *Aggregate {
	f.IgnoresDistinct = true
	return f
}

// each calls f for each pair of group and row whose value in v is not null.
func each(v *vector, groups, rows []int32, f func(g, r int)) {
	switch {
	case v.Const:
		if !v.IsNull(0) {
			for _, g := range groups {
				f(int(g), 0)
			}
		}
	case v.Nulls == nil:
		for k, r := range rows {
			f(int(groups[k]), int(r))
		}
	default:
		for k, r := range rows {
			if !v.Nulls.Get(int(r)) {
				f(int(groups[k]), int(r))
			}
		}
	}
}

func fixed(name string, t schema.Type) StateColumn { return StateColumn{name, t, StateFixed} }

var tWide = schema.DecimalOf(maxPrecision, 0) // 128-bit state

var basicAggregates = []*Aggregate{
	countAggregate(),
	aggregate("count_if", "count_if(expr)", "Number of rows for which the condition is true.", aggSpec{
		sig: signature{params: []param{pBool}}, build: buildCountIf,
	}),
	sumAggregate("sum", "Sum of the values.", false),
	sumAggregate("try_sum", "Sum of the values, or NULL on overflow.", true),
	avgAggregate("avg", "Mean of the values.", false).alias("mean"),
	avgAggregate("try_avg", "Mean of the values, or NULL on overflow.", true),
	extremeAggregate("max", "Greatest value.", 1),
	extremeAggregate("min", "Smallest value.", -1),
	boolAggregate("bool_and", "True when all values are true.", false).alias("every"),
	boolAggregate("bool_or", "True when a value is true.", true).alias("some", "any"),
	bitAggregate("bit_and", "Bitwise AND of the values."),
	bitAggregate("bit_or", "Bitwise OR of the values."),
	bitAggregate("bit_xor", "Bitwise XOR of the values."),
	firstAggregate("first", "First value of the group.", true).alias("first_value").ordered(),
	firstAggregate("any_value", "Some value of the group.", true).ordered(),
	firstAggregate("last", "Last value of the group.", false).alias("last_value").ordered(),
}

func countAggregate() *Aggregate {
	f := aggregate("count", "count(*), count(expr, ...)", "Number of rows, or of rows whose arguments are not null.", aggSpec{
		sig: signature{params: []param{pAny}, variadic: true, min: -1}, build: buildCount,
	})
	return f
}

func buildCount(_ *Session, args []Arg, _ []schema.Type) (*BoundAggregate, error) {
	add := func(sign int64) func(*Ctx, *States, []int32, []int32, []*vector) {
		return func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			n := st.Fixed[0].I64
			switch {
			case len(vs) == 0 || len(vs) == 1 && !vs[0].HasNulls():
				for _, g := range groups {
					n[g] += sign
				}
			case len(vs) == 1 && vs[0].Type.Kind != schema.Void:
				each(vs[0], groups, rows, func(g, _ int) { n[g] += sign })
			default:
				countAll(n, sign, groups, rows, vs)
			}
		}
	}
	b := counter("count", add(1))
	b.Retract = add(-1)
	b.Print = func(texts []string, distinct bool) string {
		if len(texts) == 0 {
			return "count(1)"
		}
		if distinct {
			return "count(DISTINCT " + joinTexts(texts) + ")"
		}
		return "count(" + joinTexts(texts) + ")"
	}
	return b, nil
}

func countAll(n []int64, sign int64, groups, rows []int32, vs []*vector) {
	for k, r := range rows {
		all := true
		for _, v := range vs {
			all = all && !v.IsNull(int(r))
		}
		if all {
			n[groups[k]] += sign
		}
	}
}

// counter is a bound aggregate over one BIGINT counter.
func counter(name string, update func(*Ctx, *States, []int32, []int32, []*vector)) *BoundAggregate {
	return &BoundAggregate{
		Result: tBigint, State: []StateColumn{fixed(name, tBigint)}, Update: update,
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			for k, r := range rows {
				st.Fixed[0].I64[groups[k]] += other.Fixed[0].I64[r]
			}
		},
		Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
			for _, g := range groups {
				out.I64 = append(out.I64, st.Fixed[0].I64[g])
				out.Len++
			}
		},
	}
}

func buildCountIf(*Session, []Arg, []schema.Type) (*BoundAggregate, error) {
	add := func(sign int64) func(*Ctx, *States, []int32, []int32, []*vector) {
		return func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			n, v := st.Fixed[0].I64, vs[0]
			each(v, groups, rows, func(g, r int) {
				if v.Bool[r] {
					n[g] += sign
				}
			})
		}
	}
	b := counter("count", add(1))
	b.Retract = add(-1)
	return b, nil
}

// boolAggregate is bool_or (or true) or bool_and. The state counts the values
// and those that decide, so that rows can be taken back.
func boolAggregate(name, doc string, or bool) *Aggregate {
	update := func(sign int64) func(*Ctx, *States, []int32, []int32, []*vector) {
		return func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			n, hits, v := st.Fixed[0].I64, st.Fixed[1].I64, vs[0]
			each(v, groups, rows, func(g, r int) {
				n[g] += sign
				if v.Bool[r] == or {
					hits[g] += sign
				}
			})
		}
	}
	return aggregate(name, name+"(expr)", doc, aggSpec{
		sig: signature{params: []param{pBool}},
		build: func(*Session, []Arg, []schema.Type) (*BoundAggregate, error) {
			return &BoundAggregate{
				Result: tBool, Nullable: true, State: []StateColumn{fixed("count", tBigint), fixed("hits", tBigint)},
				Update: update(1), Retract: update(-1), Merge: addStates,
				Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
					for _, g := range groups {
						if st.Fixed[0].I64[g] == 0 {
							out.AppendNull()
							continue
						}
						out.Bool = append(out.Bool, (st.Fixed[1].I64[g] > 0) == or)
						out.Len++
					}
				},
			}, nil
		},
	}).anyOrder()
}

// addStates merges states whose columns are all counters or sums.
func addStates(_ *Ctx, st *States, groups, rows []int32, other *States) {
	for i, v := range st.Fixed {
		o := other.Fixed[i]
		switch column.PhysicalOf(v.Type) {
		case column.PhysI64:
			for k, r := range rows {
				v.I64[groups[k]] += o.I64[r]
			}
		case column.PhysF64:
			for k, r := range rows {
				v.F64[groups[k]] += o.F64[r]
			}
		case column.PhysBool:
			for k, r := range rows {
				v.Bool[groups[k]] = v.Bool[groups[k]] || o.Bool[r]
			}
		}
	}
}

func bitAggregate(name, doc string) *Aggregate {
	return aggregate(name, name+"(expr)", doc, aggSpec{
		sig: signature{params: []param{{pIntegral.want, func(_ *Session, t schema.Type) (schema.Type, bool) {
			if t.Kind == schema.Void {
				return tInt, true
			}
			return t, t.IsInteger()
		}}}},
		build: func(_ *Session, _ []Arg, types []schema.Type) (*BoundAggregate, error) {
			fold := func(acc *int64, seen *bool, x int64) {
				switch {
				case !*seen:
					*acc, *seen = x, true
				case name == "bit_and":
					*acc &= x
				case name == "bit_or":
					*acc |= x
				default:
					*acc ^= x
				}
			}
			return &BoundAggregate{
				Result: types[0], Nullable: true, State: []StateColumn{fixed("bits", tBigint), fixed("seen", tBool)},
				Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
					v := vs[0]
					each(v, groups, rows, func(g, r int) { fold(&st.Fixed[0].I64[g], &st.Fixed[1].Bool[g], intAt(v, r)) })
				},
				Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
					for k, r := range rows {
						if other.Fixed[1].Bool[r] {
							fold(&st.Fixed[0].I64[groups[k]], &st.Fixed[1].Bool[groups[k]], other.Fixed[0].I64[r])
						}
					}
				},
				Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
					for _, g := range groups {
						if !st.Fixed[1].Bool[g] {
							out.AppendNull()
						} else {
							column.AppendValue(out, st.Fixed[0].I64[g])
						}
					}
				},
			}, nil
		},
	})
}

// firstAggregate is first, any_value (first true) and last; a second argument
// asks to skip nulls.
func firstAggregate(name, doc string, first bool) *Aggregate {
	return aggregate(name, name+"(expr[, isIgnoreNull])", doc, aggSpec{
		sig: signature{params: []param{pAny, pBool}, min: 1},
		build: func(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
			skip := false
			if len(args) == 2 {
				if args[1].Const == nil {
					return nil, errNotFoldable(callText(name, args), "ignoreNulls", tBool, args[1])
				}
				skip = !args[1].Const.IsNull(0) && args[1].Type.Kind == schema.Boolean && args[1].Const.Bool[0]
			}
			take := func(st *States, g int32, v *vector, r int) {
				seen := st.Fixed[0].Bool
				if first && seen[g] || skip && v.IsNull(r) {
					return
				}
				seen[g] = true
				st.Values[1].Set(g, v, r)
			}
			kind := LastValue
			if first {
				kind = FirstValue
			}
			var window *BoundWindow
			if !skip {
				window = &BoundWindow{Kind: kind, Args: types[:1], Result: types[0], Nullable: true}
			}
			return &BoundAggregate{
				Result: types[0], Nullable: true, Window: window,
				State: []StateColumn{fixed("seen", tBool), {"value", types[0], StateValue}},
				Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
					for k, r := range rows {
						take(st, groups[k], vs[0], int(r))
					}
				},
				Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
					for k, r := range rows {
						if !other.Fixed[0].Bool[r] {
							continue
						}
						v, at := other.Values[1].Value(r)
						if at >= 0 {
							take(st, groups[k], v, at)
						} else if !first || !st.Fixed[0].Bool[groups[k]] {
							st.Fixed[0].Bool[groups[k]] = true
							st.Values[1].SetNull(groups[k])
						}
					}
				},
				Finish: finishValue(1),
			}, nil
		},
	})
}

// finishValue appends the value of state column i.
func finishValue(i int) func(*Ctx, *States, []int32, *vector) {
	return func(_ *Ctx, st *States, groups []int32, out *vector) {
		values := st.Values[i]
		for k, g := range groups {
			if k%touchAhead == 0 {
				values.Touch(groups[k:min(k+touchAhead, len(groups))])
			}
			switch {
			case values.IsNull(g):
				out.AppendNull()
			case values.text:
				out.AppendStr(values.str(g))
			default:
				v, at := values.Value(g)
				column.AppendRow(out, v, at)
			}
		}
	}
}
