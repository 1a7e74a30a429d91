package funcs

import (
	"slices"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var collectAggregates = slices.Concat(collecting(true), collecting(false))

// respecting is what the names of the aggregates that keep nulls begin with:
// no name in SQL does.
const respecting = ":"

// RespectingNulls returns the aggregate that name(...) RESPECT NULLS is, or nil
// when the nulls of the function's rows make no difference.
func RespectingNulls(name string) *Aggregate { return LookupAggregate(respecting + name) }

// collecting makes the aggregates that gather arrays: those that leave nulls
// out, which is the rule, or those that keep them.
func collecting(skip bool) []*Aggregate {
	prefix := ""
	if !skip {
		prefix = respecting
	}
	return []*Aggregate{
		aggregate(prefix+"collect_list", "collect_list(expr)", "Array of the values that are not null; with RESPECT NULLS of all.", aggSpec{
			sig: signature{params: []param{pAny}}, build: collect{name: "collect_list", skip: skip}.build,
		}).alias(prefix + "array_agg").ordered(),
		aggregate(prefix+"collect_set", "collect_set(expr)", "Array of the distinct values that are not null; with RESPECT NULLS a null too.", aggSpec{
			sig: signature{params: []param{pAny}, check: noMaps("collect_set")}, build: collect{name: "collect_set", distinct: true, skip: skip}.build,
		}).ordered().anyOrder(),
		aggregate(prefix+"collect_union", "collect_union(array)", "Array of the distinct elements of the arrays that are not null; with RESPECT NULLS a null too.", aggSpec{
			sig: signature{params: []param{pArray}, check: noMaps("collect_union")}, build: collect{name: "collect_union", distinct: true, elements: true, skip: skip}.build,
		}).ordered().anyOrder(),
	}
}

func noMaps(name string) func(*Session, string, []Arg) error {
	return func(_ *Session, call string, args []Arg) error {
		if typeHolds(args[0].Type, schema.Map) {
			return errMismatch("UNSUPPORTED_INPUT_TYPE", call, "The input of `"+name+"` can't be \"MAP\" type data.", map[string]string{"functionName": "`" + name + "`", "dataType": `"MAP"`})
		}
		return nil
	}
}

// collect is what is gathered: the values or the elements of the arrays that
// the values are, all or the distinct ones, with nulls or without.
type collect struct {
	name                     string
	distinct, elements, skip bool
}

func (k collect) build(_ *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
	t, nulls := types[0], args[0].Nullable
	if k.elements {
		t, nulls = *t.Elem, t.ElemNullable
	}
	b := collector(schema.ArrayOf(t, nulls && !k.skip), []int{0}, []schema.Type{t}, func(_ *Ctx, st *States, g int32, out *vector) {
		if k.distinct {
			v, rows := distinctRows(st.Lists[0], g)
			column.AppendRows(out.Children[0], v, rows)
		} else {
			st.Lists[0].Each(g, func(v *vector, r int) { column.AppendRow(out.Children[0], v, r) })
		}
		out.EndList()
	})
	b.Nullable = false
	if k.elements || !k.skip {
		b.Update = k.update
	}
	if !k.skip {
		b.Print = func(texts []string, distinct bool) string {
			word := ""
			if distinct {
				word = "DISTINCT "
			}
			return k.name + "(" + word + strings.Join(texts, ", ") + ") RESPECT NULLS"
		}
	}
	return b, nil
}

func (k collect) update(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
	v := vs[0]
	for i, r := range rows {
		if !k.elements {
			st.Lists[0].Add(groups[i], v, int(r))
			continue
		}
		if v.IsNull(int(r)) {
			continue
		}
		elements := v.Children[0]
		from, to := v.List(int(r))
		for e := from; e < to; e++ {
			if !k.skip || !elements.IsNull(e) {
				st.Lists[0].Add(groups[i], elements, e)
			}
		}
	}
}

// distinctRows returns the rows of a group's list that differ, in order.
func distinctRows(l *ListColumn, g int32) (*vector, []int32) {
	v, rows := l.Rows(g, nil)
	seen := map[uint64][]int32{}
	out := rows[:0]
	for _, r := range rows {
		h := column.HashRow(v, int(r), 0)
		twice := false
		for _, o := range seen[h] {
			twice = twice || column.Equal(v, int(o), v, int(r))
		}
		if !twice {
			seen[h] = append(seen[h], r)
			out = append(out, r)
		}
	}
	return v, out
}
