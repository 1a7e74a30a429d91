package funcs

import (
	"math"
	"strconv"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// aggregateOf runs an aggregate over columns in three ways: at once, in two
// parts that are merged, and through stored state. All must agree.
func aggregateOf(t *testing.T, name string, consts map[int]*column.Vector, cols ...*column.Vector) string {
	t.Helper()
	s := &Session{ANSI: true}
	f := LookupAggregate(name)
	if f == nil {
		t.Fatalf("no aggregate %s", name)
	}
	args := make([]Arg, len(cols))
	for i, c := range cols {
		args[i] = Arg{Type: c.Type, Nullable: true, Text: "x", Const: consts[i]}
	}
	b, err := f.Bind(s, args)
	if err != nil {
		return "!" + err.(*Error).Class
	}
	in := make([]*vector, len(cols))
	n := cols[0].Len
	for i, c := range cols {
		in[i] = c
		if !c.Type.SameShape(b.Args[i]) {
			k := castKernel(s, c.Type, b.Args[i], CastANSI)
			in[i] = column.New(b.Args[i])
			flat := column.Flatten(nil, c)
			castChild(&Ctx{Session: s}, k, flat, in[i])
		}
	}
	rows := func(from, to int) (out []int32) {
		for i := from; i < to; i++ {
			out = append(out, int32(i))
		}
		return out
	}
	c := &Ctx{Session: s}
	show := func(st *States) string {
		out := column.New(b.Result)
		b.Finish(c, st, []int32{0}, out)
		if err := out.Errs.At(0); err != nil {
			return "!" + err.(*Error).Class
		}
		return string(AppendValueText(nil, s, out, 0))
	}
	whole := NewStates(b.State)
	whole.Grow(1)
	b.Update(c, whole, make([]int32, n), rows(0, n), in)
	first, second := NewStates(b.State), NewStates(b.State)
	first.Grow(1)
	second.Grow(1)
	b.Update(c, first, make([]int32, n/2), rows(0, n/2), in)
	b.Update(c, second, make([]int32, n-n/2), rows(n/2, n), in)
	var stored []*column.Vector
	for _, col := range b.State {
		stored = append(stored, column.New(col.StoredType()))
	}
	second.Append(0, stored)
	loaded := NewStates(b.State)
	loaded.Grow(1)
	loaded.Load(0, stored, 0)
	b.Merge(c, first, []int32{0}, []int32{0}, loaded)
	got := show(whole)
	if merged := show(first); !near(merged, got) {
		t.Errorf("%s: whole %s, merged %s", name, got, merged)
	}
	return got
}

func near(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return a == b || err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-9*math.Abs(y)
}

func TestAggregates(t *testing.T) {
	pay := column.FromValues(tInt, 100, 200, 150, nil, 150, 100)
	score := column.FromValues(tDouble, 1.5, nil, 2.5, 3.5, 0.5, 1.5)
	names := column.FromValues(tString, "ann", "bob", "cid", nil, "eve", "ann")
	flag := column.FromValues(tBool, true, false, true, nil, true, false)
	id := column.FromValues(tInt, 1, 2, 3, 4, 5, 6)
	half := column.Constant(tDouble, 6, 0.5)
	f := func(want, name string, cols ...*column.Vector) {
		t.Helper()
		consts := map[int]*column.Vector{}
		for i, c := range cols {
			if c.Const {
				consts[i] = c
			}
		}
		if got := aggregateOf(t, name, consts, cols...); !near(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	f("5", "count", pay)
	f("700", "sum", pay)
	f("140.0", "avg", pay)
	f("100", "min", pay)
	f("200", "max", pay)
	f("eve", "max", names)
	f("true", "bool_or", flag)
	f("false", "every", flag)
	f("3", "count_if", flag)
	f("bob", "max_by", names, pay)
	f("ann", "first", names)
	f("ann", "last", names)
	f("[100, 200, 150, 150, 100]", "collect_list", pay)
	f("[100, 200, 150]", "collect_set", pay)
	f("150.0", "percentile", pay, half)
	f("1.5", "median", score)
	f("150", "percentile_approx", pay, half)
	f("100", "mode", pay)
	f("ann,bob,cid,eve,ann", "listagg", names, column.Constant(tString, 6, ","))
	f("3", "approx_count_distinct", pay)
	f("4", "regr_count", pay, score)
	f("125.0", "regr_intercept", pay, score)
	f("0.0", "corr", pay, score)
	f("!DIVIDE_BY_ZERO", "corr", column.FromValues(tDouble, 1.0, 2.0), column.FromValues(tDouble, 3.0, 3.0))
	f("null", "corr", column.FromValues(tDouble, 1.0), column.FromValues(tDouble, 3.0))
	f("0.27154541788", "skewness", score)
	f("-1.0443786982", "kurtosis", score)
	f("9.5", "avg", column.FromValues(tDouble, 9.0, 10.0))
	f("7", "bit_or", id)
	f("[bob, cid]", "max_by", names, pay, column.Constant(tInt, 6, 2))
	f("!ARITHMETIC_OVERFLOW", "sum", column.FromValues(tBigint, int64(1)<<62, int64(1)<<62))
	f("null", "try_sum", column.FromValues(tBigint, int64(1)<<62, int64(1)<<62))
	f("9223372036854775807", "sum", column.FromValues(tBigint, int64(1<<63-1), 1, -1))
	f("3.00", "sum", column.FromValues(schema.DecimalOf(5, 2), 123, 177))
	f("1.500000", "avg", column.FromValues(schema.DecimalOf(5, 2), 123, 177))
	f("null", "sum", column.FromValues(tInt, nil, nil))
	f("!DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "percentile", pay, column.Constant(tDouble, 6, 1.5))
}
