package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pipelines/pipelines/builtin"
	"pipelines/runtime/connector"
	"pipelines/tables/column"
)

// rowsOf reads a table of the project in dir, sorted.
func rowsOf(t *testing.T, dir, name string) []string {
	t.Helper()
	st, err := openStorage(filepath.Join(dir, "state"), false, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	rec, ok, err := st.record(t.Context(), []string{"main", "default", name})
	if err != nil || !ok {
		t.Fatalf("no table %s: %v", name, err)
	}
	tb, err := st.table(t.Context(), rec.Folder)
	if err != nil {
		t.Fatal(err)
	}
	w := builtin.TableWhole(tb, nil)
	splits, _, err := w.Whole(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, s := range splits {
		r, err := w.Open(t.Context(), s, connector.ScanSpec{Columns: tb.Known().Schema(), Location: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		for {
			b, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Len {
				var vals []string
				for _, v := range b.Cols {
					vals = append(vals, fmt.Sprint(column.At(v, i)))
				}
				out = append(out, strings.Join(vals, "|"))
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// good is run without a failed flow.
func good(t *testing.T, dir string, o RunOptions) *Result {
	t.Helper()
	res := run(t, dir, o)
	for _, f := range res.Flows {
		if f.Err != nil {
			t.Fatalf("%s: %v", f.Flow, f.Err)
		}
	}
	return res
}

func wantRows(t *testing.T, dir, name string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := rowsOf(t, dir, name); !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", name, got, want)
	}
}

const changesProject = `
name: cdc
storage: ./state
sources:
  - name: changes
    format: json
    path: data
    schema: "id INT, v STRING, op STRING, seq BIGINT"
    options: {maxFilesPerTrigger: "1"}
streaming_tables:
  - name: newest
    auto_cdc: {source: changes, keys: [id], sequence_by: seq, apply_as_deletes: "op = 'D'", apply_as_truncates: "op = 'T'", except_columns: [op, seq]}
  - name: history
    auto_cdc: {source: changes, keys: [id], sequence_by: "struct(seq, op)", apply_as_deletes: "op = 'D'", except_columns: [op, seq], scd_type: 2}
  - name: counts
    output_mode: update
    keys: [id]
    sql: |
      SELECT id, count(*) AS n, max(v) AS v FROM STREAM(changes) GROUP BY id
`

func changeLine(rng *rand.Rand) string {
	op := []string{"U", "U", "U", "D", "U", "T"}[rng.IntN(6)]
	return fmt.Sprintf(`{"id": %d, "v": "%c", "op": %q, "seq": %d}`+"\n", rng.IntN(4), 'a'+rng.IntN(3), op, rng.IntN(20))
}

var errCrash = errors.New("crash")

// A run that dies at any border, again and again, with an epoch for each file,
// ends with the rows of one run that takes all files at once.
func TestKeyedTablesSurviveCrashes(t *testing.T) {
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 3))
		dir, once := project(t, map[string]string{"pipeline.yml": changesProject}), project(t, map[string]string{"pipeline.yml": changesProject})
		crashes := 0
		for n := range 4 {
			text := ""
			for range 1 + rng.IntN(5) {
				text += changeLine(rng)
			}
			name := fmt.Sprintf("data/%d.json", n)
			write(t, dir, name, text)
			write(t, once, name, text)
			for done := false; !done; {
				var left atomic.Int64 // flows run side by side
				left.Store(1 + rng.Int64N(60))
				res := run(t, dir, RunOptions{Lanes: 2, At: func(string) error {
					if left.Add(-1) <= 0 {
						return errCrash
					}
					return nil
				}})
				done = true
				for _, f := range res.Flows {
					if f.Err != nil {
						if !errors.Is(f.Err, errCrash) {
							t.Fatalf("seed %d: %s: %v", seed, f.Flow, f.Err)
						}
						done = false
						crashes++
					}
				}
			}
		}
		good(t, once, RunOptions{Trigger: "triggered"})
		for _, name := range []string{"newest", "history", "counts"} {
			if got, want := rowsOf(t, dir, name), rowsOf(t, once, name); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %d crashes, %s:\n got %v\nwant %v", seed, crashes, name, got, want)
			}
		}
	}
}

// A run over two epochs that dies at each of its borders in turn, and once more
// in the run that recovers, ends with the same history.
func TestHistoryAtEachBorder(t *testing.T) {
	made := func() string {
		dir := cdcProject(t, "scd_type: 2")
		write(t, dir, "data/0.json", `{"id":1,"v":"a","op":"U","seq":1}`+"\n"+`{"id":2,"v":"a","op":"U","seq":1}`)
		good(t, dir, RunOptions{})
		write(t, dir, "data/1.json", `{"id":1,"v":"b","op":"U","seq":5}`+"\n"+`{"id":2,"op":"D","seq":2}`)
		return dir
	}
	points := 0
	dir := made()
	good(t, dir, RunOptions{At: func(string) error { points++; return nil }})
	want := rowsOf(t, dir, "out")
	if points < 12 || len(want) != 3 {
		t.Fatalf("%d points, %v", points, want)
	}
	dies := func(dir string, n int) {
		at := ""
		res := run(t, dir, RunOptions{At: func(point string) error {
			if n--; n <= 0 {
				at = point
				return errCrash
			}
			return nil
		}})
		if f := res.Flows[0]; f.Err != nil && !errors.Is(f.Err, errCrash) {
			t.Fatalf("at %s: %v", at, f.Err)
		}
	}
	for n := 1; n <= points; n++ {
		dir := made()
		dies(dir, n)
		dies(dir, 1+n%7)
		good(t, dir, RunOptions{})
		if got := rowsOf(t, dir, "out"); !slices.Equal(got, want) {
			t.Fatalf("border %d:\n got %v\nwant %v", n, got, want)
		}
	}
}

// cdcProject is a project with one table, kept by the given auto_cdc keys.
func cdcProject(t *testing.T, cdc string) string {
	return project(t, map[string]string{"pipeline.yml": `
name: one
storage: ./state
sources:
  - name: changes
    format: json
    path: data
    schema: "id INT, v STRING, w STRING, op STRING, seq BIGINT"
streaming_tables:
  - name: out
    auto_cdc: {source: changes, keys: [id], sequence_by: seq, except_columns: [op, seq], apply_as_deletes: "op = 'D'", ` + cdc + `}
`})
}

func TestChangesOfKnownFailures(t *testing.T) {
	cases := []struct {
		name, cdc string
		runs      []string
		want      []string
	}{
		{"B29 late delete inside a finished record", "scd_type: 2", []string{
			`{"id":1,"v":"a","op":"U","seq":10}{"id":1,"op":"D","seq":20}`,
			`{"id":1,"op":"D","seq":15}`,
			`{"id":1,"v":"c","op":"U","seq":17}`,
		}, []string{"1|a|<nil>|10|15", "1|c|<nil>|17|20"}},
		{"B30 delete before the older update", "scd_type: 1", []string{
			`{"id":1,"op":"D","seq":5}`,
			`{"id":1,"v":"old","op":"U","seq":3}`,
		}, nil},
		{"B30 ties", "scd_type: 1", []string{
			`{"id":1,"op":"D","seq":5}`,
			`{"id":1,"v":"tie","op":"U","seq":5}{"id":2,"v":"q","op":"U","seq":1}{"id":3,"v":"p","op":"U","seq":1}`,
			`{"id":2,"v":"p","op":"U","seq":1}{"id":3,"v":"q","op":"U","seq":1}`,
		}, []string{"1|tie|<nil>", "2|q|<nil>", "3|q|<nil>"}},
		{"B34 a deleted key comes back", "scd_type: 2", []string{
			`{"id":1,"v":"eve","op":"U","seq":1}`, `{"id":1,"op":"D","seq":2}`, `{"id":1,"op":"D","seq":3}`, `{"id":1,"v":"eve","op":"U","seq":4}`,
		}, []string{"1|eve|<nil>|1|2", "1|eve|<nil>|4|<nil>"}},
		{"NULL keeps the value before", "ignore_null_updates: true", []string{
			`{"id":1,"v":"a","w":"a","op":"U","seq":1}{"id":1,"v":"c","op":"U","seq":3}`,
			`{"id":1,"w":"b","op":"U","seq":2}`,
			`{"id":2,"v":"a","op":"U","seq":1}{"id":2,"w":"x","op":"U","seq":9}`,
			`{"id":2,"op":"D","seq":4}`,
		}, []string{"1|c|b", "2|<nil>|x"}},
		{"tracked columns", "scd_type: 2, track_history: [v]", []string{
			`{"id":1,"v":"a","w":"1","op":"U","seq":1}{"id":1,"v":"a","w":"2","op":"U","seq":2}`,
			`{"id":1,"v":"b","w":"3","op":"U","seq":4}`,
			`{"id":1,"v":"b","w":"0","op":"U","seq":3}`,
		}, []string{"1|a|2|1|3", "1|b|3|3|<nil>"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := cdcProject(t, c.cdc)
			for n, text := range c.runs {
				write(t, dir, fmt.Sprintf("data/%d.json", n), strings.ReplaceAll(text, "}{", "}\n{"))
				good(t, dir, RunOptions{})
			}
			wantRows(t, dir, "out", c.want...)
		})
	}
}

// Deletes are forgotten when the table says so, and their state with them.
func TestTombstonesExpire(t *testing.T) {
	dir := project(t, map[string]string{"pipeline.yml": `
name: gc
storage: ./state
sources:
  - {name: changes, format: json, path: data, schema: "id INT, op STRING, seq BIGINT"}
streaming_tables:
  - name: out
    properties: {pipelines.cdc.tombstoneGCThresholdInSeconds: "60"}
    auto_cdc: {source: changes, keys: [id], sequence_by: seq, except_columns: [op], apply_as_deletes: "op = 'D'"}
`})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	step := func(n int, after time.Duration, text string, want ...string) {
		now = now.Add(after)
		write(t, dir, fmt.Sprintf("data/%d.json", n), strings.ReplaceAll(text, "}{", "}\n{"))
		p, list, err := Load(t.Context(), LoadOptions{Path: dir, Now: func() time.Time { return now }})
		if err != nil || list.HasErrors() {
			t.Fatal(err, list.Render())
		}
		if res, _, err := p.Run(t.Context(), t.Context(), RunOptions{}); err != nil || res.Failed() {
			t.Fatal(err, res)
		}
		wantRows(t, dir, "out", want...)
	}
	step(1, 0, `{"id":1,"op":"D","seq":10}{"id":2,"op":"D","seq":10}{"id":3,"op":"D","seq":10}`)
	step(2, time.Second, `{"id":1,"op":"U","seq":1}{"id":2,"op":"U","seq":11}`, "2|11")
	step(3, 2*time.Minute, `{"id":9,"op":"U","seq":1}`, "2|11", "9|1")
	step(4, time.Second, `{"id":1,"op":"U","seq":1}{"id":3,"op":"U","seq":2}{"id":2,"op":"U","seq":3}`, "1|1", "2|11", "3|2", "9|1")
}

// B43: a record without a value is a delete of its key.
func TestTombstonesDelete(t *testing.T) {
	dir := project(t, map[string]string{
		"pipeline.yml": `
name: tombs
storage: ./state
libraries: [{glob: {include: "*.sql"}}]
sources:
  - {name: log, format: json, path: data, schema: "key STRING, value STRUCT<v: INT>, offset BIGINT"}
`,
		"t.sql": `
CREATE TEMPORARY VIEW flat AS SELECT key, value.v AS v, value IS NULL AS gone, offset FROM STREAM(log);
CREATE STREAMING TABLE out;
CREATE FLOW apply AS AUTO CDC INTO out FROM STREAM(flat) KEYS (key)
APPLY AS DELETE WHEN gone SEQUENCE BY offset COLUMNS * EXCEPT (gone, offset) STORED AS SCD TYPE 1;
`,
		"data/1.json": `{"key":"k1","value":{"v":1},"offset":0}
{"key":"k2","value":{"v":2},"offset":1}
{"key":"k1","value":null,"offset":2}
{"key":"k2","value":{"v":null},"offset":3}
`})
	good(t, dir, RunOptions{})
	wantRows(t, dir, "out", "k2|<nil>")
}

func TestBadChangesFail(t *testing.T) {
	for text, class := range map[string]string{
		`{"v":"a","op":"U","seq":1}`:   "AUTOCDC_MICROBATCH_VALIDATION.NULL_KEY",
		`{"id":1,"v":"a","op":"U"}`:    "AUTOCDC_MICROBATCH_VALIDATION.NULL_SEQUENCE",
		`{"id":1,"v":"a","op":"D"}`:    "AUTOCDC_MICROBATCH_VALIDATION.NULL_SEQUENCE",
		`{"id":null,"op":"D","seq":7}`: "AUTOCDC_MICROBATCH_VALIDATION.NULL_KEY",
	} {
		dir := cdcProject(t, "scd_type: 1")
		write(t, dir, "data/1.json", text)
		res := run(t, dir, RunOptions{})
		got, _ := classOf(res.Flows[0].Err)
		if got != class {
			t.Errorf("%s: class %q, want %q (%v)", text, got, class, res.Flows[0].Err)
		}
		wantRows(t, dir, "out")
	}
}

// A table that others follow as a stream ends them when it takes rows back,
// unless they leave changes out.
func TestStreamsOfKeyedTables(t *testing.T) {
	dir := project(t, map[string]string{"pipeline.yml": changesProject + `
  - name: strict
    sql: SELECT * FROM STREAM(newest)
  - name: easy
    on_upstream_reset: skip
    sql: SELECT * FROM STREAM(newest)
`})
	write(t, dir, "data/1.json", `{"id":1,"v":"a","op":"U","seq":1}`)
	good(t, dir, RunOptions{})
	wantRows(t, dir, "strict", "1|a")
	write(t, dir, "data/2.json", `{"id":1,"v":"b","op":"U","seq":2}`)
	write(t, dir, "data/3.json", `{"id":2,"v":"c","op":"U","seq":2}`)
	res := run(t, dir, RunOptions{})
	for _, f := range res.Flows {
		failed := f.Err != nil
		if failed != (f.Dataset == "strict") {
			t.Errorf("%s: %v", f.Dataset, f.Err)
		}
		if failed && !strings.Contains(f.Err.Error(), "on_upstream_reset") {
			t.Errorf("no hint: %v", f.Err)
		}
	}
	wantRows(t, dir, "newest", "1|b", "2|c")
	wantRows(t, dir, "easy", "1|a", "2|c")
}

// What the stored changes mean cannot be changed without a full refresh;
// columns may be added.
func TestKeyedDrift(t *testing.T) {
	base := "name: d\nstorage: ./state\nsources:\n  - {name: changes, format: json, path: data, schema: \"id INT, v STRING, w STRING, op STRING, seq BIGINT\"}\nstreaming_tables:\n  - name: out\n    auto_cdc: {source: changes, "
	dir := project(t, map[string]string{"pipeline.yml": base + "keys: [id], sequence_by: seq, columns: [id, v], scd_type: 2}\n"})
	write(t, dir, "data/1.json", `{"id":1,"v":"a","w":"x","op":"U","seq":1}`)
	good(t, dir, RunOptions{})
	for cdc, class := range map[string]string{
		"keys: [id], sequence_by: seq, columns: [id, v]}":                                         "AUTOCDC_INVALID_STATE.SCD_TYPE_DRIFT",
		"keys: [id, v], sequence_by: seq, columns: [id, v], scd_type: 2}":                         "AUTOCDC_INVALID_STATE.KEY_SCHEMA_DRIFT",
		"keys: [id], sequence_by: int(seq), columns: [id, v], scd_type: 2}":                       "AUTOCDC_INVALID_STATE.SEQUENCING_TYPE_DRIFT",
		"keys: [id], sequence_by: seq, columns: [id, v], scd_type: 2, track_history: [v]}":        "AUTOCDC_INVALID_STATE.TRACK_HISTORY_DRIFT",
		"keys: [id], sequence_by: seq, columns: [id, v], scd_type: 2, ignore_null_updates: true}": "AUTOCDC_INVALID_STATE",
	} {
		write(t, dir, "pipeline.yml", base+cdc+"\n")
		ctx := context.Background()
		p, list, err := Load(ctx, LoadOptions{Path: dir})
		if err != nil || list.HasErrors() {
			t.Fatal(err, list.Render())
		}
		_, list, err = p.Run(ctx, ctx, RunOptions{})
		if err != nil || len(list) != 1 || string(list[0].Code) != class {
			t.Errorf("%s: %v %s, want %s", cdc, err, list.Render(), class)
		}
	}
	write(t, dir, "pipeline.yml", base+"keys: [id], sequence_by: seq, columns: [id, v, w], scd_type: 2}\n")
	write(t, dir, "data/2.json", `{"id":1,"v":"a","w":"y","op":"U","seq":2}`)
	good(t, dir, RunOptions{})
	if got := rowsOf(t, dir, "out"); len(got) != 2 {
		t.Errorf("%v", got)
	}
	good(t, dir, RunOptions{FullRefresh: []string{"out"}})
	if got := rowsOf(t, dir, "out"); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// runFindings runs a project and returns the classes of what stops it, joined.
func runFindings(t *testing.T, dir string) string {
	t.Helper()
	ctx := context.Background()
	p, list, err := Load(ctx, LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatal(err, list.Render())
	}
	_, list, err = p.Run(ctx, ctx, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range list {
		out = append(out, string(d.Code)+": "+d.Message)
	}
	return strings.Join(out, "; ")
}

// Another expression as sequence, also in a view, orders the changes anew, and
// other columns of IGNORE NULL UPDATES need values that the state dropped.
// Records of versions that noted neither are taken on, once.
func TestKeyedMeaning(t *testing.T) {
	text := "name: d\nstorage: ./state\nlibraries: [{glob: {include: t.sql}}]\nsources:\n  - {name: changes, format: json, path: data, schema: \"id INT, v STRING, w STRING, seq BIGINT, other BIGINT\"}\n"
	sql := func(view, nulls, seq string) string {
		return "CREATE TEMPORARY VIEW c AS SELECT id, v, w, " + view + " AS seq, other FROM STREAM(changes);\nCREATE OR REFRESH STREAMING TABLE out;\n" +
			"CREATE FLOW f AS AUTO CDC INTO out FROM STREAM(c) KEYS (id) IGNORE NULL UPDATES" + nulls + " SEQUENCE BY " + seq + " COLUMNS id, v, w;\n"
	}
	dir := project(t, map[string]string{"pipeline.yml": text, "t.sql": sql("seq", " ON (w, v)", "seq")})
	write(t, dir, "data/1.json", `{"id":1,"v":"a","w":"x","seq":1,"other":7}`)
	good(t, dir, RunOptions{})
	record := filepath.Join(dir, "state/catalog/main/default/out.json")
	noted, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`,\\"(order|ignoreNullColumns)\\":\\"[^"]*\\"`).ReplaceAllString(string(noted), "")
	if !strings.Contains(string(noted), "ignoreNullColumns") || strings.Contains(old, "ignoreNullColumns") || strings.Contains(old, "order") {
		t.Fatal(string(noted), old)
	}
	for _, c := range []struct{ sql, want string }{
		{sql("seq", " ON (w, v)", "other"), "the sequence was seq and is now other"},
		{sql("other", " ON (w, v)", "seq"), "the sequence was seq and is now other"},
		{sql("seq", " ON (v)", "seq"), "ignored in only (v, w) columns and is now in only (v)"},
		{sql("seq", "", "seq"), "ignored in only (v, w) columns and is now in all"},
	} {
		write(t, dir, "t.sql", c.sql)
		if got := runFindings(t, dir); !strings.HasPrefix(got, "AUTOCDC_INVALID_STATE: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s\n%s", c.sql, got)
		}
		if err := os.WriteFile(record, []byte(old), 0o644); err != nil {
			t.Fatal(err)
		}
		good(t, dir, RunOptions{})
		if err := os.WriteFile(record, noted, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "t.sql", sql("SEQ", " on (v, w)", "Seq"))
	write(t, dir, "data/2.json", `{"id":1,"w":"y","seq":2}`)
	good(t, dir, RunOptions{})
	wantRows(t, dir, "out", "1|a|y")
}

// The order in which keys are listed means nothing; other keys of an upsert are
// refused, without a word of AUTO CDC.
func TestKeyOrder(t *testing.T) {
	text := "name: d\nstorage: ./state\nsources:\n  - {name: s, format: json, path: data, schema: \"a INT, b STRING, v INT, seq INT\"}\nstreaming_tables:\n" +
		"  - {name: changed, auto_cdc: {source: s, keys: [%[1]s], sequence_by: seq}}\n  - {name: upserted, output_mode: update, keys: [%[1]s], sql: \"SELECT a, b, v FROM STREAM(s)\"}\n"
	dir := project(t, map[string]string{"pipeline.yml": fmt.Sprintf(text, "a, b")})
	write(t, dir, "data/1.json", `{"a":1,"b":"x","v":1,"seq":5}`)
	good(t, dir, RunOptions{})
	for i, keys := range []string{"b, a", "B, A", "a, b"} {
		write(t, dir, "pipeline.yml", fmt.Sprintf(text, keys))
		write(t, dir, fmt.Sprintf("data/%d.json", 2+i), fmt.Sprintf("{\"a\":1,\"b\":\"x\",\"v\":%d,\"seq\":%d}", 2+i, 3-i))
		good(t, dir, RunOptions{})
		wantRows(t, dir, "changed", "1|x|1|5")
		wantRows(t, dir, "upserted", fmt.Sprintf("1|x|%d", 2+i))
	}
	write(t, dir, "pipeline.yml", fmt.Sprintf(text, "a"))
	if got := runFindings(t, dir); !strings.Contains(got, "AUTOCDC_INVALID_STATE.KEY_SCHEMA_DRIFT: changed: the keys were (a INT, b STRING) and are now (a INT)") ||
		!strings.Contains(got, "KEYS_CHANGED: upserted: the keys were (a INT, b STRING) and are now (a INT)") {
		t.Error(got)
	}
	write(t, dir, "pipeline.yml", strings.Replace(fmt.Sprintf(text, "a, b"), "output_mode: update, keys: [a, b], ", "", 1))
	if got, want := runFindings(t, dir), "KEYS_CHANGED: upserted: the table was kept by upsert and would now be kept by appending"; got != want {
		t.Error(got)
	}
}

// Every fault of keyed tables is found offline, with its place.
func TestKeyedFindings(t *testing.T) {
	dir := filepath.Join("testdata", "cdc_errors")
	_, list, err := Load(t.Context(), LoadOptions{Path: dir, Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, d := range list {
		fmt.Fprintf(&out, "%s:%s %s\n", filepath.Base(d.Span.File), d.Span.Start, d.Code)
	}
	golden := filepath.Join(dir, "want.txt")
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != out.String() {
		t.Errorf("%v; got\n%s\nwant\n%s", err, out.String(), want)
	}
}

// Keys that would hold several rows of an aggregation, or of the first rows of
// a partition, together are refused, with what is missing.
func TestUpsertKeysTellRowsApart(t *testing.T) { findings(t, "upsert_keys") }

// A view has no output mode: each flow that reads it is held to its own, at its
// own place, and what no mode allows is said of the view.
func TestViewsHaveNoOutputMode(t *testing.T) { findings(t, "view_modes") }

// What is wrong with an expectation is said once, whatever the number of flows,
// and hides nothing that is wrong with the table.
func TestExpectationsHideNothing(t *testing.T) { findings(t, "expectations") }

// findings compares all that is found in a project with its want.txt.
func findings(t *testing.T, name string) {
	t.Helper()
	dir := filepath.Join("testdata", name)
	_, list, err := Load(t.Context(), LoadOptions{Path: dir, Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, d := range list {
		fmt.Fprintf(&out, "%s %s: %s\n  %s\n", d.Span.Start, d.Code, d.Message, d.Hint)
	}
	want, err := os.ReadFile(filepath.Join(dir, "want.txt"))
	if err != nil || string(want) != out.String() {
		t.Errorf("%v; got\n%s\nwant\n%s", err, out.String(), want)
	}
}

// Two flows may keep one table by upsert; each commits what it has, whoever is
// first.
func TestFlowsUpsertTogether(t *testing.T) {
	dir := project(t, map[string]string{"pipeline.yml": `
name: two
storage: ./state
sources:
  - {name: a, format: json, path: a, schema: "id INT, n INT", options: {maxFilesPerTrigger: "1"}}
  - {name: b, format: json, path: b, schema: "id INT, n INT", options: {maxFilesPerTrigger: "1"}}
streaming_tables:
  - name: out
    output_mode: update
    keys: [id]
    flows:
      - {name: fa, sql: "SELECT * FROM STREAM(a)"}
      - {name: fb, sql: "SELECT * FROM STREAM(b)"}
`})
	for n := range 6 {
		write(t, dir, fmt.Sprintf("a/%d.json", n), fmt.Sprintf("{\"id\":1,\"n\":%d}\n{\"id\":2,\"n\":0}\n{\"id\":2,\"n\":%d}", n, n))
		write(t, dir, fmt.Sprintf("b/%d.json", n), fmt.Sprintf("{\"id\":3,\"n\":%d}\n{\"id\":null,\"n\":%d}", n, n))
	}
	good(t, dir, RunOptions{})
	wantRows(t, dir, "out", "1|5", "2|5", "3|5", "<nil>|5")
}

// Stored changes are read as the columns of today.
func TestKeyedWidening(t *testing.T) {
	text := "name: w\nstorage: ./state\nsources:\n  - {name: s, format: json, path: data, schema: \"id INT, v DECIMAL(%s), w STRING, seq INT\"}\nstreaming_tables:\n  - name: out\n    auto_cdc: {source: s, keys: [id], sequence_by: seq, ignore_null_updates: true, columns: [id, v%s]}\n"
	dir := project(t, map[string]string{"pipeline.yml": fmt.Sprintf(text, "10,2", "")})
	write(t, dir, "data/1.json", `{"id":1,"v":1.25,"w":"x","seq":1}`)
	good(t, dir, RunOptions{})
	write(t, dir, "pipeline.yml", fmt.Sprintf(text, "30,2", ", w"))
	write(t, dir, "data/2.json", `{"id":1,"w":"y","seq":2}`)
	good(t, dir, RunOptions{})
	wantRows(t, dir, "out", "1|{0 125}|y")
	write(t, dir, "pipeline.yml", fmt.Sprintf(text, "30,2", ""))
	write(t, dir, "data/3.json", `{"id":1,"seq":3}`)
	loaded, list, err := Load(t.Context(), LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatal(err, list)
	}
	_, list, err = loaded.Run(t.Context(), t.Context(), RunOptions{})
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Message, "column w is no longer written") || list[0].Span.Start.Line != 7 {
		t.Error(err, list)
	}
}

// Lanes are kept where an epoch has one row of each key.
func TestOnePerKey(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT id, count(*) AS n FROM STREAM(s) GROUP BY id":                         true,
		"SELECT count(*) + 1 AS n, id FROM STREAM(s) GROUP BY id HAVING count(*) > 1": true,
		"SELECT id, count(*) AS n FROM STREAM(s) GROUP BY id, id + 1":                 false,
		"SELECT id + 1 AS id, count(*) AS n FROM STREAM(s) GROUP BY id":               false,
		"SELECT id, v FROM STREAM(s)":                                                 false,
	} {
		dir := project(t, map[string]string{"pipeline.yml": `
name: lanes
storage: ./state
sources: [{name: s, format: json, path: data, schema: "id INT, v STRING"}]
streaming_tables:
  - name: out
    output_mode: update
    keys: [id]
    sql: "` + sql + `"
`})
		p, list, err := Load(t.Context(), LoadOptions{Path: dir, Offline: true})
		if err != nil || list.HasErrors() {
			t.Fatal(err, list.Render())
		}
		f := p.datasets[0].flows[0]
		if got := onePerKey(f.plan.Node, f.keyed.keys); got != want {
			t.Errorf("%s: %t", sql, got)
		}
	}
}

// Rows whose sequence cannot be computed end the flow, or are dropped.
func TestChangesThatFail(t *testing.T) {
	for onError, failed := range map[string]bool{"fail": true, "drop": false} {
		dir := project(t, map[string]string{"pipeline.yml": `
name: fails
storage: ./state
sources: [{name: s, format: json, path: data, schema: "id INT, seq STRING"}]
streaming_tables:
  - name: out
    on_error: ` + onError + `
    auto_cdc: {source: s, keys: [id], sequence_by: CAST(seq AS INT)}
`})
		write(t, dir, "data/1.json", "{\"id\":1,\"seq\":\"1\"}\n{\"id\":2,\"seq\":\"x\"}")
		res := run(t, dir, RunOptions{})
		if (res.Flows[0].Err != nil) != failed {
			t.Errorf("%s: %v", onError, res.Flows[0].Err)
		}
		if !failed {
			wantRows(t, dir, "out", "1|1")
		}
	}
}

// Expectations judge the values of upserts; a delete has none and is applied.
func TestExpectationsOfChanges(t *testing.T) {
	dir := project(t, map[string]string{"pipeline.yml": `
name: exp
storage: ./state
sources:
  - {name: changes, format: json, path: data, schema: "id INT, v INT, op STRING, seq BIGINT"}
streaming_tables:
  - name: out
    expectations: [{name: positive, expect: "v > 0", on_violation: drop}]
    auto_cdc: {source: changes, keys: [ID], sequence_by: seq, columns: [id, V], apply_as_deletes: "op = 'D'"}
`})
	write(t, dir, "data/1.json", "{\"id\":1,\"v\":1,\"seq\":1}\n{\"id\":2,\"v\":5,\"seq\":1}\n{\"id\":2,\"v\":-1,\"seq\":2}\n{\"id\":1,\"op\":\"D\",\"seq\":2}")
	res := good(t, dir, RunOptions{})
	wantRows(t, dir, "out", "2|5")
	if x := res.Flows[0].Expectations; len(x) != 1 || x[0].Failed != 1 || x[0].Passed != 3 {
		t.Errorf("%+v", x)
	}
}

// In SQL the source may be any stream, also a table function and the older
// forms.
func TestSourcesOfChanges(t *testing.T) {
	dir := project(t, map[string]string{
		"pipeline.yml": `
name: forms
storage: ./state
libraries: [{glob: {include: "*.sql"}}]
sources:
  - {name: raw, format: json, path: data, schema: "id INT, v STRING, seq BIGINT"}
`,
		"t.sql": `
CREATE STREAMING TABLE a FLOW AUTO CDC FROM STREAM(read_files('data', format => 'json', schema => 'id INT, v STRING, seq BIGINT')) KEYS (id) SEQUENCE BY seq COLUMNS * EXCEPT (seq);
CREATE OR REFRESH STREAMING LIVE TABLE b;
APPLY CHANGES INTO LIVE.b FROM STREAM(LIVE.raw) KEYS (id) IGNORE NULL UPDATES SEQUENCE BY struct(seq, id) COLUMNS * EXCEPT (seq) STORED AS SCD TYPE 1;
`})
	write(t, dir, "data/1.json", "{\"id\":1,\"v\":\"a\",\"seq\":1}\n{\"id\":1,\"seq\":2}")
	good(t, dir, RunOptions{})
	wantRows(t, dir, "a", "1|<nil>")
	wantRows(t, dir, "b", "1|a")
}

// The source may be a view with state, the target partitioned, and its columns
// declared without those that SCD type 2 adds.
func TestChangesThroughViews(t *testing.T) {
	dir := project(t, map[string]string{
		"pipeline.yml": `
name: through
storage: ./state
libraries: [{glob: {include: "*.sql"}}]
sources:
  - {name: raw, format: json, path: data, schema: "id INT, v STRING, ts TIMESTAMP"}
`,
		"t.sql": `
CREATE TEMPORARY VIEW upper_changes AS SELECT DISTINCT id, upper(v) AS v, day(ts) AS d, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 0 SECONDS;
CREATE STREAMING TABLE out (id INT, v STRING, d INT) PARTITIONED BY (d);
CREATE FLOW apply AS AUTO CDC INTO out FROM STREAM(upper_changes) KEYS (id) SEQUENCE BY ts COLUMNS (id, v, d) STORED AS SCD TYPE 2 TRACK HISTORY ON (v, d);
`})
	write(t, dir, "data/1.json", "{\"id\":1,\"v\":\"a\",\"ts\":\"2026-01-01T00:00:00Z\"}\n{\"id\":1,\"v\":\"a\",\"ts\":\"2026-01-01T00:00:00Z\"}\n{\"id\":1,\"v\":\"b\",\"ts\":\"2026-01-02T00:00:00Z\"}\n{\"id\":2,\"v\":\"b\",\"ts\":\"2026-01-09T00:00:00Z\"}")
	good(t, dir, RunOptions{})
	first, second, third := int64(1767225600000000), int64(1767225600000000+86400e6), int64(1767225600000000+8*86400e6)
	wantRows(t, dir, "out", fmt.Sprintf("1|A|1|%d|%d", first, second), fmt.Sprintf("1|B|2|%d|<nil>", second), fmt.Sprintf("2|B|9|%d|<nil>", third))
}
