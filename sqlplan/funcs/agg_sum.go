package funcs

import (
	"bytes"
	"math/big"
	"math/bits"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// pSummable takes numbers and intervals.
var pSummable = param{`("NUMERIC" or "ANSI INTERVAL")`, func(_ *Session, t schema.Type) (schema.Type, bool) {
	switch {
	case t.Kind == schema.String || t.Kind == schema.Void:
		return tDouble, true
	case t.Kind == schema.YearMonthInterval || t.Kind == schema.DayTimeInterval:
		return t, true
	}
	return t, t.IsNumeric()
}}

// pAveraged takes a TIMESTAMP too: as the seconds since 1970.
var pAveraged = param{pSummable.want, func(s *Session, t schema.Type) (schema.Type, bool) {
	if t.Kind == schema.Timestamp {
		return tDouble, true
	}
	return pSummable.take(s, t)
}}

func sumAggregate(name, doc string, try bool) *Aggregate {
	return aggregate(name, name+"(expr)", doc, aggSpec{
		sig: signature{params: []param{pAveraged}},
		build: func(s *Session, _ []Arg, types []schema.Type) (*BoundAggregate, error) {
			t := types[0]
			if t.IsFloat() {
				return floatSum(tDouble, func(sum float64, _ int64) float64 { return sum }), nil
			}
			result := t
			switch {
			case t.IsInteger():
				result = tBigint
			case t.Kind == schema.Decimal:
				result = cappedDecimal(t.Precision+10, t.Scale)
			}
			b := exactSum(t, result)
			b.Finish = func(c *Ctx, st *States, groups []int32, out *vector) {
				for _, g := range groups {
					if st.Fixed[1].I64[g] == 0 {
						out.AppendNull()
						continue
					}
					appendSum(s, try, st, g, out)
				}
			}
			return b, nil
		},
	})
}

// appendSum appends an exact sum to out, or what stands for one that does not
// fit.
func appendSum(s *Session, try bool, st *States, g int32, out *vector) {
	sum, lost := st.Fixed[0].I128[g], st.Fixed[2].Bool[g]
	var err *Error
	switch out.Type.Kind {
	case schema.Decimal:
		if lost || !text.DecimalFits(sum, out.Type.Precision) {
			err = errOverflow("Overflow in sum of decimals", "try_sum")
			break
		}
		out.AppendNull()
		out.Nulls.Unset(out.Len - 1)
		setDecimal(out, out.Len-1, sum)
		return
	case schema.YearMonthInterval:
		v, ok := sum.Int64()
		if !lost && ok && v == int64(int32(v)) {
			column.AppendValue(out, v)
			return
		}
		err = errIntervalOverflow("try_sum")
	default:
		v, ok := sum.Int64()
		if !lost && ok || !s.ANSI && !try && out.Type.Kind == schema.Int64 {
			column.AppendValue(out, int64(sum.Lo))
			return
		}
		if err = errOverflow("long overflow", "try_sum"); out.Type.Kind == schema.DayTimeInterval {
			err = errIntervalOverflow("try_sum")
		}
		_ = v
	}
	out.AppendNull()
	if s.ANSI && !try || out.Type.Kind != schema.Decimal && out.Type.Kind != schema.Int64 && !try {
		out.Fail(out.Len-1, err)
	}
}

// exactSum sums integers, decimals and intervals in 128 bits: state is sum,
// count, and whether even 128 bits were not enough.
func exactSum(t, result schema.Type) *BoundAggregate {
	b := &BoundAggregate{
		Result: result, Nullable: true,
		State: []StateColumn{fixed("sum", tWide), fixed("count", tBigint), fixed("lost", tBool)},
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			for k, r := range rows {
				g := groups[k]
				addWide(st, int(g), other.Fixed[0].I128[r], 1)
				st.Fixed[1].I64[g] += other.Fixed[1].I64[r]
				st.Fixed[2].Bool[g] = st.Fixed[2].Bool[g] || other.Fixed[2].Bool[r]
			}
		},
	}
	b.Update = sumUpdate(t, 1)
	b.Retract = sumUpdate(t, -1)
	return b
}

func addWide(st *States, g int, v column.Int128, sign int) {
	acc := &st.Fixed[0].I128[g]
	if sign < 0 {
		v = text.DecimalNeg(v)
	}
	lo, carry := bits.Add64(acc.Lo, v.Lo, 0)
	hi := acc.Hi + v.Hi + int64(carry)
	if (acc.Hi^hi)&(v.Hi^hi) < 0 {
		st.Fixed[2].Bool[g] = true
	}
	acc.Lo, acc.Hi = lo, hi
}

func sumUpdate(t schema.Type, sign int) func(*Ctx, *States, []int32, []int32, []*vector) {
	switch column.PhysicalOf(t) {
	case column.PhysI8:
		return sumInts(i8s, sign)
	case column.PhysI16:
		return sumInts(i16s, sign)
	case column.PhysI32:
		return sumInts(i32s, sign)
	case column.PhysI64:
		return sumInts(i64s, sign)
	}
	return func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
		n := st.Fixed[1].I64
		each(vs[0], groups, rows, func(g, r int) {
			addWide(st, g, vs[0].I128[r], sign)
			n[g] += int64(sign)
		})
	}
}

func sumInts[T signedInt](get slice[T], sign int) func(*Ctx, *States, []int32, []int32, []*vector) {
	return func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
		v, sum, n := vs[0], st.Fixed[0].I128, st.Fixed[1].I64
		xs := get(v)
		if v.Nulls == nil && !v.Const && v.Type.Kind != schema.Void {
			for k, r := range rows {
				g := groups[k]
				addInt(&sum[g], int64(xs[r])*int64(sign))
				n[g] += int64(sign)
			}
			return
		}
		each(v, groups, rows, func(g, r int) {
			addInt(&sum[g], int64(xs[r])*int64(sign))
			n[g] += int64(sign)
		})
	}
}

func addInt(acc *column.Int128, x int64) {
	lo, carry := bits.Add64(acc.Lo, uint64(x), 0)
	acc.Lo, acc.Hi = lo, acc.Hi+x>>63+int64(carry)
}

// floatSum keeps a sum and a count of doubles.
func floatSum(result schema.Type, finish func(sum float64, n int64) float64) *BoundAggregate {
	return &BoundAggregate{
		Result: result, Nullable: true, State: []StateColumn{fixed("sum", tDouble), fixed("count", tBigint)},
		Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			v, sum, n := vs[0], st.Fixed[0].F64, st.Fixed[1].I64
			switch {
			case v.Type.Kind == schema.Float32:
				each(v, groups, rows, func(g, r int) { sum[g] += float64(v.F32[r]); n[g]++ })
			case v.Nulls == nil && !v.Const:
				for k, r := range rows {
					g := groups[k]
					sum[g] += v.F64[r]
					n[g]++
				}
			default:
				each(v, groups, rows, func(g, r int) { sum[g] += v.F64[r]; n[g]++ })
			}
		},
		Merge: addStates,
		Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
			for _, g := range groups {
				if n := st.Fixed[1].I64[g]; n == 0 {
					out.AppendNull()
				} else {
					out.F64 = append(out.F64, finish(st.Fixed[0].F64[g], n))
					out.Len++
				}
			}
		},
	}
}

func avgAggregate(name, doc string, try bool) *Aggregate {
	return aggregate(name, name+"(expr)", doc, aggSpec{
		sig: signature{params: []param{pAveraged}},
		build: func(s *Session, _ []Arg, types []schema.Type) (*BoundAggregate, error) {
			t := types[0]
			if t.IsFloat() {
				return floatSum(tDouble, func(sum float64, n int64) float64 { return sum / float64(n) }), nil
			}
			b := exactSum(t, avgType(t))
			b.Finish = func(_ *Ctx, st *States, groups []int32, out *vector) {
				for _, g := range groups {
					appendAvg(avgMode{strict: s.ANSI && !try, try: try}, t, st, g, out)
				}
			}
			return b, nil
		},
	})
}

func avgType(t schema.Type) schema.Type {
	switch t.Kind {
	case schema.Decimal:
		return cappedDecimal(t.Precision+4, t.Scale+4)
	case schema.YearMonthInterval, schema.DayTimeInterval:
		return typ(t.Kind)
	}
	return tDouble
}

// avgMode says when a mean that is lost is an error: strict for decimals, all
// but try for intervals.
type avgMode struct{ strict, try bool }

func appendAvg(mode avgMode, t schema.Type, st *States, g int32, out *vector) {
	sum, n, lost := st.Fixed[0].I128[g], st.Fixed[1].I64[g], st.Fixed[2].Bool[g]
	if n == 0 {
		out.AppendNull()
		return
	}
	if out.Type.Kind == schema.Float64 {
		out.F64 = append(out.F64, text.DecimalToFloat(sum, 0)/float64(n))
		out.Len++
		return
	}
	v, ok := text.DecimalDiv(sum, column.FromInt64(n), out.Type.Scale-t.Scale)
	out.AppendNull()
	at := out.Len - 1
	if out.Type.Kind != schema.Decimal && !intervalFits(sum, out.Type.Kind) {
		if !mode.try {
			out.Fail(at, errIntervalOverflow("try_add"))
		}
		return
	}
	switch {
	case lost || out.Type.Kind == schema.Decimal && !text.DecimalFits(sum, min(t.Precision+10, maxPrecision)):
		if mode.strict {
			out.Fail(at, errOverflow("Overflow in sum of decimals", "try_avg"))
		}
		return
	case !ok || out.Type.Kind == schema.Decimal && !text.DecimalFits(v, out.Type.Precision):
		if mode.strict {
			out.Fail(at, errDecimalRange(meanText(sum, n, t.Scale), out.Type.Precision, out.Type.Scale))
		}
		return
	case out.Type.Kind == schema.Decimal:
		setDecimal(out, at, v)
	case out.Type.Kind == schema.YearMonthInterval:
		out.I32[at] = int32(v.Lo)
	default:
		out.I64[at] = int64(v.Lo)
	}
	out.Nulls.Unset(at)
}

// meanText writes sum/n, which does not fit, as precisely as Spark does.
func meanText(sum column.Int128, n int64, scale int) string {
	const digits = maxPrecision + 1
	v := toBig(sum)
	v.Mul(v, bigPow(digits-scale+1)).Quo(v, big.NewInt(n)) // a digit more, to round half up
	five := big.NewInt(5)
	if v.Sign() < 0 {
		five.Neg(five)
	}
	return scaledText(v.Add(v, five).Quo(v, big.NewInt(10)), digits)
}

// intervalFits is whether a sum is an interval of the kind.
func intervalFits(sum column.Int128, kind schema.Kind) bool {
	v, ok := sum.Int64()
	return ok && (kind != schema.YearMonthInterval || v == int64(int32(v)))
}

// extremeAggregate is max (sign 1) or min (sign -1).
func extremeAggregate(name, doc string, sign int) *Aggregate {
	return aggregate(name, name+"(expr)", doc, aggSpec{
		sig: signature{params: []param{pAny}, check: func(_ *Session, call string, args []Arg) error {
			if !Orderable(args[0].Type) {
				return errOrdering(name, call, args[0].Type)
			}
			return nil
		}},
		build: func(_ *Session, _ []Arg, types []schema.Type) (*BoundAggregate, error) {
			t := types[0]
			switch column.PhysicalOf(t) {
			case column.PhysI32:
				return fixedExtreme(t, i32s, func(x, y int32) bool { return (x > y) == (sign > 0) }), nil
			case column.PhysI64:
				return fixedExtreme(t, i64s, func(x, y int64) bool { return (x > y) == (sign > 0) }), nil
			case column.PhysF64:
				return fixedExtreme(t, f64s, func(x, y float64) bool { return column.CompareFloat(x, y)*sign > 0 }), nil
			}
			return valueExtreme(t, sign), nil
		},
	}).anyOrder()
}

func fixedExtreme[T any](t schema.Type, get slice[T], better func(x, y T) bool) *BoundAggregate {
	take := func(best *T, seen *bool, x T) {
		if !*seen || better(x, *best) {
			*best, *seen = x, true
		}
	}
	return &BoundAggregate{
		Result: t, Nullable: true, State: []StateColumn{fixed("value", t), fixed("seen", tBool)},
		Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			best, seen, xs := get(st.Fixed[0]), st.Fixed[1].Bool, get(vs[0])
			each(vs[0], groups, rows, func(g, r int) { take(&best[g], &seen[g], xs[r]) })
		},
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			best, seen, xs := get(st.Fixed[0]), st.Fixed[1].Bool, get(other.Fixed[0])
			for k, r := range rows {
				if other.Fixed[1].Bool[r] {
					take(&best[groups[k]], &seen[groups[k]], xs[r])
				}
			}
		},
		Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
			for _, g := range groups {
				if !st.Fixed[1].Bool[g] {
					out.AppendNull()
				} else {
					column.AppendRow(out, st.Fixed[0], int(g))
				}
			}
		},
	}
}

func valueExtreme(t schema.Type, sign int) *BoundAggregate {
	text := column.PhysicalOf(t) == column.PhysBytes
	take := func(st *States, g int32, v *vector, r int) {
		if text && !st.Values[0].IsNull(g) {
			if bytes.Compare(v.Str(r), st.Values[0].str(g))*sign > 0 {
				st.Values[0].Set(g, v, r)
			}
			return
		}
		cur, at := st.Values[0].Value(g)
		if at < 0 || column.Compare(v, r, cur, at)*sign > 0 {
			st.Values[0].Set(g, v, r)
		}
	}
	return &BoundAggregate{
		Result: t, Nullable: true, State: []StateColumn{{"value", t, StateValue}},
		Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			for k, r := range rows {
				if k%touchAhead == 0 {
					st.Values[0].Touch(groups[k:min(k+touchAhead, len(rows))])
				}
				if !vs[0].IsNull(int(r)) {
					take(st, groups[k], vs[0], int(r))
				}
			}
		},
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			for k, r := range rows {
				if v, at := other.Values[0].Value(r); at >= 0 {
					take(st, groups[k], v, at)
				}
			}
		},
		Finish: finishValue(0),
	}
}
