package funcs

import (
	"sort"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// mostTracked is the greatest maxItemsTracked of approx_top_k.
const mostTracked = 1_000_000

var topAggregates = []*Aggregate{
	aggregate("approx_top_k", "approx_top_k(expr[, k[, maxItemsTracked]])", "The k most frequent values with their counts, which are exact here.", aggSpec{
		sig: signature{params: []param{pAny, pInt, pInt}, min: 1}, build: buildTopK,
	}),
}

// topLimits reads k and maxItemsTracked.
func topLimits(args []Arg) (k int64, tracked int64, err error) {
	out := [2]int64{5, 10_000}
	for i, name := range [...]string{"k", "maxItemsTracked"} {
		if len(args) <= i+1 {
			break
		}
		a := args[i+1]
		if a.Const != nil && a.Const.IsNull(0) {
			return 0, 0, NewError("APPROX_TOP_K_NULL_ARG", "The argument `"+name+"` of `approx_top_k` must not be NULL.", map[string]string{"argName": "`" + name + "`"})
		}
		n, ok := constInt(a)
		if !ok {
			return 0, 0, errMismatch("TYPE_CHECK_FAILURE_WITH_HINT", callText("approx_top_k", args), "`"+name+"` must be a constant integer.", nil)
		}
		if n <= 0 {
			return 0, 0, NewError("APPROX_TOP_K_NON_POSITIVE_ARG", "The argument `"+name+"` of `approx_top_k` must be positive, but it is "+intLiteral(n, tInt)+".", map[string]string{"argName": "`" + name + "`"})
		}
		out[i] = n
	}
	switch {
	case out[1] > mostTracked:
		return 0, 0, NewError("APPROX_TOP_K_MAX_ITEMS_TRACKED_EXCEEDS_LIMIT", "The argument `maxItemsTracked` of `approx_top_k` must be at most "+intLiteral(mostTracked, tInt)+".", nil)
	case out[1] < out[0]:
		return 0, 0, NewError("APPROX_TOP_K_MAX_ITEMS_TRACKED_LESS_THAN_K", "The argument `maxItemsTracked` of `approx_top_k` must be at least `k`.", nil)
	}
	return out[0], out[1], nil
}

func buildTopK(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
	t := types[0]
	if t.IsNested() || t.Kind == schema.Binary || t.Kind == schema.Variant || t.Kind == schema.YearMonthInterval || t.Kind == schema.DayTimeInterval || t.Kind == schema.CalendarInterval {
		return nil, errMismatch("TYPE_CHECK_FAILURE_WITH_HINT", callText("approx_top_k", args), "the type "+quoteType(t)+" is not supported.", nil)
	}
	k, tracked, err := topLimits(args)
	if err != nil {
		return nil, err
	}
	item := schema.StructOf(schema.Field{Name: "item", Type: t, Nullable: true}, schema.Field{Name: "count", Type: tBigint})
	b := collector(schema.ArrayOf(item, false), []int{0}, types, func(_ *Ctx, st *States, g int32, out *vector) {
		v, rows := st.Lists[0].Rows(g, nil)
		topOf(v, rows, int(k), out)
	})
	b.Nullable = false
	b.Update = func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) { // nulls count too
		for i, r := range rows {
			st.Lists[0].Add(groups[i], vs[0], int(r))
		}
	}
	b.Print = func(texts []string, _ bool) string {
		return "approx_top_k(" + texts[0] + ", " + intLiteral(k, tInt) + ", " + intLiteral(tracked, tInt) + ")"
	}
	return b, nil
}

// topOf appends the k most frequent values of rows; of equal counts the
// smaller value comes first.
func topOf(v *vector, rows []int32, k int, out *vector) {
	less := func(a, b int32) bool {
		if x, y := v.IsNull(int(a)), v.IsNull(int(b)); x || y {
			return x && !y
		}
		return column.Compare(v, int(a), v, int(b)) < 0
	}
	sort.SliceStable(rows, func(a, b int) bool { return less(rows[a], rows[b]) })
	type run struct {
		row int32
		n   int64
	}
	var runs []run
	for i, r := range rows {
		if i == 0 || less(rows[i-1], r) {
			runs = append(runs, run{row: r})
		}
		runs[len(runs)-1].n++
	}
	sort.SliceStable(runs, func(a, b int) bool { return runs[a].n > runs[b].n })
	item := out.Children[0]
	for _, r := range runs[:min(k, len(runs))] {
		column.AppendRow(item.Children[0], v, int(r.row))
		column.AppendValue(item.Children[1], r.n)
		item.EndStruct()
	}
	out.EndList()
}
