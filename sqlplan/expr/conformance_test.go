package expr_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// TestGolden evaluates the golden statements that need no operator: SELECT
// without FROM, or over VALUES. The counts are a floor: statements of areas
// that are not built yet are counted apart.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../../testdata/conformance/sql/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files: ", err)
	}
	only := os.Getenv("GOLDEN")
	good, bad := 0, 0
	for _, f := range files {
		if only != "" && !strings.Contains(f, only) {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		conf := map[string]string{}
		for _, chunk := range strings.Split(string(src), "\n\n") {
			switch why := golden(chunk, conf); why {
			case "":
				good++
			case "skip":
			default:
				bad++
				t.Logf("%s: %s", filepath.Base(f), why)
			}
		}
	}
	t.Logf("good %d, bad %d", good, bad)
	if only == "" && bad > 0 && good < goldenFloor {
		t.Errorf("only %d golden statements agree, want %d", good, goldenFloor)
	}
}

const goldenFloor = 1780

func golden(chunk string, conf map[string]string) (why string) {
	lines := strings.Split(strings.Trim(chunk, "\n"), "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
		lines = lines[1:]
	}
	if len(lines) < 2 {
		return "skip"
	}
	kind := lines[0]
	sql, want, _ := strings.Cut(strings.Join(lines[1:], "\n"), "\n----\n")
	if zone, ok := strings.CutPrefix(sql, "SET TIME ZONE "); ok {
		conf["spark.sql.session.timeZone"] = strings.Trim(zone, "'")
	} else if strings.HasPrefix(sql, "SET ") {
		k, v, _ := strings.Cut(strings.TrimPrefix(sql, "SET "), "=")
		conf[strings.TrimSpace(k)] = strings.Trim(strings.TrimSpace(v), "'")
	}
	if !strings.HasPrefix(sql, "SELECT") {
		return "skip"
	}
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprintf("PANIC %v\n   %s", p, sql)
		}
	}()
	session, err := sqlplan.NewSession(sqlplan.Settings{Conf: conf, Catalog: "spark_catalog", Database: "default"})
	if err != nil {
		return err.Error()
	}
	got, ok := run(sql, session)
	if !ok {
		return "skip"
	}
	if kind == "error" {
		if got == "!"+strings.TrimSpace(want) || strings.HasPrefix(got, "!") && strings.HasPrefix(want, "_LEGACY") {
			return ""
		}
		return "got " + got + "\n   want error " + want + "\n   " + sql
	}
	_, rows, _ := strings.Cut(want, "\n")
	if sameRows(got, rows) {
		return ""
	}
	return "got  " + got + "\n   want " + rows + "\n   " + sql
}

func run(sql string, s *funcs.Session) (string, bool) {
	q := diag.NewText("q.sql", sql)
	plan, diags := sqlplan.Compile(q, sqlplan.Empty{}, sqlplan.Options{Session: s})
	if diags.HasErrors() {
		for _, d := range diags {
			if d.Code == "UNRESOLVED_ROUTINE" && os.Getenv("GOLDEN_OPEN") != "" {
				fmt.Println("OPEN", d.Message)
			}
			if d.Code == "UNRESOLVED_ROUTINE" || d.Code == "FEATURE_NOT_AVAILABLE" || d.Code == "TABLE_OR_VIEW_NOT_FOUND" {
				return "", false
			}
		}
		return "!" + string(diags[0].Code), true
	}
	p, ok := plan.Bound.(*logical.Project)
	if !ok {
		return "", false
	}
	in, ok := p.Input.(*logical.Values)
	if !ok {
		return "", false
	}
	var es []logical.Expr
	for _, a := range p.Exprs {
		es = append(es, a.Expr)
	}
	prog, err := expr.CompileAll(es, in.Columns, expr.Options{Session: s})
	if err != nil {
		return "!" + err.Error(), true
	}
	pool := column.NewPool()
	b := &column.Batch{Cols: in.Data, Len: in.Rows}
	out := prog.EvalAll(&expr.Evaluation{Session: s, Pool: pool, Now: 1_780_000_000_000_000}, b, nil)
	var rows []string
	for i := range in.Rows {
		var fields []string
		for _, v := range out {
			if err := v.Errs.At(v.Row(i)); err != nil {
				return "!" + err.(*funcs.Error).Class, true
			}
			fields = append(fields, escape(shell(nil, v, i, false, s)))
		}
		row := strings.Join(fields, "\t")
		if row == "" {
			row = `\e`
		}
		rows = append(rows, row)
	}
	for _, v := range out {
		v.Release()
	}
	if live, _ := pool.Live(); live != 0 {
		return fmt.Sprintf("%d vectors leak", live), true
	}
	return strings.Join(rows, "\n"), true
}

func escape(b []byte) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(strings.ToValidUTF8(string(b), "\uFFFD"))
}

// shell prints a value as the SQL shell does.
func shell(b []byte, v *column.Vector, i int, nested bool, s *funcs.Session) []byte {
	if v.IsNull(i) {
		if nested {
			return append(b, "null"...)
		}
		return append(b, "NULL"...)
	}
	i = v.Row(i)
	quote := func(q []byte) []byte {
		if nested {
			return append(append(append(b, '"'), q...), '"')
		}
		return append(b, q...)
	}
	switch v.Type.Kind {
	case schema.Array:
		from, to := v.List(i)
		b = append(b, '[')
		for k := from; k < to; k++ {
			if k > from {
				b = append(b, ',')
			}
			b = shell(b, v.Children[0], k, true, s)
		}
		return append(b, ']')
	case schema.Map:
		from, to := v.List(i)
		b = append(b, '{')
		for k := from; k < to; k++ {
			if k > from {
				b = append(b, ',')
			}
			b = append(shell(b, v.Children[0], k, true, s), ':')
			b = shell(b, v.Children[1], k, true, s)
		}
		return append(b, '}')
	case schema.Struct:
		b = append(b, '{')
		for k, f := range v.Type.Fields {
			if k > 0 {
				b = append(b, ',')
			}
			b = append(b, fmt.Sprintf("%q:", f.Name)...)
			b = shell(b, v.Children[k], i, true, s)
		}
		return append(b, '}')
	case schema.String:
		return quote(v.Str(i))
	case schema.Date:
		return text.AppendShellDate(b, v.I32[i])
	case schema.Timestamp:
		return text.AppendShellTimestamp(b, s.Zone.ToLocal(v.I64[i]))
	case schema.TimestampNTZ:
		return text.AppendShellTimestamp(b, v.I64[i])
	case schema.DayTimeInterval:
		return text.AppendDayTimeShell(b, v.I64[i])
	case schema.YearMonthInterval:
		return text.AppendYearMonthShell(b, v.I32[i])
	}
	return funcs.AppendValueText(b, s, v, i)
}

func sameRows(got, want string) bool {
	if got == want {
		return true
	}
	g, w := strings.Split(got, "\t"), strings.Split(want, "\t")
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		if g[i] == w[i] {
			continue
		}
		x, err1 := strconv.ParseFloat(g[i], 64)
		y, err2 := strconv.ParseFloat(w[i], 64)
		if err1 != nil || err2 != nil || math.Abs(x-y) > 1e-12*math.Abs(y) {
			return false
		}
	}
	return true
}
