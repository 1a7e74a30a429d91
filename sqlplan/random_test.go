package sqlplan_test

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// This file makes random queries twice: as SQL text, and as an obvious
// evaluation of one row after another.

// tuple is a row of the reference: nil, int64, bool or string.
type tuple []any

// scalar is an expression over the columns of a source.
type scalar struct {
	sql  string
	eval func(tuple) any
}

// source is a FROM clause with its rows; names are qualified columns.
type source struct {
	sql   string
	names []string
	rows  []tuple
	text  map[int]bool // columns that are text
}

// generator makes queries from a seed.
type generator struct {
	r      *rand.Rand
	tables map[string][]tuple
	// twoValued leaves IN (query) out: as in Spark, its value is false where it
	// is unknown, which shows everywhere but in a filter.
	twoValued bool
	// failing makes expressions that fail for some rows, most of them guarded.
	failing bool
}

var randomSchemas = map[string]schema.Schema{
	"a": {Fields: []schema.Field{nullableField("x", schema.Int32), nullableField("y", schema.Int32), nullableField("s", schema.String)}},
	"b": {Fields: []schema.Field{nullableField("x", schema.Int32), nullableField("z", schema.Int32), nullableField("s", schema.String)}},
}

func nullableField(name string, k schema.Kind) schema.Field {
	return schema.Field{Name: name, Type: schema.Of(k), Nullable: true}
}

func newGenerator(seed uint64) *generator {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7)), tables: map[string][]tuple{}}
	for _, name := range []string{"a", "b"} {
		n := g.r.IntN(14)
		for range n {
			g.tables[name] = append(g.tables[name], tuple{g.value(), g.value(), g.word()})
		}
	}
	return g
}

func (g *generator) value() any {
	if g.r.IntN(5) == 0 {
		return nil
	}
	return int64(g.r.IntN(6) - 1)
}

func (g *generator) word() any {
	if g.r.IntN(5) == 0 {
		return nil
	}
	return string(rune('p' + g.r.IntN(3)))
}

// table is one of the two tables under an alias.
func (g *generator) table(alias string) source {
	name := []string{"a", "b"}[g.r.IntN(2)]
	s := source{sql: name + " AS " + alias, rows: g.tables[name], text: map[int]bool{2: true}}
	for _, f := range randomSchemas[name].Fields {
		s.names = append(s.names, alias+"."+f.Name)
	}
	if g.failing && g.r.IntN(3) == 0 {
		i := g.r.IntN(2) // all that reads the table may divide by the column
		where := []string{"%s <> 0", "CASE WHEN %s <> 0 THEN true END"}[g.r.IntN(2)]
		s.sql = fmt.Sprintf("(SELECT * FROM %s WHERE "+where+") AS %s", name, randomSchemas[name].Fields[i].Name, alias)
		s.rows = filtered(s.rows, compare("<>", columnOf(s, i), integer(0)))
	} else if g.failing && g.r.IntN(4) == 0 {
		return g.computed(s, name, alias)
	}
	return s
}

// from is a table or a join of two.
func (g *generator) from() source {
	l := g.table("t")
	if g.r.IntN(2) == 0 {
		return l
	}
	r := g.table("u")
	both := source{names: append(append([]string(nil), l.names...), r.names...), text: map[int]bool{2: true, 5: true}}
	on := g.joinCond(both)
	kind := []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"}[g.r.IntN(6)]
	both.sql = l.sql + " " + kind + " " + r.sql + " ON " + on.sql
	out := joined(kind, l, r, both, on)
	if kind == "JOIN" && g.r.IntN(2) == 0 {
		return g.third(out)
	}
	return out
}

// third joins one more table to a join of two.
func (g *generator) third(s source) source {
	r := g.table("o")
	all := source{names: append(append([]string(nil), s.names...), r.names...), text: map[int]bool{2: true, 5: true, 8: true}}
	on := compare("=", columnOf(all, []int{0, 1, 3, 4}[g.r.IntN(4)]), columnOf(all, 6+g.r.IntN(2)))
	if g.r.IntN(3) == 0 {
		on = both("AND", on, g.cond(all, 1))
	}
	all.sql = s.sql + " JOIN " + r.sql + " ON " + on.sql
	return joined("JOIN", s, r, all, on)
}

func joined(kind string, l, r, out source, on scalar) source {
	nulls := make(tuple, len(r.names))
	hitRight := make([]bool, len(r.rows))
	// A key is computed for each row, also when the other side has none.
	for _, x := range l.rows {
		on.eval(append(append(tuple(nil), x...), nulls...))
	}
	for _, y := range r.rows {
		on.eval(append(make(tuple, len(l.names)), y...))
	}
	for _, x := range l.rows {
		hit := false
		for k, y := range r.rows {
			row := append(append(tuple(nil), x...), y...)
			if on.eval(row) != true {
				continue
			}
			hit, hitRight[k] = true, true
			if !strings.Contains(kind, "SEMI") && !strings.Contains(kind, "ANTI") {
				out.rows = append(out.rows, row)
			}
		}
		switch {
		case kind == "LEFT SEMI JOIN" && hit, kind == "LEFT ANTI JOIN" && !hit:
			out.rows = append(out.rows, x)
		case (kind == "LEFT JOIN" || kind == "FULL JOIN") && !hit:
			out.rows = append(out.rows, append(append(tuple(nil), x...), nulls...))
		}
	}
	if kind == "RIGHT JOIN" || kind == "FULL JOIN" {
		for k, y := range r.rows {
			if !hitRight[k] {
				out.rows = append(out.rows, append(make(tuple, len(l.names)), y...))
			}
		}
	}
	if strings.Contains(kind, "SEMI") || strings.Contains(kind, "ANTI") {
		out.names, out.text = l.names, l.text
	}
	return out
}

func (g *generator) joinCond(s source) scalar {
	eq := compare("=", columnOf(s, 0), columnOf(s, 3))
	switch g.r.IntN(4) {
	case 0:
		return eq
	case 1:
		return both("AND", eq, g.cond(s, 1))
	case 2:
		return g.cond(s, 2)
	}
	return compare("<=>", columnOf(s, g.r.IntN(2)), columnOf(s, 3+g.r.IntN(2)))
}

func columnOf(s source, i int) scalar {
	return scalar{s.names[i], func(t tuple) any {
		if t[i] == any(failed{}) {
			panic(divided{})
		}
		return t[i]
	}}
}

func (g *generator) intColumn(s source) scalar {
	for {
		if i := g.r.IntN(len(s.names)); !s.text[i] {
			return columnOf(s, i)
		}
	}
}

// number is a random integer expression.
func (g *generator) number(s source, depth int) scalar {
	if depth == 0 || g.r.IntN(3) == 0 {
		if g.r.IntN(3) == 0 {
			n := int64(g.r.IntN(5))
			return scalar{fmt.Sprint(n), func(tuple) any { return n }}
		}
		return g.intColumn(s)
	}
	x, y := g.number(s, depth-1), g.number(s, depth-1)
	if g.failing && g.r.IntN(2) == 0 {
		return g.division(s, x)
	}
	switch g.r.IntN(5) {
	case 0:
		return arithmetic("+", x, y, func(a, b int64) int64 { return a + b })
	case 1:
		return arithmetic("-", x, y, func(a, b int64) int64 { return a - b })
	case 2:
		return arithmetic("*", x, y, func(a, b int64) int64 { return a * b })
	case 3:
		return scalar{"coalesce(" + x.sql + ", " + y.sql + ")", func(t tuple) any {
			if v := x.eval(t); v != nil {
				return v
			}
			return y.eval(t)
		}}
	}
	c := g.cond(s, depth-1)
	return scalar{"CASE WHEN " + c.sql + " THEN " + x.sql + " ELSE " + y.sql + " END", func(t tuple) any {
		if c.eval(t) == true {
			return x.eval(t)
		}
		return y.eval(t)
	}}
}

func arithmetic(op string, x, y scalar, f func(a, b int64) int64) scalar {
	return scalar{"(" + x.sql + " " + op + " " + y.sql + ")", func(t tuple) any {
		a, b := x.eval(t), y.eval(t)
		if a == nil || b == nil {
			return nil
		}
		return f(a.(int64), b.(int64))
	}}
}

// order compares two values that are not nil.
func order(a, b any) int {
	switch a := a.(type) {
	case int64:
		switch b := b.(int64); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	case string:
		return strings.Compare(a, b.(string))
	}
	panic("bug: order of another type")
}

func compare(op string, x, y scalar) scalar {
	return scalar{"(" + x.sql + " " + op + " " + y.sql + ")", func(t tuple) any {
		a, b := x.eval(t), y.eval(t)
		if op == "<=>" {
			return a == b
		}
		if a == nil || b == nil {
			return nil
		}
		c := order(a, b)
		return map[string]bool{"=": c == 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op]
	}}
}

func both(op string, x, y scalar) scalar {
	return scalar{"(" + x.sql + " " + op + " " + y.sql + ")", func(t tuple) any {
		a, decides := x.eval(t), op == "OR"
		if a == decides {
			return decides
		}
		b := y.eval(t)
		if b == decides {
			return decides
		}
		if a == nil || b == nil {
			return nil
		}
		return !decides
	}}
}

func negated(x scalar) scalar {
	return scalar{"(NOT " + x.sql + ")", func(t tuple) any {
		if v := x.eval(t); v != nil {
			return !v.(bool)
		}
		return nil
	}}
}

// cond is a random condition.
func (g *generator) cond(s source, depth int) scalar {
	if g.failing && g.r.IntN(3) == 0 {
		return g.guarded(s)
	}
	ops := []string{"=", "<>", "<", "<=", ">", ">=", "<=>"}
	if depth == 0 {
		return compare(ops[g.r.IntN(len(ops))], g.number(s, 1), g.number(s, 0))
	}
	switch g.r.IntN(8) {
	case 0:
		return both("AND", g.cond(s, depth-1), g.cond(s, depth-1))
	case 1:
		return both("OR", g.cond(s, depth-1), g.cond(s, depth-1))
	case 2:
		return negated(g.cond(s, depth-1))
	case 3:
		x := columnOf(s, g.r.IntN(len(s.names)))
		return scalar{"(" + x.sql + " IS NULL)", func(t tuple) any { return x.eval(t) == nil }}
	case 4:
		x := g.number(s, 1)
		return scalar{"(" + x.sql + " IN (0, 2, NULL))", func(t tuple) any {
			v := x.eval(t)
			if v == int64(0) || v == int64(2) {
				return true
			}
			return nil
		}}
	case 5:
		if !g.twoValued {
			return g.inQuery(s)
		}
	case 6:
		if !g.failing && g.r.IntN(3) == 0 { // it computes what rows may not ask for
			return g.nested(s)
		}
		return g.exists(s)
	}
	return compare(ops[g.r.IntN(len(ops))], g.number(s, 1), g.number(s, 1))
}

// inQuery is x [NOT] IN (SELECT v.x FROM ...).
func (g *generator) inQuery(s source) scalar {
	x, in := g.number(s, 0), g.table("v")
	list := scalar{"(" + x.sql + " IN (SELECT v.x FROM " + in.sql + "))", func(t tuple) any {
		v, unknown := x.eval(t), false
		for _, r := range in.rows {
			switch {
			case v == nil || r[0] == nil:
				unknown = true
			case v == r[0]:
				return true
			}
		}
		if unknown {
			return nil
		}
		return false
	}}
	if g.r.IntN(2) == 0 {
		return negated(list)
	}
	return list
}

// exists is a correlated EXISTS, or a comparison with a correlated scalar
// subquery.
func (g *generator) exists(s source) scalar {
	x, in := g.intColumn(s), g.table("w")
	op := []string{"=", "<", ">="}[g.r.IntN(3)]
	match := compare(op, scalar{"w.x", func(t tuple) any { return t[0] }}, scalar{x.sql, func(t tuple) any { return t[1] }})
	if g.r.IntN(2) == 0 {
		return scalar{"EXISTS (SELECT 1 FROM " + in.sql + " WHERE " + match.sql + ")", func(t tuple) any {
			for _, r := range in.rows {
				if match.eval(tuple{r[0], x.eval(t)}) == true {
					return true
				}
			}
			return false
		}}
	}
	return scalar{"((SELECT count(*) FROM " + in.sql + " WHERE " + match.sql + ") > 1)", func(t tuple) any {
		n := 0
		for _, r := range in.rows {
			if match.eval(tuple{r[0], x.eval(t)}) == true {
				n++
			}
		}
		return n > 1
	}}
}

// nested is a subquery with NOT IN inside, whose query or left side reads the
// outer row.
func (g *generator) nested(s source) scalar {
	x, in, list := g.intColumn(s), g.table("w"), g.table("v")
	if g.r.IntN(2) == 0 {
		return scalar{"((SELECT count(*) FROM " + in.sql + " WHERE w.x NOT IN (SELECT max(v.x) FROM " + list.sql + " WHERE " + x.sql + " IS NULL)) > 0)", func(t tuple) any {
			most := any(nil)
			for _, r := range list.rows {
				if x.eval(t) == nil && r[0] != nil && (most == nil || r[0].(int64) > most.(int64)) {
					most = r[0]
				}
			}
			for _, r := range in.rows {
				if r[0] != nil && most != nil && r[0] != most {
					return true
				}
			}
			return false
		}}
	}
	return scalar{"((SELECT count(*) FROM " + in.sql + " WHERE " + x.sql + " NOT IN (SELECT v.x FROM " + list.sql + " WHERE v.x > w.x)) > 0)", func(t tuple) any {
		for _, r := range in.rows {
			free := true
			for _, l := range list.rows {
				above := r[0] != nil && l[0] != nil && l[0].(int64) > r[0].(int64)
				free = free && !(above && (x.eval(t) == nil || x.eval(t) == l[0]))
			}
			if free {
				return true
			}
		}
		return false
	}}
}

// query is a random query with its rows; ordered says that their order counts.
type query struct {
	sql  string
	rows []tuple
}

// selectRows is SELECT n expressions FROM ... WHERE ..., grouped at times.
func (g *generator) selectRows(n int) query {
	s := g.from()
	q := query{sql: " FROM " + s.sql}
	rows := s.rows
	if g.r.IntN(4) > 0 {
		c := g.cond(s, 2)
		q.sql += " WHERE " + c.sql
		rows = filtered(rows, c)
	}
	if g.r.IntN(3) == 0 && n >= 2 {
		return g.grouped(q, s, rows, n)
	}
	var items []scalar
	for range n {
		items = append(items, g.number(s, 2))
	}
	word := "SELECT "
	for _, r := range rows {
		q.rows = append(q.rows, project(items, r))
	}
	if g.r.IntN(4) == 0 {
		word, q.rows = "SELECT DISTINCT ", distinctRows(q.rows)
	}
	q.sql = word + names(items) + q.sql
	return q
}

func names(items []scalar) string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = fmt.Sprintf("%s AS c%d", x.sql, i)
	}
	return strings.Join(out, ", ")
}

func filtered(rows []tuple, c scalar) []tuple {
	var out []tuple
	for _, r := range rows {
		if c.eval(r) == true {
			out = append(out, r)
		}
	}
	return out
}

func project(items []scalar, r tuple) tuple {
	out := make(tuple, len(items))
	for i, x := range items {
		out[i] = x.eval(r)
	}
	return out
}

func distinctRows(rows []tuple) []tuple {
	seen := map[string]bool{}
	var out []tuple
	for _, r := range rows {
		if k := fmt.Sprint(r); !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

// grouped is a key, then aggregates.
func (g *generator) grouped(q query, s source, rows []tuple, n int) query {
	k := g.number(s, 1)
	items := []scalar{k}
	groups := map[any][]tuple{}
	for _, r := range rows {
		v := k.eval(r)
		groups[v] = append(groups[v], r)
	}
	var aggs []func([]tuple) any
	for len(items) < n {
		x := g.number(s, 1)
		kind := []string{"sum", "count", "min", "max", "count(DISTINCT"}[g.r.IntN(5)]
		text := kind + "(" + x.sql + ")"
		if strings.HasSuffix(kind, "DISTINCT") {
			text = kind + " " + x.sql + ")"
		}
		items = append(items, scalar{sql: text})
		aggs = append(aggs, func(rows []tuple) any { return fold(kind, x, rows) })
	}
	for v, rs := range groups {
		row := tuple{v}
		for _, f := range aggs {
			row = append(row, f(rs))
		}
		q.rows = append(q.rows, row)
	}
	q.sql = "SELECT " + names(items) + q.sql + " GROUP BY " + k.sql
	if _, constant := fmt.Sscan(k.sql, new(int)); constant == nil {
		q.sql = strings.TrimSuffix(q.sql, k.sql) + "ALL"
	}
	if g.r.IntN(3) == 0 {
		q.sql += " HAVING count(*) > 1"
		q.rows = nil
		for v, rs := range groups {
			if len(rs) < 2 {
				continue
			}
			row := tuple{v}
			for _, f := range aggs {
				row = append(row, f(rs))
			}
			q.rows = append(q.rows, row)
		}
	}
	return q
}

func fold(kind string, x scalar, rows []tuple) any {
	var out any
	n, seen := int64(0), map[any]bool{}
	for _, r := range rows {
		v := x.eval(r)
		if v == nil {
			continue
		}
		n++
		seen[v] = true
		switch {
		case out == nil:
			out = v
		case kind == "sum":
			out = out.(int64) + v.(int64)
		case kind == "min" && order(v, out) < 0, kind == "max" && order(v, out) > 0:
			out = v
		}
	}
	switch kind {
	case "count":
		return n
	case "count(DISTINCT":
		return int64(len(seen))
	}
	return out
}

// query is a select, a set operation of two, or the first rows of one.
func (g *generator) query() query {
	n := 1 + g.r.IntN(3)
	q := g.selectRows(n)
	switch g.r.IntN(5) {
	case 0:
		return g.setOperation(q, g.selectRows(n))
	case 1:
		limit, offset := g.r.IntN(6), g.r.IntN(3)
		sort.SliceStable(q.rows, func(i, k int) bool { return before(q.rows[i], q.rows[k]) })
		q.rows = q.rows[min(offset, len(q.rows)):]
		q.rows = q.rows[:min(limit, len(q.rows))]
		q.sql = fmt.Sprintf("SELECT * FROM (%s) ORDER BY ALL LIMIT %d OFFSET %d", q.sql, limit, offset)
	case 2:
		return g.firstRows(q, n)
	}
	return q
}

// firstRows keeps the first rows of each value of the first column, by a rank
// over the other columns.
func (g *generator) firstRows(q query, n int) query {
	names := []string{"c0", "c1", "c2"}[:n]
	by := append([]string{}, names[1:]...)
	if len(by) == 0 {
		by = names
	}
	kind, first := []string{"row_number", "rank", "dense_rank"}[g.r.IntN(3)], int64(1+g.r.IntN(3))
	out := query{sql: fmt.Sprintf("SELECT * FROM (SELECT *, %s() OVER (PARTITION BY c0 ORDER BY %s) AS rk FROM (%s)) WHERE rk <= %d", kind, strings.Join(by, ", "), q.sql, first)}
	rows := append([]tuple(nil), q.rows...)
	sort.SliceStable(rows, func(i, k int) bool { return before(rows[i], rows[k]) })
	var number, rank, dense int64
	for i, r := range rows {
		switch {
		case i == 0 || r[0] != rows[i-1][0]:
			number, rank, dense = 1, 1, 1
		default:
			number++
			if before(rows[i-1], r) {
				rank, dense = number, dense+1
			}
		}
		rk := map[string]int64{"row_number": number, "rank": rank, "dense_rank": dense}[kind]
		if rk <= first {
			out.rows = append(out.rows, append(append(tuple(nil), r...), rk))
		}
	}
	return out
}

// before is the order of ORDER BY ALL: nulls first.
func before(a, b tuple) bool {
	for i := range a {
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil || b[i] == nil:
			return a[i] == nil
		default:
			if c := order(a[i], b[i]); c != 0 {
				return c < 0
			}
		}
	}
	return false
}

func (g *generator) setOperation(l, r query) query {
	kind := []string{"UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"}[g.r.IntN(6)]
	out := query{sql: "(" + l.sql + ") " + kind + " (" + r.sql + ")"}
	count := map[string]int{}
	for _, x := range r.rows {
		count[fmt.Sprint(x)]++
	}
	switch kind {
	case "UNION ALL":
		out.rows = append(append(out.rows, l.rows...), r.rows...)
	case "UNION":
		out.rows = distinctRows(append(append(out.rows, l.rows...), r.rows...))
	default:
		all := strings.HasSuffix(kind, "ALL")
		rows := l.rows
		if !all {
			rows = distinctRows(rows)
		}
		for _, x := range rows {
			k := fmt.Sprint(x)
			in := count[k] > 0
			if all && in {
				count[k]--
			}
			if in == strings.HasPrefix(kind, "INTERSECT") {
				out.rows = append(out.rows, x)
			}
		}
	}
	return out
}

// Resolve gives the two tables.
func (g *generator) Resolve(r sqlplan.Request) (sqlplan.Answer, error) {
	s, ok := randomSchemas[r.Parts[0]]
	if !ok {
		return sqlplan.Answer{}, &sqlplan.NotFound{}
	}
	return sqlplan.Answer{Relation: &logical.Relation{ID: r.Parts[0], Name: r.Parts, Schema: s}}, nil
}
