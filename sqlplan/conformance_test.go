package sqlplan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/parse"
)

// views is a catalog of temporary views.
type views map[string]*sqlplan.View

func (v views) Resolve(r sqlplan.Request) (sqlplan.Answer, error) {
	if w := v[strings.ToLower(strings.Join(r.Parts, "."))]; w != nil && !r.Function {
		return sqlplan.Answer{View: w}, nil
	}
	nf := &sqlplan.NotFound{}
	for k := range v {
		nf.Names = append(nf.Names, k)
	}
	sort.Strings(nf.Names)
	return sqlplan.Answer{}, nf
}

type block struct {
	line           int
	kind, sql, out string
}

func blocks(t testing.TB, file string) []block {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	line := 1
	for _, chunk := range strings.Split(string(src), "\n\n") {
		start := line
		line += strings.Count(chunk, "\n") + 2
		lines := strings.Split(strings.Trim(chunk, "\n"), "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
			lines = lines[1:]
			start++
		}
		if len(lines) < 2 {
			continue
		}
		sql, res, _ := strings.Cut(strings.Join(lines[1:], "\n"), "\n----\n")
		out = append(out, block{start, lines[0], sql, res})
	}
	return out
}

// strict are the files whose statements are the binder's own business: there
// any difference is an error. In the others functions may differ still.
var strict = map[string]bool{"queries.txt": true, "joins.txt": true, "names_errors.txt": true, "windows.txt": true, "literals.txt": true}

// different are statements of those files that are answered otherwise: the
// catalog refuses this one.
var different = map[string]bool{
	"SELECT * FROM no_catalog.s.t1": true,
}

// TestConformance compiles the golden statements: names and types of columns
// and classes of errors must be Spark's. Statements that use a function that
// is not listed yet are counted apart.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("../testdata/conformance/sql/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conformance files: ", err)
	}
	var good, bad, open int
	for _, f := range files {
		cat := views{}
		conf := map[string]string{}
		for _, b := range blocks(t, f) {
			why := runBlock(cat, conf, b)
			switch {
			case why == "":
				good++
			case strings.Contains(why, "UNRESOLVED_ROUTINE") || strings.Contains(why, "FEATURE_NOT_AVAILABLE") ||
				strings.Contains(why, "NOT_A_TABLE") || strings.Contains(why, "UNRESOLVABLE_TABLE_VALUED"):
				open++
				t.Logf("open %s:%d %s\n    %s", filepath.Base(f), b.line, why, b.sql)
			default:
				bad++
				report := t.Logf
				if strict[filepath.Base(f)] && !different[b.sql] || strings.HasPrefix(why, "PANIC") {
					report = t.Errorf
				}
				report("BAD %s:%d %s\n    %s", filepath.Base(f), b.line, why, b.sql)
			}
		}
	}
	t.Logf("good %d, bad %d, open %d", good, bad, open)
}

func runBlock(cat views, conf map[string]string, b block) (why string) {
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprintf("PANIC %v", p)
		}
	}()
	text := diag.NewText("q.sql", b.sql)
	st, diags := parse.Statement(text)
	session, err := sqlplan.NewSession(sqlplan.Settings{Conf: conf, Catalog: "spark_catalog", Database: "default"})
	if err != nil {
		return err.Error()
	}
	opts := sqlplan.Options{Session: session}
	switch st := st.(type) {
	case *ast.CreateView:
		if st.Query == nil {
			return ""
		}
		if _, diags = sqlplan.CompileQuery(st.Query, text, cat, opts); diags.HasErrors() {
			return firstCode(diags)
		}
		name := strings.ToLower(st.Name.Last().Name)
		cat[name] = &sqlplan.View{Name: []string{st.Name.Last().Name}, Text: text, Query: st.Query, AnyRead: true}
		return ""
	case *ast.Set:
		conf[st.Key] = strings.Trim(st.Value, "'\"")
		return ""
	case *ast.QueryStmt:
		var p *sqlplan.Plan
		if !diags.HasErrors() {
			p, diags = sqlplan.CompileQuery(st.Query, text, cat, opts)
		}
		return verdict(b, p, diags)
	}
	if diags.HasErrors() && b.kind == "error" {
		return verdict(b, nil, diags)
	}
	return ""
}

func firstCode(l diag.List) string {
	for _, d := range l {
		if d.Severity == diag.Error {
			return string(d.Code) + " " + d.Message
		}
	}
	return ""
}

// atRunTime are classes that rows raise.
var atRunTime = []string{
	"CAST_", "DIVIDE", "ARITHMETIC", "NUMERIC_VALUE", "RECURSION", "REMAINDER", "BINARY_ARITH", "INVALID_ARRAY", "INVALID_INDEX",
	"CANNOT_PARSE", "MALFORMED", "INVALID_PARAMETER", "DATETIME", "ILLEGAL", "INTERVAL_", "DUPLICATED_MAP", "USER_RAISED", "NULL_MAP",
	"CONVERSION", "UNSUPPORTED_FEATURE", "INCONSISTENT", "INVALID_DATETIME", "SCALAR_SUB", "PARSE_EMPTY", "COLLECTION", "NOT_NULL_ASSERT", "VARIANT", "INVALID_FRACTION",
	"INVALID_VARIANT", "INVALID_INTERVAL_FORMAT", "INVALID_URL", "INVALID_CONVERSION", "INVALID_TIMEZONE", "UNABLE_", "INVALID_BITMAP", "DECIMAL_PRECISION", "CANNOT_DECODE",
}

func verdict(b block, p *sqlplan.Plan, diags diag.List) string {
	if b.kind == "error" {
		want := strings.TrimSpace(b.out)
		if !diags.HasErrors() {
			for _, c := range atRunTime {
				if strings.HasPrefix(want, c) {
					return ""
				}
			}
			return "no error, want " + want
		}
		got := firstCode(diags)
		if strings.HasPrefix(want, "_LEGACY") || strings.HasPrefix(want, "INTERNAL") || strings.HasPrefix(got, want+" ") {
			return ""
		}
		return "error " + got + ", want " + want
	}
	if diags.HasErrors() {
		return firstCode(diags)
	}
	if b.kind == "statement" {
		return ""
	}
	want, _, _ := strings.Cut(b.out, "\n")
	var fields []string
	for _, f := range p.Schema.Fields {
		fields = append(fields, f.Name+":"+f.Type.String())
	}
	if got := strings.Join(fields, "\t"); got != want {
		return "columns " + got + "\n    want " + want
	}
	return ""
}
