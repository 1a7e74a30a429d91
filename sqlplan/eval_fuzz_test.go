package sqlplan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pipelines/runtime/operator/optest"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/streaming"
	"pipelines/tables/schema"
)

// evalValues are literals at the edges of each type, by type.
var evalValues = map[string][]string{
	"INT":                       {"0", "1", "-1", "2", "31", "2147483647", "-2147483648", "NULL"},
	"BIGINT":                    {"0", "1", "-1", "63", "9223372036854775807", "-9223372036854775808", "NULL"},
	"TINYINT":                   {"0", "1", "127", "-128", "NULL"},
	"SMALLINT":                  {"3", "32767", "-32768", "NULL"},
	"DOUBLE":                    {"'0.0'", "'-0.0'", "'1.5'", "'-2.5'", "'NaN'", "'Infinity'", "'-Infinity'", "'1E308'", "'4.9E-324'", "NULL"},
	"FLOAT":                     {"'0.1'", "'-0.0'", "'NaN'", "'3.4E38'", "NULL"},
	"DECIMAL(10, 2)":            {"0", "1.25", "-99999999.99", "99999999.99", "NULL"},
	"DECIMAL(38, 6)":            {"0.000001", "-1.5", "99999999999999999999999999999999.999999", "NULL"},
	"STRING":                    {"''", "' '", "'a'", "'Straße'", "'😀é'", "'12'", "'-1.5e3'", "'2024-02-29'", "'2024-03-31 02:30:00'", "'[1,2,null]'", "'{\"a\":{\"b\":[1]}}'", "'a,b;c'", "'%_\\\\'", "'yyyy-MM-dd'", "'utf-8'", "'day'", "'$.a'", "'http://u:p@h:8/p?q=1#f'", "'true'", "NULL"},
	"BINARY":                    {"X''", "X'00'", "X'FFC3A9'", "NULL"},
	"BOOLEAN":                   {"true", "false", "NULL"},
	"DATE":                      {"'1970-01-01'", "'0001-01-01'", "'9999-12-31'", "'2024-02-29'", "NULL"},
	"TIMESTAMP":                 {"'1970-01-01 00:00:00'", "'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'", "'1582-10-10 12:00:00.5'", "NULL"},
	"TIMESTAMP_NTZ":             {"'1969-12-31 23:59:59.999999'", "'2024-02-29 12:00:00'", "NULL"},
	"INTERVAL DAY TO SECOND":    {"INTERVAL '0 0:0:0' DAY TO SECOND", "INTERVAL '-1 2:3:4.000001' DAY TO SECOND", "NULL"},
	"INTERVAL YEAR TO MONTH":    {"INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '-178956970-7' YEAR TO MONTH", "NULL"},
	"ARRAY<INT>":                {"array()", "array(1, NULL, 3, 1)", "array(NULL)", "NULL"},
	"ARRAY<STRING>":             {"array()", "array('a', '', NULL, 'é')", "NULL"},
	"ARRAY<ARRAY<INT>>":         {"array(array(1), NULL, array())", "NULL"},
	"MAP<STRING, INT>":          {"map()", "map('a', 1, 'b', NULL)", "NULL"},
	"STRUCT<a: INT, b: STRING>": {"named_struct('a', 1, 'b', 'x')", "named_struct('a', NULL, 'b', NULL)", "NULL"},
}

// evalTypes are the keys of evalValues in order.
var evalTypes = func() []string {
	var out []string
	for t := range evalValues {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}()

// evalCase is a call of a function with columns of a table of edge values.
type evalCase struct {
	name  string
	types []string
	rows  [][]string // literals
}

// newEvalCase draws a call from a seed.
func newEvalCase(fn int, seed uint64) evalCase {
	rng := rand.New(rand.NewPCG(seed, 2))
	list := funcs.Scalars()
	c := evalCase{name: list[fn%len(list)].Name}
	for range rng.IntN(5) {
		c.types = append(c.types, evalTypes[rng.IntN(len(evalTypes))])
	}
	for i := 1; i < len(c.types); i++ {
		if rng.IntN(2) == 0 { // most functions of several arguments want like ones
			c.types[i] = c.types[0]
		}
	}
	c.draw(rng)
	return c
}

// draw draws other rows.
func (c *evalCase) draw(rng *rand.Rand) {
	c.rows = nil
	for range 1 + rng.IntN(6) {
		var row []string
		for _, t := range c.types {
			row = append(row, evalValues[t][rng.IntN(len(evalValues[t]))])
		}
		c.rows = append(c.rows, row)
	}
}

// call prints the call with the texts of its arguments.
func (c evalCase) call(args []string) string {
	if strings.ContainsAny(c.name, "+-*/%=<>!|&^~ ") || c.name == "div" || c.name == "mod" {
		if len(args) == 2 {
			return "(" + args[0] + " " + c.name + " " + args[1] + ")"
		}
	}
	return c.name + "(" + strings.Join(args, ", ") + ")"
}

// literals are the arguments of a row, of the columns' types.
func (c evalCase) literals(row []string) []string {
	var out []string
	for i, v := range row {
		out = append(out, "CAST("+v+" AS "+c.types[i]+")")
	}
	return out
}

// outcome is the value of a query's single column, or the class of its error.
type evalOutcome struct {
	rows   []optest.Row
	failed string
}

func evaluate(t *testing.T, cat sqlplan.Catalog, sql string, o optest.Options, in optest.Input) (evalOutcome, bool) {
	t.Helper()
	p, diags := sqlplan.Compile(diag.NewText("q", sql), cat, sqlplan.Options{Name: "t"})
	if p == nil {
		for _, d := range diags {
			if d.Severity == diag.Error {
				return evalOutcome{failed: string(d.Code)}, false
			}
		}
		t.Fatalf("no plan and no error: %s", sql)
	}
	rows, err := optest.Query(t, p.Node, o, in)
	if err != nil {
		class, _, _ := strings.Cut(err.Error(), ":")
		return evalOutcome{failed: class}, true
	}
	return evalOutcome{rows: rows}, true
}

// fixture declares the case's columns as a table t.
func (c evalCase) fixture(t *testing.T) (cat *fixture, args []string) {
	t.Helper()
	var fields []schema.Field
	for i, ty := range c.types {
		f, diags := sqlplan.ParseSchema(nil, diag.NewText("ddl", fmt.Sprintf("c%d %s", i, ty)))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		fields, args = append(fields, f.Fields[0]), append(args, fmt.Sprintf("c%d", i))
	}
	return &fixture{tables: map[string]schema.Schema{"t": {Fields: fields}}}, args
}

// values are the case's rows as a table holds them.
func (c evalCase) values(t *testing.T, cat sqlplan.Catalog) []optest.Row {
	t.Helper()
	var rows []optest.Row
	for _, r := range c.rows {
		if len(r) == 0 {
			rows = append(rows, optest.Row{})
			continue
		}
		one, ok := evaluate(t, cat, "SELECT "+strings.Join(c.literals(r), ", "), optest.Options{}, nil)
		if !ok || one.failed != "" || len(one.rows) != 1 {
			t.Fatalf("%v %v", r, one.failed)
		}
		rows = append(rows, one.rows[0])
	}
	return rows
}

// check demands that the call gives the same over single rows, over batches in
// each form, and over constants.
func (c evalCase) check(t *testing.T) bool {
	var all []string
	cat, args := c.fixture(t)
	sql := "SELECT " + c.call(args) + " AS r FROM t"
	if c.name == "sequence" && (slices.Contains(c.types, "TIMESTAMP") || slices.Contains(c.types, "TIMESTAMP_NTZ") || slices.Contains(c.types, "DATE")) {
		return false // millions of days, which take seconds to print
	}
	if slices.Contains([]string{"lpad", "rpad", "repeat", "space", "array_repeat"}, c.name) && slices.Contains(c.types, "DECIMAL(10, 2)") {
		return false // a hundred million characters or elements
	}
	if p, _ := sqlplan.Compile(diag.NewText("q", sql), cat, sqlplan.Options{Name: "t"}); p == nil || funcs.Lookup(c.name).Volatility != funcs.Immutable {
		return false // not a call of these types
	}
	rows := c.values(t, cat)
	var want []optest.Row
	failed := ""
	for i, r := range rows {
		one, _ := evaluate(t, cat, sql, optest.Options{}, optest.Input{"t": {r}})
		all = append(all, fmt.Sprint(one))
		if one.failed != "" {
			failed = one.failed
		}
		want = append(want, one.rows...)
		constant, bound := evaluate(t, cat, "SELECT "+c.call(c.literals(c.rows[i]))+" AS r", optest.Options{}, nil)
		// A constant that is no unit gives NULL before a text is read as a time, as in Spark.
		unit := (c.name == "date_trunc" || c.name == "trunc") && fmt.Sprint(constant.rows) == "[[<nil>]]"
		if fmt.Sprint(one) != fmt.Sprint(constant) && !unit && (bound || one.failed == "") && !strings.HasPrefix(constant.failed, "DATATYPE_MISMATCH") {
			t.Errorf("%s\n%v\nas a column   %v\nas a constant %v", sql, c.rows[i], one, constant)
		}
	}
	for _, o := range []optest.Options{{}, {BatchSize: 2, Noise: true, Seed: 1}, {Dictionary: true}, {Constant: true, BatchSize: 1}} {
		got, _ := evaluate(t, cat, sql, o, optest.Input{"t": rows})
		if (got.failed != "") != (failed != "") || failed == "" && fmt.Sprint(got.rows) != fmt.Sprint(want) {
			t.Errorf("%s %+v\n%v\ntogether   %v\nrow by row %v", sql, o, c.rows, got, all)
		}
	}
	return true
}

// TestEval runs each scalar function over drawn edge values: four draws of types for each, with four of rows,
// or as many as PIPELINES_QUERIES says.
func TestEval(t *testing.T) {
	calls := 0
	for fn := range funcs.Scalars() {
		for seed := range queryCount(t, 4) {
			c := newEvalCase(fn, seed)
			rng := rand.New(rand.NewPCG(seed, 3))
			for range 4 {
				if !c.check(t) {
					break
				}
				calls++
				c.draw(rng)
			}
		}
	}
	if calls < len(funcs.Scalars()) {
		t.Errorf("only %d calls have a meaning", calls)
	}
}

// TestZoned: a call that gives other values in another session time zone is one
// that streaming.Zoned tells, so that state made by it is not taken on.
func TestZoned(t *testing.T) {
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	zones := []*funcs.Session{(&funcs.Session{ANSI: true}).ForZone(time.UTC), (&funcs.Session{ANSI: true}).ForZone(kolkata)}
	differ := 0
	for fn := range funcs.Scalars() {
		for seed := range queryCount(t, 20) {
			c := newEvalCase(fn, seed)
			if len(c.types) > 0 && c.name != "sequence" {
				c.types[int(seed)%len(c.types)] = "TIMESTAMP"
				c.draw(rand.New(rand.NewPCG(seed, 4)))
			}
			cat, args := c.fixture(t)
			sql := "SELECT " + c.call(args) + " AS r FROM t"
			p, _ := sqlplan.Compile(diag.NewText("q", sql), cat, sqlplan.Options{Name: "t", Session: zones[0]})
			if p == nil || funcs.Lookup(c.name).Volatility != funcs.Immutable {
				continue
			}
			var got [2]string
			for i, z := range zones {
				q, _ := sqlplan.Compile(diag.NewText("q", sql), cat, sqlplan.Options{Name: "t", Session: z})
				for _, row := range c.values(t, cat) {
					rows, err := optest.Query(t, q.Node, optest.Options{Session: z}, optest.Input{"t": {row}})
					class, _, _ := strings.Cut(fmt.Sprint(err), "]")
					got[i] += fmt.Sprint(rows, class)
				}
			}
			if got[0] == got[1] {
				continue
			}
			if differ++; !streaming.ZonedColumns(p.Bound, p.Bound.Output()...) {
				t.Errorf("%s %v: %s, in another zone %s", sql, c.types, got[0], got[1])
			}
		}
	}
	if differ < 10 {
		t.Errorf("only %d calls depend on the zone", differ)
	}
}

// FuzzEval evaluates calls of any function over any edge values.
func FuzzEval(f *testing.F) {
	for fn := range funcs.Scalars() {
		f.Add(uint16(fn), uint64(fn))
	}
	f.Fuzz(func(t *testing.T, fn uint16, seed uint64) { newEvalCase(int(fn), seed).check(t) })
}
