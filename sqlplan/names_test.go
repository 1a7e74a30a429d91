package sqlplan_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
)

// TestNames demands the automatic names and the types of columns that a Spark
// printed.
func TestNames(t *testing.T) {
	file, err := os.ReadFile("../testdata/spark/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, block := range strings.Split(string(file), "\n\n") {
		sql, rest, _ := strings.Cut(strings.TrimSpace(block), "\n")
		if strings.HasPrefix(sql, "#") {
			continue
		}
		p, diags := sqlplan.Compile(diag.NewText("q.sql", sql), &fixture{}, sqlplan.Options{Name: "t"})
		if p == nil {
			t.Fatalf("%s\n%s", sql, report(diags))
		}
		var got []string
		for _, f := range logical.SchemaOf(p.Node.Output()).Fields {
			got = append(got, "  "+f.Name+" "+strings.ReplaceAll(f.Type.String(), " ", "_"))
		}
		want := strings.Split(rest, "\n")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s\n%s", sql, d)
		}
		n += len(got)
	}
	if n < 300 {
		t.Errorf("only %d columns", n)
	}
}
