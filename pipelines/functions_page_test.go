package pipelines_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
)

// outside names the groups of functions that are no part of the mission.
var outside = map[string]string{
	"sketch": "sketches", "st": "geospatial", "xml": "XML", "avro": "Avro bytes in SQL", "protobuf": "Protobuf bytes in SQL",
}

// sketchWords are in the names of aggregates that make sketches.
var sketchWords = []string{"sketch", "theta_", "hll_", "kll_", "tuple_", "approx_top_k_"}

// known reports whether a function can be called: in an expression, behind
// FROM, or as syntax of its own.
func known(name string) bool {
	for _, q := range []string{"SELECT " + name + "()", "SELECT " + name + "(NULL)", "SELECT * FROM " + name + "()"} {
		_, list := sqlplan.Compile(diag.NewText("q", q), noTables{}, sqlplan.Options{Wanted: sqlplan.Batch})
		missing := false
		for _, d := range list {
			missing = missing || d.Code == "UNRESOLVED_ROUTINE" || d.Code == "UNRESOLVABLE_TABLE_VALUED_FUNCTION" || d.Code == "FEATURE_NOT_AVAILABLE" ||
				d.Code == "UNSUPPORTED_TIME_TYPE"
		}
		if !missing {
			return true
		}
	}
	return false
}

type noTables struct{}

// Resolve finds nothing.
func (noTables) Resolve(req sqlplan.Request) (sqlplan.Answer, error) {
	return sqlplan.Answer{}, &sqlplan.NotFound{}
}

// TestFunctionsPage holds docs/functions.md: each function of Spark with yes or
// no, asked of the binder.
func TestFunctionsPage(t *testing.T) {
	data, err := os.ReadFile("../docs/parts/spark-functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	type count struct{ all, yes int }
	var groups []string
	counts := map[string]*count{}
	var total, asked count
	var missing, exempt []string
	for line := range strings.Lines(string(data)) {
		var group, name string
		var calls int
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscan(line, &group, &name, &calls); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if counts[group] == nil {
			counts[group] = &count{}
			groups = append(groups, group)
		}
		yes := known(name)
		is := outside[group] != ""
		for _, w := range sketchWords {
			is = is || strings.Contains(name, w)
		}
		for _, c := range []*count{counts[group], &total} {
			c.all++
			if yes {
				c.yes++
			}
		}
		switch {
		case yes && !is:
			asked.all, asked.yes = asked.all+1, asked.yes+1
		case is && !yes:
			exempt = append(exempt, name)
		case !yes:
			asked.all++
			missing = append(missing, fmt.Sprintf("| `%s` | %s | %d |", name, group, calls))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Spark's functions and ours\n\nMade by `make docs` from the names of Spark 4.3.0's functions (`docs/parts/spark-functions.txt`), each asked of the binder: yes means that a call of it resolves. [SQL](sql.md) describes what there is.\n\n")
	fmt.Fprintf(&b, "**%d of %d** functions are there; **%d of %d** without those outside the mission (sketches, geospatial, XML, Avro and Protobuf bytes). A call of a missing one is `UNRESOLVED_ROUTINE` or `FEATURE_NOT_AVAILABLE`.\n\n| group | functions | yes | no |\n| --- | --: | --: | --: |\n", total.yes, total.all, asked.yes, asked.all)
	for _, g := range groups {
		c := counts[g]
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", g, c.all, c.yes, c.all-c.yes)
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d |\n\n## Missing\n\nCalls are those counted in public collections of Spark SQL statements.\n\n| function | group | calls |\n| --- | --- | --: |\n%s\n", total.all, total.yes, total.all-total.yes, strings.Join(missing, "\n"))
	fmt.Fprintf(&b, "\n## Outside the mission\n\n`%s`\n", strings.Join(exempt, "`, `"))
	generated(t, "docs/functions.md", b.String())
}
