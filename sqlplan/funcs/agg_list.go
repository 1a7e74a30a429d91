package funcs

import (
	"math"
	"sort"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// listState keeps all values of a group that are not null in argument 0, with
// the other arguments beside them when cols has more than one type.
func listState(types ...schema.Type) []StateColumn {
	out := make([]StateColumn, len(types))
	for i, t := range types {
		out[i] = StateColumn{Name: "values" + intLiteral(int64(i), tInt), Type: t, Form: StateList}
	}
	return out
}

// collector is a bound aggregate that keeps the rows whose first argument is
// not null, all given arguments.
func collector(result schema.Type, cols []int, types []schema.Type, finish func(c *Ctx, st *States, g int32, out *vector)) *BoundAggregate {
	kept := make([]schema.Type, len(cols))
	for i, k := range cols {
		kept[i] = types[k]
	}
	return &BoundAggregate{
		Result: result, Nullable: true, State: listState(kept...),
		Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			for k, r := range rows {
				if vs[cols[0]].IsNull(int(r)) {
					continue
				}
				for i, a := range cols {
					st.Lists[i].Add(groups[k], vs[a], int(r))
				}
			}
		},
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			for k, r := range rows {
				for i := range cols {
					other.Lists[i].Each(r, func(v *vector, at int) { st.Lists[i].Add(groups[k], v, at) })
				}
			}
		},
		Finish: func(c *Ctx, st *States, groups []int32, out *vector) {
			for _, g := range groups {
				finish(c, st, g, out)
			}
		},
	}
}

var listAggregates = []*Aggregate{
	byAggregate("max_by", 1), byAggregate("min_by", -1),
	aggregate("percentile", "percentile(col, percentage[, frequency])", "Exact percentile, interpolated between values.", aggSpec{
		sig: signature{params: []param{pPercentiled, pAny, pBigint}, min: 2}, build: buildPercentile,
	}),
	aggregate("percentile_cont", "percentile_cont(percentage) WITHIN GROUP (ORDER BY col)", "Exact percentile, interpolated between values.", aggSpec{
		sig: signature{params: []param{pPercentiled, pAny, pAny}, min: 2},
		build: func(s *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
			return buildOrderedPercentile("percentile_cont", args, types, false)
		},
	}),
	aggregate("percentile_disc", "percentile_disc(percentage) WITHIN GROUP (ORDER BY col)", "The first value whose share reaches the percentage.", aggSpec{
		sig: signature{params: []param{pPercentiled, pAny, pAny}, min: 2},
		build: func(s *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
			return buildOrderedPercentile("percentile_disc", args, types, true)
		},
	}),
	aggregate("median", "median(col)", "The middle value.", aggSpec{
		sig: signature{params: []param{pPercentiled}},
		build: func(_ *Session, _ []Arg, types []schema.Type) (*BoundAggregate, error) {
			return percentileOf(types, []int{0}, percentSpec{points: []float64{0.5}, result: percentileType(types[0])}), nil
		},
	}),
	aggregate("percentile_approx", "percentile_approx(col, percentage[, accuracy])", "A value of the column near the percentile (here: the exact one).", aggSpec{
		sig: signature{params: []param{pRanked, pAny, pBigint}, min: 2}, build: buildApproxPercentile,
	}).alias("approx_percentile"),
	aggregate("mode", "mode(col[, deterministic])", "The most frequent value.", aggSpec{
		sig: signature{params: []param{pAny, pBool, pBool}, min: 1, check: checkMode}, build: buildMode,
	}),
	aggregate("listagg", "listagg(expr[, delimiter]) [WITHIN GROUP (ORDER BY key)]", "The strings joined by a delimiter.", aggSpec{
		sig: signature{params: []param{pText, pAny}, variadic: true, min: 1}, build: buildListAgg,
	}).alias("string_agg").ordered(),
}

func byAggregate(name string, sign int) *Aggregate {
	return aggregate(name, name+"(x, y[, k])", "Value of x where y is extreme; with k an array of the first k.", aggSpec{
		sig: signature{params: []param{pAny, pAny, pInt}, min: 2, check: func(_ *Session, call string, args []Arg) error {
			if !Orderable(args[1].Type) {
				return errOrdering(name, call, args[1].Type)
			}
			return nil
		}},
		build: func(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
			if len(args) == 3 {
				k, ok := constInt(args[2])
				if !ok {
					return nil, errNotFoldable(callText(name, args), "k", tInt, args[2])
				}
				if k < 1 || k > 100_000 {
					return nil, errValueRange(callText(name, args), "k", "[1, 100000]", intLiteral(k, tInt))
				}
				return topBy(types, sign, int(k)), nil
			}
			return extremeBy(types, sign), nil
		},
	}).ordered()
}

func extremeBy(types []schema.Type, sign int) *BoundAggregate {
	take := func(st *States, g int32, xs *vector, x int, ys *vector, y int) {
		cur, at := st.Values[1].Value(g)
		if at >= 0 && column.Compare(ys, y, cur, at)*sign < 0 {
			return
		}
		if at >= 0 && column.Compare(ys, y, cur, at) == 0 && sign < 0 {
			return
		}
		st.Values[1].Set(g, ys, y)
		if x < 0 {
			st.Values[0].SetNull(g)
		} else {
			st.Values[0].Set(g, xs, x)
		}
	}
	return &BoundAggregate{
		Result: types[0], Nullable: true,
		State: []StateColumn{{"value", types[0], StateValue}, {"key", types[1], StateValue}},
		Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			for k, r := range rows {
				if !vs[1].IsNull(int(r)) {
					take(st, groups[k], vs[0], int(r), vs[1], int(r))
				}
			}
		},
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			for k, r := range rows {
				ys, y := other.Values[1].Value(r)
				if y >= 0 {
					xs, x := other.Values[0].Value(r)
					take(st, groups[k], xs, x, ys, y)
				}
			}
		},
		Finish: finishValue(0),
	}
}

func topBy(types []schema.Type, sign, k int) *BoundAggregate {
	return collector(schema.ArrayOf(types[0], true), []int{1, 0}, types, func(_ *Ctx, st *States, g int32, out *vector) {
		ys, rows := st.Lists[0].Rows(g, nil)
		xs, xrows := st.Lists[1].Rows(g, nil)
		if len(rows) == 0 {
			out.AppendNull()
			return
		}
		order := make([]int, len(rows))
		for i := range order {
			order[i] = i
		}
		sort.SliceStable(order, func(a, b int) bool {
			return column.Compare(ys, int(rows[order[a]]), ys, int(rows[order[b]]))*sign > 0
		})
		for _, o := range order[:min(k, len(order))] {
			column.AppendRow(out.Children[0], xs, int(xrows[o]))
		}
		out.EndList()
	})
}

// pRanked takes dates and times too.
var pRanked = param{`("NUMERIC" or "DATE" or "TIMESTAMP" or "ANSI INTERVAL")`, func(s *Session, t schema.Type) (schema.Type, bool) {
	if isTemporal(t) {
		return t, true
	}
	return pSummable.take(s, t)
}}

// pPercentiled takes numbers and intervals; numbers that are no interval count
// as DOUBLE in the result.
var pPercentiled = param{`("NUMERIC" or "ANSI INTERVAL")`, pSummable.take}

// percentSpec is what a percentile computes.
type percentSpec struct {
	points     []float64
	array      bool
	result     schema.Type
	pick       bool // a value itself instead of an interpolation
	descending bool
	freq       bool // the second kept column counts the first
	nearest    bool // percentile_approx: the value at ceil(p * n)
}

// percentileType is the result for values of t: an interval has all fields.
func percentileType(t schema.Type) schema.Type {
	if t.Kind == schema.YearMonthInterval || t.Kind == schema.DayTimeInterval {
		return typ(t.Kind)
	}
	return tDouble
}

// points reads the constant percentage, a number or an array of numbers.
func points(name string, args []Arg, k int) (out []float64, array bool, err error) {
	a := args[k]
	call := callText(name, args)
	if a.Const == nil {
		return nil, false, errNotFoldable(call, "percentage", tDouble, a)
	}
	v, from, to := a.Const, 0, 1
	if a.Type.Kind == schema.Array {
		array = true
		if a.Const.IsNull(0) {
			return nil, true, errMismatch("UNEXPECTED_NULL", call, "The `percentage` must not be null.", map[string]string{"exprName": "`percentage`"})
		}
		from, to = v.List(0)
		v = v.Children[0]
	}
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			return nil, array, errMismatch("UNEXPECTED_NULL", call, "The `percentage` must not be null.", map[string]string{"exprName": "`percentage`"})
		}
		var p float64
		switch r := v.Row(i); v.Type.Kind {
		case schema.String:
			p, _ = text.ParseDouble(v.Str(i))
		case schema.Float32:
			p = float64(v.F32[r])
		default:
			if !v.Type.IsNumeric() {
				return nil, array, errInputType(call, k, `"DOUBLE"`, a)
			}
			p = numberAt(v, r)
		}
		if !(p >= 0 && p <= 1) {
			return nil, array, errValueRange(call, "percentage", "[0.0, 1.0]", a.Text)
		}
		out = append(out, p)
	}
	return out, array, nil
}

func buildPercentile(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
	p, array, err := points("percentile", args, 1)
	if err != nil {
		return nil, err
	}
	spec := percentSpec{points: p, array: array, result: percentileType(types[0]), freq: len(args) == 3}
	cols := []int{0}
	if spec.freq {
		cols = append(cols, 2)
	}
	return percentileOf(types, cols, spec), nil
}

func buildOrderedPercentile(name string, args []Arg, types []schema.Type, pick bool) (*BoundAggregate, error) {
	p, array, err := points(name, args, 1)
	if err != nil {
		return nil, err
	}
	spec := percentSpec{points: p, array: array, result: percentileType(types[0]), pick: pick}
	spec.descending = len(args) == 3 // only the binder gives it
	return percentileOf(types, []int{0}, spec), nil
}

func buildApproxPercentile(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
	p, array, err := points("percentile_approx", args, 1)
	if err != nil {
		return nil, err
	}
	if len(args) == 3 {
		n, ok := constInt(args[2])
		if !ok {
			return nil, errNotFoldable(callText("percentile_approx", args), "accuracy", tBigint, args[2])
		}
		if n < 1 || n > math.MaxInt32 {
			return nil, errValueRange(callText("percentile_approx", args), "accuracy", "(0, 2147483647]", intLiteral(n, tBigint))
		}
	}
	return percentileOf(types, []int{0}, percentSpec{points: p, array: array, result: types[0], nearest: true}), nil
}

func percentileOf(types []schema.Type, cols []int, spec percentSpec) *BoundAggregate {
	result := spec.result
	if spec.array {
		result = schema.ArrayOf(spec.result, false)
	}
	return collector(result, cols, types, func(c *Ctx, st *States, g int32, out *vector) {
		v, rows := st.Lists[0].Rows(g, nil)
		if spec.freq {
			rows = repeated(rows, st.Lists[1], g)
		}
		if len(rows) == 0 {
			out.AppendNull()
			return
		}
		sort.SliceStable(rows, func(a, b int) bool {
			d := column.Compare(v, int(rows[a]), v, int(rows[b]))
			return d < 0 != spec.descending && d != 0
		})
		if !spec.array {
			appendPercentile(out, v, rows, spec.points[0], spec)
			return
		}
		for _, p := range spec.points {
			appendPercentile(out.Children[0], v, rows, p, spec)
		}
		out.EndList()
	})
}

// repeated repeats each row as often as its frequency says.
func repeated(rows []int32, freq *ListColumn, g int32) []int32 {
	n, frows := freq.Rows(g, nil)
	var out []int32
	for k, r := range rows {
		if !n.IsNull(int(frows[k])) {
			for range n.I64[frows[k]] {
				out = append(out, r)
			}
		}
	}
	return out
}

func appendPercentile(out, v *vector, rows []int32, p float64, spec percentSpec) {
	n := float64(len(rows))
	switch {
	case spec.nearest, spec.pick:
		at := int(math.Ceil(p*n)) - 1
		r := int(rows[max(at, 0)])
		if out.Type.Kind == schema.Float64 && v.Type.Kind != schema.Float64 {
			out.F64 = append(out.F64, anyNumber(v, r))
			out.Len++
			return
		}
		column.AppendRow(out, v, r)
		return
	}
	pos := p * (n - 1)
	lo, hi := math.Floor(pos), math.Ceil(pos)
	a, b := anyNumber(v, int(rows[int(lo)])), anyNumber(v, int(rows[int(hi)]))
	x := a
	if lo != hi && a != b {
		x = (hi-pos)*a + (pos-lo)*b
	}
	if out.Type.Kind == schema.Float64 {
		out.F64 = append(out.F64, x)
		out.Len++
		return
	}
	column.AppendValue(out, int64(x))
}

func anyNumber(v *vector, r int) float64 {
	switch v.Type.Kind {
	case schema.Float32:
		return float64(v.F32[r])
	case schema.Float64:
		return v.F64[r]
	}
	return numberAt(v, r)
}

// buildMode counts the values when the group is finished. Ties are settled by
// order: the smallest value, or the greatest when the key is descending (by
// Arg.Order, or by a third argument that only the binder gives).
func buildListAgg(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
	delimiter := ""
	cols := []int{0}
	var orders []Order
	for k, a := range args[1:] {
		switch {
		case a.Order != nil:
			cols, orders = append(cols, k+1), append(orders, *a.Order)
		case k == 0 && a.Const != nil:
			if !a.Const.IsNull(0) {
				if a.Type.Kind != schema.String && a.Type.Kind != schema.Binary {
					return nil, errInputType(callText("listagg", args), 1, `("STRING" or "BINARY")`, a)
				}
				if (types[0].Kind == schema.Binary) != (a.Type.Kind == schema.Binary) {
					return nil, errDataDiffTypes("listagg", callText("listagg", args), args[:2])
				}
				delimiter = string(a.Const.Str(0))
			}
		default:
			return nil, errNotFoldable(callText("listagg", args), "delimiter", tString, a)
		}
	}
	b := collector(types[0], cols, types, func(_ *Ctx, st *States, g int32, out *vector) {
		v, rows := st.Lists[0].Rows(g, nil)
		if len(rows) == 0 {
			out.AppendNull()
			return
		}
		sortByKeys(st, g, rows, orders)
		for k, r := range rows {
			if k > 0 {
				out.Bytes = append(out.Bytes, delimiter...)
			}
			out.Bytes = append(out.Bytes, v.Str(int(r))...)
		}
		out.Offsets = append(out.Offsets, int32(len(out.Bytes)))
		out.Len++
	})
	return b, nil
}

// sortByKeys sorts rows (of list 0) by the lists behind it.
func sortByKeys(st *States, g int32, rows []int32, orders []Order) {
	if len(orders) == 0 {
		return
	}
	keys := make([]*vector, len(orders))
	at := make([][]int32, len(orders))
	for k := range orders {
		keys[k], at[k] = st.Lists[k+1].Rows(g, nil)
	}
	place := make([]int, len(rows))
	for i := range place {
		place[i] = i
	}
	sort.SliceStable(place, func(a, b int) bool {
		for k, o := range orders {
			x, y := int(at[k][place[a]]), int(at[k][place[b]])
			if d := compareKey(keys[k], x, y, o); d != 0 {
				return d < 0
			}
		}
		return false
	})
	sorted := make([]int32, len(rows))
	for i, p := range place {
		sorted[i] = rows[p]
	}
	copy(rows, sorted)
}

func compareKey(v *vector, x, y int, o Order) int {
	xn, yn := v.IsNull(x), v.IsNull(y)
	if xn != yn {
		if xn == o.NullsLast {
			return 1
		}
		return -1
	}
	d := column.Compare(v, x, v, y)
	if o.Descending {
		return -d
	}
	return d
}
