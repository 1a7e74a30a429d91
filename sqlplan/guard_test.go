package sqlplan_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan"
	"pipelines/sqlplan/rewrite"
)

// divided is what the reference panics with where SQL fails a row.
type divided struct{}

func integer(n int64) scalar { return scalar{fmt.Sprint(n), func(tuple) any { return n }} }

// remainder fails for a zero.
func remainder(x, y scalar) scalar {
	return arithmetic("%", x, y, func(a, b int64) int64 {
		if b == 0 {
			panic(divided{})
		}
		return a % b
	})
}

// division is a remainder by a column, mostly behind a guard.
func (g *generator) division(s source, x scalar) scalar {
	y := g.intColumn(s)
	rem := remainder(x, y)
	not0 := compare("<>", y, integer(0))
	switch g.r.IntN(5) {
	case 0:
		return rem
	case 1:
		return scalar{"coalesce(" + y.sql + ", 7 % " + y.sql + ")", y.orElse(remainder(integer(7), y))}
	case 2:
		return scalar{"if(" + y.sql + " = 0, " + x.sql + ", " + rem.sql + ")", func(t tuple) any {
			if y.eval(t) == int64(0) {
				return x.eval(t)
			}
			return rem.eval(t)
		}}
	}
	return scalar{"CASE WHEN " + not0.sql + " THEN " + rem.sql + " WHEN " + y.sql + " IS NULL THEN " + x.sql + " END", func(t tuple) any {
		switch y.eval(t) {
		case nil:
			return x.eval(t)
		case int64(0):
			return nil
		}
		return rem.eval(t)
	}}
}

func (x scalar) orElse(y scalar) func(tuple) any {
	return func(t tuple) any {
		if v := x.eval(t); v != nil {
			return v
		}
		return y.eval(t)
	}
}

// computed is a table whose second column is a remainder, which fails for some
// rows; only those that are asked for count.
func (g *generator) computed(s source, name, alias string) source {
	fields := randomSchemas[name].Fields
	x, y := fields[0].Name, fields[1].Name
	s.sql = fmt.Sprintf("(SELECT %s, %s %% %s AS %s, s FROM %s) AS %s", x, x, y, y, name, alias)
	rem := remainder(columnOf(s, 0), columnOf(s, 1))
	rows := s.rows
	s.rows = nil
	for _, r := range rows {
		var v any = failed{}
		func() {
			defer func() {
				if p := recover(); p != nil && p != any(divided{}) {
					panic(p)
				}
			}()
			v = rem.eval(r)
		}()
		s.rows = append(s.rows, tuple{r[0], v, r[2]})
	}
	return s
}

// failed is a value that fails whoever reads it.
type failed struct{}

// guarded is a condition on a remainder that an AND or OR guards.
func (g *generator) guarded(s source) scalar {
	y := g.intColumn(s)
	c := compare([]string{"=", "<", ">="}[g.r.IntN(3)], remainder(g.intColumn(s), y), integer(int64(g.r.IntN(3))))
	if g.r.IntN(3) == 0 {
		return both("OR", compare("=", y, integer(0)), c)
	}
	return both("AND", compare("<>", y, integer(0)), c)
}

// reference makes a query and its rows; false when a row of the reference
// fails, which a plan may do or not.
func (g *generator) reference() (q query, ok bool) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case divided:
			ok = false
		default:
			panic(p)
		}
	}()
	return g.query(), true
}

// TestGuards demands that no rule, alone or with all others, makes a row fail
// that a guard kept from failing, or changes the rows.
func TestGuards(t *testing.T) {
	sets := map[string]map[string]bool{"all rules": {}, "none": {}}
	for _, r := range rewrite.Rules() {
		alone := map[string]bool{}
		for _, other := range rewrite.Rules() {
			alone[other] = other != r
		}
		sets["only "+r] = alone
		sets["none"][r] = true
	}
	ran, seeds := 0, uint64(randomQueries)
	if s := os.Getenv("PIPELINES_SEEDS"); s != "" {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		seeds = 10 * n
	}
	for seed := range seeds {
		g := newGenerator(seed)
		g.failing = true
		q, ok := g.reference()
		if !ok {
			continue
		}
		ran++
		for name, off := range sets {
			if got, want := g.result(t, q.sql, optest.Options{BatchSize: 4}, sqlplan.Options{Rules: off}), texts(q.rows); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s\n%s\na %v\nb %v\ngot  %v\nwant %v", seed, name, q.sql, g.tables["a"], g.tables["b"], got, want)
			}
		}
	}
	if ran < randomQueries/4 {
		t.Errorf("only %d queries that do not fail", ran)
	}
}
