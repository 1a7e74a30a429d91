package pipelines_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestUpsertKeysOverData runs the queries of testdata/upsert_keys over rows of
// all sorts: those whose keys are taken have one row of each key, those that
// are refused have more.
func TestUpsertKeysOverData(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "upsert_keys", "pipeline.yml"))
	if err != nil {
		t.Fatal(err)
	}
	const rows = `WITH s AS (
		SELECT if(h %% 7 = 0, NULL, CAST(h %% 5 AS STRING) || element_at(array('', ' ', 'x', 'X'), (h DIV 7 %% 4 + 1)::INT)) AS k, nullif(h %% 11 - 2, 0)::INT AS v, timestamp_seconds(h %% 600) AS ts,
			(h DIV 11 %% 9)::INT AS w, nullif(h DIV 100 %% 9, 0)::BIGINT AS l, h %% 3 = 0 AS b, struct((h %% 3)::INT AS a, (h DIV 3 %% 3)::INT AS b) AS st
		FROM (SELECT pmod(xxhash64(id), 100000) AS h FROM range(4000)))
	SELECT count(*) AS n, count(DISTINCT struct(%s)) AS keys FROM (%s)`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pipeline.yml"), []byte("name: none\nstorage: ./state\nmaterialized_views: [{name: one, sql: SELECT 1 AS x}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	flow := regexp.MustCompile(`name: ([yz]\w+), output_mode: update, keys: \[(.*?)\], sql: "(.*)"`)
	all := flow.FindAllStringSubmatch(string(text), -1)
	if len(all) < 25 {
		t.Fatalf("%d queries", len(all))
	}
	for _, f := range all {
		var n, keys int
		got := queryText(t, dir, fmt.Sprintf(rows, f[2], strings.ReplaceAll(strings.ReplaceAll(f[3], "STREAM(s)", "s"), "CAST(k AS INT)", "try_cast(k AS INT)")))
		if _, got, _ = strings.Cut(got, `"rows":[[`); got == "" {
			t.Fatal(f[1])
		}
		if _, err := fmt.Sscanf(got, "%d,%d", &n, &keys); err != nil {
			t.Fatalf("%s: %s", f[1], got)
		}
		if n == 0 || (n == keys) != (f[1][0] == 'y') {
			t.Errorf("%s: %d rows of %d keys", f[1], n, keys)
		}
	}
}
