package funcs

import (
	"math"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

var counterFunctions = []*WindowFunction{
	customWindow("counter_diff", "counter_diff(value[, start_time])", "What a counter has grown by since the last row that has one; NULL where it starts anew, which is where it falls or its start time rises.", bindCounterDiff),
}

func bindCounterDiff(s *Session, args []Arg) (*BoundWindow, error) {
	const name = "counter_diff"
	if len(args) == 0 {
		return nil, NewError("REQUIRED_PARAMETER_NOT_FOUND", "Cannot invoke routine `counter_diff` because the parameter named `value` is required at index 0, but the routine call did not supply a value.",
			map[string]string{"routineName": "`counter_diff`", "parameterName": "`value`", "index": "0"})
	}
	if err := checkCount(name, 1, 2, len(args)); err != nil {
		return nil, err
	}
	t := args[0].Type
	switch {
	case t.Kind == schema.Void || t.Kind == schema.String && !s.ANSI:
		t = tDouble
	case !t.IsNumeric():
		return nil, errInputType(callText(name, args), 0, `"NUMERIC"`, args[0])
	}
	types := []schema.Type{t}
	if len(args) == 2 {
		u := args[1].Type
		switch {
		case u.Kind == schema.Timestamp || u.Kind == schema.TimestampNTZ:
		case u.Kind == schema.Void || !s.ANSI && (u.Kind == schema.String || u.Kind == schema.Date):
			u = tTime
		default:
			return nil, errInputType(callText(name, args), 1, `("TIMESTAMP" or "TIMESTAMP_NTZ")`, args[1])
		}
		types = append(types, u)
	}
	return &BoundWindow{
		Kind: CounterDiff, Args: types, Result: t, Nullable: true, FixedFrame: true, CanFail: true,
		Step: func(c *Ctx, args []*vector, prev, cur int, out *vector) { counterStep(c, args, prev, cur, out) },
	}, nil
}

// counterStep is one row: the values of cur less those of prev.
func counterStep(c *Ctx, args []*vector, prev, cur int, out *vector) {
	v := args[0]
	at := out.Len
	switch {
	case v.IsNull(cur):
	case compareCounter(v, cur, nil, 0) < 0:
		value := string(AppendValueText(nil, c.Session, v, cur))
		out.AppendNull()
		c.Fail(out, at, NewError("COUNTER_DIFF_NEGATIVE_COUNTER_VALUE", "The counter of `counter_diff` is negative: "+value+".",
			map[string]string{"value": value, "function": "`counter_diff`"}))
		return
	case prev < 0:
	default:
		again := false
		if len(args) == 2 && !args[1].IsNull(prev) && !args[1].IsNull(cur) {
			a, b := args[1].I64[args[1].Row(prev)], args[1].I64[args[1].Row(cur)]
			if b < a {
				out.AppendNull()
				c.Fail(out, at, errStartTime(c, args[1], prev, cur))
				return
			}
			again = a < b
		}
		if !again && compareCounter(v, cur, v, prev) >= 0 {
			appendDifference(out, v, prev, cur)
			return
		}
	}
	out.AppendNull()
}

func errStartTime(c *Ctx, v *vector, prev, cur int) *Error {
	was, is := string(AppendValueText(nil, c.Session, v, prev)), string(AppendValueText(nil, c.Session, v, cur))
	return NewError("COUNTER_DIFF_START_TIME_DECREASED", "The start time of `counter_diff` falls from "+was+" to "+is+".",
		map[string]string{"function": "`counter_diff`", "previousStartTime": was, "currentStartTime": is})
}

// appendDifference appends row cur less row prev, neither of which is negative
// and of which the second is not greater: the type holds the difference.
func appendDifference(out, v *vector, prev, cur int) {
	prev, cur = v.Row(prev), v.Row(cur)
	switch column.PhysicalOf(v.Type) {
	case column.PhysI8:
		out.I8 = append(out.I8, v.I8[cur]-v.I8[prev])
	case column.PhysI16:
		out.I16 = append(out.I16, v.I16[cur]-v.I16[prev])
	case column.PhysI32:
		out.I32 = append(out.I32, v.I32[cur]-v.I32[prev])
	case column.PhysI64:
		out.I64 = append(out.I64, v.I64[cur]-v.I64[prev])
	case column.PhysF32:
		out.F32 = append(out.F32, v.F32[cur]-v.F32[prev])
	case column.PhysF64:
		out.F64 = append(out.F64, v.F64[cur]-v.F64[prev])
	case column.PhysI128:
		d, _ := text.DecimalSub(v.I128[cur], v.I128[prev])
		out.I128 = append(out.I128, d)
	default:
		panic("bug: funcs: no number: " + v.Type.String())
	}
	out.Len++
}

// compareCounter compares two values of a number column; a nil other is zero.
// NaN is the greatest.
func compareCounter(v *vector, i int, other *vector, k int) int {
	switch v.Type.Kind {
	case schema.Float32, schema.Float64:
		a, b := anyNumber(v, v.Row(i)), 0.0
		if other != nil {
			b = anyNumber(other, other.Row(k))
		}
		return compareNaN(a, b)
	}
	a, b := wholeAt(v, i), column.Int128{}
	if other != nil {
		b = wholeAt(other, k)
	}
	return a.Cmp(b)
}

func compareNaN(a, b float64) int {
	switch {
	case a < b || math.IsNaN(b) && !math.IsNaN(a):
		return -1
	case a > b || math.IsNaN(a) && !math.IsNaN(b):
		return 1
	}
	return 0
}

// wholeAt is an integer, or a decimal without its point.
func wholeAt(v *vector, i int) column.Int128 {
	if v.Type.Kind == schema.Decimal {
		return decimalAt(v, i)
	}
	return column.FromInt64(intAt(v, i))
}
