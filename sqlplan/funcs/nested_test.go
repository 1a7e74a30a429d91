package funcs

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Functions of arrays and maps against obvious references over Go values, on
// random rows: all rows, a selection of them, and a constant argument.

var (
	tInts   = schema.ArrayOf(tInt, true)
	tMapInt = schema.MapOf(tString, tInt, true)
)

// randomValue makes a value as column.At gives it.
func randomValue(r *rand.Rand, t schema.Type, nulls bool) any {
	if nulls && r.IntN(6) == 0 {
		return nil
	}
	switch t.Kind {
	case schema.Int32:
		return int32(r.IntN(7) - 2)
	case schema.Boolean:
		return r.IntN(2) == 0
	case schema.String:
		return string(rune('a' + r.IntN(5)))
	case schema.Array:
		n := r.IntN(5)
		if r.IntN(12) == 0 {
			n = 30
		}
		out := make([]any, n)
		for i := range out {
			out[i] = randomValue(r, *t.Elem, t.ElemNullable)
		}
		return out
	case schema.Map:
		out, seen := []column.Entry{}, map[any]bool{}
		for range r.IntN(5) {
			k := randomValue(r, *t.Key, false)
			if !seen[k] {
				seen[k] = true
				out = append(out, column.Entry{Key: k, Value: randomValue(r, *t.Elem, t.ElemNullable)})
			}
		}
		return out
	}
	panic("no value for " + t.String())
}

type nestedCase struct {
	name  string
	types []schema.Type
	// strict: null when an argument is.
	strict bool
	ref    func(a []any) any
}

func holds(list []any, x any) bool {
	return slices.ContainsFunc(list, func(y any) bool { return reflect.DeepEqual(x, y) })
}

func distinctOf(list []any) []any {
	out := []any{}
	for _, x := range list {
		if !holds(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func keep(list []any, f func(x any) bool) []any {
	out := []any{}
	for _, x := range list {
		if f(x) {
			out = append(out, x)
		}
	}
	return out
}

func compareAny(x, y any) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return -1
	case y == nil:
		return 1
	}
	return int(x.(int32) - y.(int32))
}

//tidy:allow-long one flat table
var nestedCases = []nestedCase{
	{"array_distinct", []schema.Type{tInts}, true, func(a []any) any { return distinctOf(a[0].([]any)) }},
	{"array_union", []schema.Type{tInts, tInts}, true, func(a []any) any { return distinctOf(append(slices.Clone(a[0].([]any)), a[1].([]any)...)) }},
	{"array_intersect", []schema.Type{tInts, tInts}, true, func(a []any) any {
		return distinctOf(keep(a[0].([]any), func(x any) bool { return holds(a[1].([]any), x) }))
	}},
	{"array_except", []schema.Type{tInts, tInts}, true, func(a []any) any {
		return distinctOf(keep(a[0].([]any), func(x any) bool { return !holds(a[1].([]any), x) }))
	}},
	{"arrays_overlap", []schema.Type{tInts, tInts}, true, func(a []any) any {
		l, r := a[0].([]any), a[1].([]any)
		for _, x := range l {
			if x != nil && holds(r, x) {
				return true
			}
		}
		if len(l) > 0 && len(r) > 0 && (holds(l, nil) || holds(r, nil)) {
			return nil
		}
		return false
	}},
	{"array_contains", []schema.Type{tInts, tInt}, true, func(a []any) any {
		switch l := a[0].([]any); {
		case holds(l, a[1]):
			return true
		case holds(l, nil):
			return nil
		}
		return false
	}},
	{"array_position", []schema.Type{tInts, tInt}, true, func(a []any) any {
		return int64(slices.IndexFunc(a[0].([]any), func(x any) bool { return x == a[1] }) + 1)
	}},
	{"array_remove", []schema.Type{tInts, tInt}, true, func(a []any) any { return keep(a[0].([]any), func(x any) bool { return x != a[1] }) }},
	{"array_compact", []schema.Type{tInts}, true, func(a []any) any { return keep(a[0].([]any), func(x any) bool { return x != nil }) }},
	{"array_append", []schema.Type{tInts, tInt}, false, func(a []any) any {
		if a[0] == nil {
			return nil
		}
		return append(slices.Clone(a[0].([]any)), a[1])
	}},
	{"array_prepend", []schema.Type{tInts, tInt}, false, func(a []any) any {
		if a[0] == nil {
			return nil
		}
		return append([]any{a[1]}, a[0].([]any)...)
	}},
	{"array_min", []schema.Type{tInts}, true, func(a []any) any {
		l := keep(a[0].([]any), func(x any) bool { return x != nil })
		if len(l) == 0 {
			return nil
		}
		return slices.MinFunc(l, compareAny)
	}},
	{"array_max", []schema.Type{tInts}, true, func(a []any) any {
		l := a[0].([]any)
		if len(l) == 0 {
			return nil
		}
		return slices.MaxFunc(l, compareAny)
	}},
	{"sort_array", []schema.Type{tInts, tBool}, true, func(a []any) any {
		l := slices.Clone(a[0].([]any))
		slices.SortFunc(l, compareAny)
		if !a[1].(bool) {
			slices.Reverse(l)
		}
		return l
	}},
	{"slice", []schema.Type{tInts, tInt, tInt}, true, func(a []any) any {
		l, start, n := a[0].([]any), int(a[1].(int32)), int(a[2].(int32))
		if start == 0 || n < 0 {
			return "error"
		}
		if start < 0 {
			start += len(l) + 1
		}
		if start < 1 || start > len(l) {
			return []any{}
		}
		return l[start-1 : min(start-1+n, len(l))]
	}},
	{"array_insert", []schema.Type{tInts, tInt, tInt}, false, func(a []any) any {
		if a[0] == nil || a[1] == nil {
			return nil
		}
		l, pos := slices.Clone(a[0].([]any)), int(a[1].(int32))
		switch {
		case pos == 0:
			return "error"
		case pos > 0:
			for len(l) < pos-1 {
				l = append(l, nil)
			}
			return slices.Insert(l, pos-1, a[2])
		}
		slices.Reverse(l)
		for len(l) < -pos-1 {
			l = append(l, nil)
		}
		l = slices.Insert(l, -pos-1, a[2])
		slices.Reverse(l)
		return l
	}},
	{"array_repeat", []schema.Type{tInt, tInt}, false, func(a []any) any {
		if a[1] == nil {
			return nil
		}
		out := []any{}
		for range a[1].(int32) {
			out = append(out, a[0])
		}
		return out
	}},
	{"sequence", []schema.Type{tInt, tInt}, true, func(a []any) any {
		out := []any{}
		from, to := a[0].(int32), a[1].(int32)
		for x := from; x <= to; x++ {
			out = append(out, x)
		}
		for x := from; from > to && x >= to; x-- {
			out = append(out, x)
		}
		return out
	}},
	{"arrays_zip", []schema.Type{tInts, tInts}, true, func(a []any) any {
		l, r := a[0].([]any), a[1].([]any)
		out := []any{}
		for i := range max(len(l), len(r)) {
			pair := []any{nil, nil}
			if i < len(l) {
				pair[0] = l[i]
			}
			if i < len(r) {
				pair[1] = r[i]
			}
			out = append(out, pair)
		}
		return out
	}},
	{"map_keys", []schema.Type{tMapInt}, true, func(a []any) any {
		out := []any{}
		for _, e := range a[0].([]column.Entry) {
			out = append(out, e.Key)
		}
		return out
	}},
	{"map_contains_key", []schema.Type{tMapInt, tString}, true, func(a []any) any {
		return slices.ContainsFunc(a[0].([]column.Entry), func(e column.Entry) bool { return e.Key == a[1] })
	}},
	{"map_concat", []schema.Type{tMapInt, tMapInt}, true, func(a []any) any {
		out := slices.Clone(a[0].([]column.Entry))
		for _, e := range a[1].([]column.Entry) {
			if slices.ContainsFunc(out, func(x column.Entry) bool { return x.Key == e.Key }) {
				return "error"
			}
			out = append(out, e)
		}
		return out
	}},
}

// call binds a function over arguments of the types and runs its kernel.
func call(t *testing.T, name string, types []schema.Type, args []*vector, rows int, sel []int32, lambda func(int, []*vector, []int32) *vector, lambdas map[int]*LambdaArg) *vector {
	t.Helper()
	list := make([]Arg, len(types))
	for i, ty := range types {
		list[i] = Arg{Type: ty, Nullable: true, Text: fmt.Sprintf("a%d", i), Lambda: lambdas[i]}
	}
	s := &Session{ANSI: true}
	b, err := Lookup(name).Bind(s, list)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := &Ctx{Rows: rows, Sel: sel, Session: s, Pool: column.NewPool(), Lambda: lambda}
	out := c.Pool.Vector(b.Result)
	for round := range 2 { // the second run finds the scratch of the first
		if round > 0 {
			out.Release()
			out = c.Pool.Vector(b.Result)
		}
		out.Resize(rows)
		if b.Nulls == NullIfAny {
			for i := range rows {
				for _, v := range args {
					if v != nil && v.IsNull(i) {
						out.SetNull(i)
					}
				}
			}
		}
		before, _ := c.Pool.Live()
		b.Kernel(c, args, out)
		if after, _ := c.Pool.Live(); after != before {
			t.Fatalf("%s keeps %d vectors", name, after-before)
		}
	}
	if out.Len != rows {
		t.Fatalf("%s made %d rows of %d", name, out.Len, rows)
	}
	return out
}

func valueOf(out *vector, i int) any {
	if out.Errs.At(i) != nil {
		return "error"
	}
	return column.At(out, i)
}

func TestNested(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for _, tc := range nestedCases {
		for round := range 6 {
			rows := 1 + r.IntN(100)
			args := make([]*vector, len(tc.types))
			for k, ty := range tc.types {
				v := column.New(ty)
				n := rows
				constant := round%3 == 2 && k == round/3%len(tc.types) && len(tc.types) > 1
				if constant {
					n = 1
				}
				for range n {
					column.AppendValue(v, randomValue(r, ty, true))
				}
				if constant {
					v.SetConst(rows)
				}
				args[k] = v
			}
			var sel []int32
			if round%2 == 1 {
				for i := range rows {
					if r.IntN(2) == 0 {
						sel = append(sel, int32(i))
					}
				}
				if sel == nil {
					sel = []int32{}
				}
			}
			out := call(t, tc.name, tc.types, args, rows, sel, nil, nil)
			check := func(i int) {
				vals := make([]any, len(args))
				null := false
				for k, v := range args {
					vals[k] = column.At(v, v.Row(i))
					null = null || vals[k] == nil
				}
				var want any
				if !tc.strict || !null {
					want = tc.ref(vals)
				}
				if got := valueOf(out, i); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s%v\n got %v\nwant %v", tc.name, vals, got, want)
				}
			}
			c := &Ctx{Rows: rows, Sel: sel}
			c.Each(check)
		}
	}
}

// intLambda is a lambda of INTs whose body is a Go function; nil is null, and
// the text "error" a failure.
func intLambda(result schema.Type, f func(p []any, outer int32) any) (func(int, []*vector, []int32) *vector, *LambdaArg) {
	run := func(_ int, params []*vector, outer []int32) *vector {
		out := column.New(result)
		for k := range outer {
			vals := make([]any, len(params))
			for p, v := range params {
				vals[p] = column.At(v, k)
			}
			x := f(vals, outer[k])
			if x == "error" {
				out.AppendNull()
				out.Fail(k, NewError("DIVIDE_BY_ZERO", "test", nil))
				continue
			}
			column.AppendValue(out, x)
		}
		return out
	}
	return run, &LambdaArg{Bind: func([]schema.Field) (schema.Field, error) {
		return schema.Field{Type: result, Nullable: true}, nil
	}}
}

// TestPools checks that kernels give back what they took.
func TestPools(t *testing.T) {
	texts := func(list ...any) *vector { return column.FromValues(tString, list...) }
	variants := call(t, "parse_json", []schema.Type{tString}, []*vector{texts(`{"a":[1,"2",null,1.5]}`, `{"a":{"b":1}}`, nil, `[]`)}, 4, nil, nil, nil)
	paths := texts("$.a", "$.a", "$", "$[0]")
	for _, to := range []schema.Type{tString, tInt, schema.ArrayOf(tInt, true), schema.MapOf(tString, tDouble, true), schema.StructOf(schema.Field{Name: "a", Type: tString, Nullable: true}), tVariant} {
		k := variantGetter{to, "variant_get", false}.kernel
		c := &Ctx{Rows: 4, Session: &Session{ANSI: true}, Pool: column.NewPool()}
		out := c.Pool.Vector(to)
		before, _ := c.Pool.Live()
		k(c, []*vector{variants, paths}, out)
		if after, _ := c.Pool.Live(); after != before {
			t.Errorf("variant_get as %s keeps %d vectors", to.SQL(), after-before)
		}
		out.Release()
		if left, _ := c.Pool.Live(); left != 0 {
			t.Errorf("variant_get as %s: %d vectors are left", to.SQL(), left)
		}
	}
	for _, sel := range [][]int32{nil, {1, 3}} {
		call(t, "is_variant_null", []schema.Type{tVariant}, []*vector{variants}, 4, sel, nil, nil)
		call(t, "schema_of_variant", []schema.Type{tVariant}, []*vector{variants}, 4, sel, nil, nil)
		call(t, "to_json", []schema.Type{tVariant}, []*vector{variants}, 4, sel, nil, nil)
		call(t, "get_json_object", []schema.Type{tString, tString}, []*vector{texts(`{"a":1}`, "x", nil, `{"a":[2]}`), paths}, 4, sel, nil, nil)
		call(t, "json_object_keys", []schema.Type{tString}, []*vector{texts(`{"a":1}`, "x", nil, `{"a":[2]}`)}, 4, sel, nil, nil)
		call(t, "str_to_map", []schema.Type{tString}, []*vector{texts("a:1,b", "", nil, "c")}, 4, sel, nil, nil)
	}
}

type lambdaCase struct {
	name   string
	types  []schema.Type
	at     int // the lambda's place
	params int
	result schema.Type
	body   func(p []any, outer int32) any
	ref    func(a []any, call func(p ...any) any) any
}

func mapList(l []any, f func(i int, x any) any) any {
	out := []any{}
	for i, x := range l {
		y := f(i, x)
		if y == "error" {
			return "error"
		}
		out = append(out, y)
	}
	return out
}

// addBody is a body that fails for the element 4 and uses the row.
func addBody(p []any, outer int32) any {
	if p[0] == nil {
		return nil
	}
	if p[0] == int32(4) {
		return "error"
	}
	sum := p[0].(int32) + outer
	for _, x := range p[1:] {
		if x != nil {
			sum += x.(int32)
		}
	}
	return sum
}

func positiveBody(p []any, _ int32) any {
	switch {
	case p[0] == nil:
		return nil
	case p[0] == int32(4):
		return "error"
	}
	return p[0].(int32) > 0
}

//tidy:allow-long one flat table
var lambdaCases = []lambdaCase{
	{"transform", []schema.Type{tInts, tVoid}, 1, 1, tInt, addBody, func(a []any, call func(p ...any) any) any {
		return mapList(a[0].([]any), func(_ int, x any) any { return call(x) })
	}},
	{"transform", []schema.Type{tInts, tVoid}, 1, 2, tInt, addBody, func(a []any, call func(p ...any) any) any {
		return mapList(a[0].([]any), func(i int, x any) any { return call(x, int32(i)) })
	}},
	{"filter", []schema.Type{tInts, tVoid}, 1, 1, tBool, positiveBody, func(a []any, call func(p ...any) any) any {
		out := []any{}
		for _, x := range a[0].([]any) {
			switch call(x) {
			case "error":
				return "error"
			case true:
				out = append(out, x)
			}
		}
		return out
	}},
	{"exists", []schema.Type{tInts, tVoid}, 1, 1, tBool, positiveBody, func(a []any, call func(p ...any) any) any {
		var res any = false
		for _, x := range a[0].([]any) {
			switch call(x) {
			case "error":
				return "error"
			case true:
				return true
			case nil:
				res = nil
			}
		}
		return res
	}},
	{"forall", []schema.Type{tInts, tVoid}, 1, 1, tBool, positiveBody, func(a []any, call func(p ...any) any) any {
		var res any = true
		for _, x := range a[0].([]any) {
			switch call(x) {
			case "error":
				return "error"
			case false:
				return false
			case nil:
				res = nil
			}
		}
		return res
	}},
	{"aggregate", []schema.Type{tInts, tInt, tVoid}, 2, 2, tInt, addBody, func(a []any, call func(p ...any) any) any {
		acc := a[1]
		failed := false
		for _, x := range a[0].([]any) {
			if failed {
				continue
			}
			if acc = call(acc, x); acc == "error" {
				failed = true
			}
		}
		return acc
	}},
	{"zip_with", []schema.Type{tInts, tInts, tVoid}, 2, 2, tInt, addBody, func(a []any, call func(p ...any) any) any {
		l, r := a[0].([]any), a[1].([]any)
		at := func(l []any, i int) any {
			if i < len(l) {
				return l[i]
			}
			return nil
		}
		return mapList(make([]any, max(len(l), len(r))), func(i int, _ any) any { return call(at(l, i), at(r, i)) })
	}},
	{"array_sort", []schema.Type{tInts, tVoid}, 1, 2, tInt, func(p []any, _ int32) any { return int32(compareAny(p[1], p[0])) }, func(a []any, _ func(p ...any) any) any {
		l := slices.Clone(a[0].([]any))
		slices.SortStableFunc(l, func(x, y any) int { return compareAny(y, x) })
		return l
	}},
	{"transform_values", []schema.Type{tMapInt, tVoid}, 1, 2, tInt, func(p []any, outer int32) any { return addBody(p[1:], outer) }, func(a []any, call func(p ...any) any) any {
		out := []column.Entry{}
		for _, e := range a[0].([]column.Entry) {
			v := call(e.Key, e.Value)
			if v == "error" {
				return "error"
			}
			out = append(out, column.Entry{Key: e.Key, Value: v})
		}
		return out
	}},
	{"transform_keys", []schema.Type{tMapInt, tVoid}, 1, 2, tInt, func(p []any, outer int32) any { return addBody(p[1:], outer) }, func(a []any, call func(p ...any) any) any {
		out := []column.Entry{}
		for _, e := range a[0].([]column.Entry) {
			k := call(e.Key, e.Value)
			if k == "error" || k == nil || slices.ContainsFunc(out, func(x column.Entry) bool { return x.Key == k }) {
				return "error"
			}
			out = append(out, column.Entry{Key: k, Value: e.Value})
		}
		return out
	}},
	{"map_filter", []schema.Type{tMapInt, tVoid}, 1, 2, tBool, func(p []any, outer int32) any { return positiveBody(p[1:], outer) }, func(a []any, call func(p ...any) any) any {
		out := []column.Entry{}
		for _, e := range a[0].([]column.Entry) {
			switch call(e.Key, e.Value) {
			case "error":
				return "error"
			case true:
				out = append(out, e)
			}
		}
		return out
	}},
	{"map_zip_with", []schema.Type{tMapInt, tMapInt, tVoid}, 2, 3, tInt, func(p []any, outer int32) any { return addBody(p[1:], outer) }, func(a []any, call func(p ...any) any) any {
		l, r := a[0].([]column.Entry), a[1].([]column.Entry)
		find := func(m []column.Entry, k any) (any, bool) {
			for _, e := range m {
				if e.Key == k {
					return e.Value, true
				}
			}
			return nil, false
		}
		out := []column.Entry{}
		for _, e := range append(slices.Clone(l), r...) {
			if _, seen := find(out, e.Key); seen {
				continue
			}
			x, _ := find(l, e.Key)
			y, _ := find(r, e.Key)
			v := call(e.Key, x, y)
			if v == "error" {
				return "error"
			}
			out = append(out, column.Entry{Key: e.Key, Value: v})
		}
		return out
	}},
}

func TestLambdas(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	for _, tc := range lambdaCases {
		for round := range 6 {
			rows := 1 + r.IntN(80)
			args := make([]*vector, len(tc.types))
			for k, ty := range tc.types {
				if k == tc.at {
					continue
				}
				args[k] = column.New(ty)
				for range rows {
					column.AppendValue(args[k], randomValue(r, ty, round > 1))
				}
			}
			var sel []int32
			if round%2 == 1 {
				sel = []int32{}
				for i := range rows {
					if r.IntN(2) == 0 {
						sel = append(sel, int32(i))
					}
				}
			}
			run, la := intLambda(tc.result, tc.body)
			la.Params = tc.params
			out := call(t, tc.name, tc.types, args, rows, sel, run, map[int]*LambdaArg{tc.at: la})
			c := &Ctx{Rows: rows, Sel: sel}
			c.Each(func(i int) {
				vals := make([]any, len(args))
				null := false
				for k, v := range args {
					if v != nil {
						vals[k] = column.At(v, i)
						null = null || vals[k] == nil && v.Type.Kind != schema.Int32
					}
				}
				var want any
				if !null {
					want = tc.ref(vals, func(p ...any) any { return tc.body(p, int32(i)) })
				}
				if got := valueOf(out, i); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s row %d %v\n got %v\nwant %v", tc.name, i, vals, got, want)
				}
			})
		}
	}
}
