package pipelines

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// upsertQuery finds the queries of testdata/upsert_keys whose keys are taken.
var upsertQuery = regexp.MustCompile(`(?m)^  - \{name: (y\w+|ms|jd|ce|cf|cd|sd|se), output_mode: update, keys: .*$`)

// Whatever the batches, a table kept by upsert whose keys and conditions are
// taken without a word holds the same rows. Those that are refused or warned of
// do not.
func TestUpsertsWhateverTheBatches(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "upsert_keys", "pipeline.yml"))
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "streaming_tables:\n")
	found := upsertQuery.FindAllStringSubmatch(string(text), -1)
	if len(found) < 25 {
		t.Fatalf("%d queries", len(found))
	}
	var doc strings.Builder
	doc.WriteString(head + "streaming_tables:\n")
	for _, q := range found {
		doc.WriteString(q[0] + "\n")
	}
	// Conditions that may stop to be true, and one that is warned of, to see that
	// the batches could tell.
	query := func(name, sql string) {
		line := fmt.Sprintf("  - {name: %s, output_mode: update, keys: [k], sql: %q}", name, sql)
		doc.WriteString(line + "\n")
		found = append(found, []string{line, name})
	}
	query("odd", "SELECT k, n FROM (SELECT k, count(*) AS n FROM STREAM(s) GROUP BY k) WHERE n & 1 = 1")
	query("little", "SELECT k, sum(v) AS n, sum(w) AS m FROM STREAM(s) GROUP BY k HAVING sum(v) < 60 AND m & 3 <> 0 AND k <> '1'")
	query("last", "SELECT k, v, w FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts DESC, v, w, l, st.a, b) AS rn FROM STREAM(s)) WHERE rn = 1 AND v < 3")
	checked := func(name, sql, expect string) {
		line := fmt.Sprintf("  - {name: %s, output_mode: update, keys: [k], sql: %q, expectations: [{name: e, expect: %q, on_violation: drop}, {name: seen, expect: %q}]}", name, sql, expect, expect)
		doc.WriteString(line + "\n")
		found = append(found, []string{line, name})
	}
	checked("dropped", "SELECT k, count(*) AS n FROM STREAM(s) GROUP BY k", "n % 2 = 1")
	checked("twice", "SELECT k, count(*) AS n FROM STREAM(s) GROUP BY k HAVING count(*) & 1 = 1", "n & 2 = 2")
	doc.WriteString("  - {name: quiet, output_mode: update, keys: [k], sql: \"SELECT k, 100 / n AS n FROM (SELECT k, count(*) AS n FROM STREAM(s) GROUP BY k) WHERE n & 1 = 1\"}\n")
	whole := project(t, map[string]string{"pipeline.yml": doc.String()})
	parts := project(t, map[string]string{"pipeline.yml": strings.Replace(doc.String(), "path: data,", "path: data, options: {maxFilesPerTrigger: \"1\"},", 1)})
	rng := rand.New(rand.NewPCG(3, 1))
	for n := range 6 {
		var lines []string
		for range 25 {
			null := func(x string) string {
				if rng.IntN(6) == 0 {
					return "null"
				}
				return x
			}
			lines = append(lines, fmt.Sprintf(`{"k":%s,"v":%s,"ts":"2026-01-01T00:0%d:%02dZ","w":%s,"l":%d,"b":%t,"st":{"a":%d,"b":1}}`,
				null(fmt.Sprintf("%q", string("12x"[rng.IntN(3)]))), null(fmt.Sprint(rng.IntN(6))), rng.IntN(3), rng.IntN(60), null(fmt.Sprint(rng.IntN(5))), rng.IntN(4), rng.IntN(2) == 0, rng.IntN(2)))
		}
		for _, dir := range []string{whole, parts} {
			write(t, dir, fmt.Sprintf("data/%d.json", n), strings.Join(lines, "\n"))
		}
	}
	good(t, whole, RunOptions{})
	good(t, parts, RunOptions{})
	rows := 0
	for _, q := range found {
		a, b := rowsOf(t, whole, q[1]), rowsOf(t, parts, q[1])
		if rows += len(a); !slices.Equal(a, b) {
			t.Errorf("%s\nat once:  %v\nin parts: %v", q[0], a, b)
		}
	}
	if a, b := rowsOf(t, whole, "quiet"), rowsOf(t, parts, "quiet"); rows < 100 || slices.Equal(a, b) {
		t.Errorf("the data tells nothing: %d rows, %v", rows, a)
	}
}
