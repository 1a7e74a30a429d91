package pipelines_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
)

// outside names the groups of functions that are no part of the mission.
var outside = map[string]string{
	"sketch": "sketches", "st": "geospatial", "xml": "XML", "avro": "Avro bytes in SQL", "protobuf": "Protobuf bytes in SQL",
}

// refusals says why functions of the mission's groups are refused.
var refusals = map[string]string{
	"a metric view is needed, and there are none here":                                        "measure",
	"a preview type of Spark, timestamps with nanoseconds; timestamps here have microseconds": "timestamp_nanos unix_nanos",
	"the TIME type is refused, as it is in Spark unless switched on": "time make_time to_time try_to_time time_diff time_trunc current_time localtime " +
		"time_from_micros time_from_millis time_from_seconds time_to_micros time_to_millis time_to_seconds",
	"calls Java classes, and there is no Java machine here":        "reflect try_reflect java_method",
	"reads the log of Python workers, and there is no Python here": "python_worker_logs",
}

func refusal(name string) string {
	for why, names := range refusals {
		if slices.Contains(strings.Fields(names), name) {
			return why
		}
	}
	return ""
}

// sketchWords are in the names of aggregates that make sketches.
var sketchWords = []string{"sketch", "theta_", "hll_", "kll_", "tuple_", "approx_top_k_"}

// known reports whether a function can be called: in an expression, behind
// FROM, or as syntax of its own, and is refused in none of them.
func known(name string) bool {
	found := false
	for _, q := range []string{"SELECT " + name + "()", "SELECT " + name + "(NULL)", "SELECT * FROM " + name + "()"} {
		_, list := sqlplan.Compile(diag.NewText("q", q), noTables{}, sqlplan.Options{Wanted: sqlplan.Batch})
		missing := false
		for _, d := range list {
			switch d.Code {
			case "FEATURE_NOT_AVAILABLE", "UNSUPPORTED_TIME_TYPE":
				return false
			case "UNRESOLVED_ROUTINE", "UNRESOLVABLE_TABLE_VALUED_FUNCTION":
				missing = true
			}
		}
		found = found || !missing
	}
	return found
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
			missing = append(missing, fmt.Sprintf("| `%s` | %s | %d | %s |", name, group, calls, refusal(name)))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Spark's functions and ours\n\nMade by `make docs` from the names of Spark 4.3.0's functions (`docs/parts/spark-functions.txt`), each asked of the binder: yes means that a call of it resolves. [SQL](sql.md) describes what there is.\n\n")
	fmt.Fprintf(&b, "**%d of %d** functions are there; **%d of %d** without those outside the mission (sketches, geospatial, XML, Avro and Protobuf bytes). A call of a missing one is `FEATURE_NOT_AVAILABLE`, `UNSUPPORTED_TIME_TYPE` or `UNRESOLVED_ROUTINE`.\n\nWhat differs from Spark in those that are there: `collate` and `collations` know UTF8_BINARY only (another collation is `FEATURE_NOT_AVAILABLE`, a name that is none `COLLATION_INVALID_NAME`); `sql_keywords` lists the words of Spark 4.2.0; `from_base32` fails with `CONVERSION_INVALID_INPUT` for a text that is no base32, where what Spark does has not been measured; `jaro_winkler_similarity` counts the common beginning at any similarity, as the measure is defined (an example of Spark below 0.7 has not been seen).\n\n| group | functions | yes | no |\n| --- | --: | --: | --: |\n", total.yes, total.all, asked.yes, asked.all)
	for _, g := range groups {
		c := counts[g]
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", g, c.all, c.yes, c.all-c.yes)
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d |\n\n## Missing\n\nCalls are those counted in public collections of Spark SQL statements.\n\n| function | group | calls | why |\n| --- | --- | --: | --- |\n%s\n", total.all, total.yes, total.all-total.yes, strings.Join(missing, "\n"))
	fmt.Fprintf(&b, "\n## Outside the mission\n\n`%s`\n", strings.Join(exempt, "`, `"))
	generated(t, "docs/functions.md", b.String())
}
