package simtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// event is a row of the input.
type row struct {
	id, v int64
	k     string
	ts    time.Time
}

// landing makes the files of a project: three before the first run, two later.
// Rows come in order of time; ids repeat a little.
func landing(n int) (files [][]row) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for f := range 5 {
		var rs []row
		for i := range n {
			at := f*n + i
			id := int64(at)
			if at%7 == 6 {
				id -= 5
			}
			rs = append(rs, row{id: id, v: int64(at*37%100 - 20), k: string(rune('a' + at%3)), ts: start.Add(time.Duration(at) * 700 * time.Millisecond)})
		}
		files = append(files, rs)
	}
	return files
}

func lines(rs []row) string {
	var b strings.Builder
	for _, r := range rs {
		fmt.Fprintf(&b, `{"id":%d,"k":"%s","v":%d,"ts":"%s"}`+"\n", r.id, r.k, r.v, r.ts.Format("2006-01-02T15:04:05.000Z"))
	}
	return b.String()
}

// plan is a kind of query with its slow, obvious meaning.
type plan struct {
	name  string
	query string
	extra string
	// want is what the target holds after all rows, in the form of rows.
	want func(rs []row) []string
}

const window = 10 * time.Second

var plans = []plan{
	{
		name: "stateless", query: "SELECT id, k, v * 2 AS w FROM STREAM(raw) WHERE v >= 0",
		want: func(rs []row) (out []string) {
			for _, r := range rs {
				if r.v >= 0 {
					out = append(out, fmt.Sprintf(`%d "%s" %d`, r.id, r.k, r.v*2))
				}
			}
			return out
		},
	},
	{
		name:  "aggregate",
		query: "SELECT window.start AS s, k, count(*) AS n, sum(v) AS t FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS GROUP BY window(ts, '10 seconds'), k",
		want:  windows,
	},
	{
		name: "dedup", query: "SELECT id, k FROM STREAM(raw)", extra: "    deduplicate: {keys: [id]}\n",
		want: func(rs []row) (out []string) {
			seen := map[int64]bool{}
			for _, r := range rs {
				if !seen[r.id] {
					out = append(out, fmt.Sprintf(`%d "%s"`, r.id, r.k))
				}
				seen[r.id] = true
			}
			return out
		},
	},
}

// windows sums by window and key what the watermark has closed.
func windows(rs []row) (out []string) {
	type key struct {
		s time.Time
		k string
	}
	type sums struct{ n, t int64 }
	groups := map[key]*sums{}
	var last time.Time
	for _, r := range rs {
		g := key{r.ts.Truncate(window), r.k}
		if groups[g] == nil {
			groups[g] = &sums{}
		}
		groups[g].n++
		groups[g].t += r.v
		last = r.ts
	}
	for g, s := range groups {
		if !g.s.Add(window).After(last.Add(-3 * time.Second)) {
			out = append(out, fmt.Sprintf(`"%s" "%s" %d %d`, g.s.Format("2006-01-02T15:04:05.000Z"), g.k, s.n, s.t))
		}
	}
	return out
}

// sinkKind is where a plan writes.
type sinkKind struct {
	name string
	doc  func(p plan) string
	read func(t testing.TB, dir string, p plan) []string
}

func tableDoc(partition string) func(p plan) string {
	return func(p plan) string {
		return fmt.Sprintf("streaming_tables:\n  - name: out\n%s%s    sql: |\n      %s\nmaterialized_views:\n  - name: total\n    sql: SELECT count(*) AS n FROM out\n", partition, p.extra, p.query)
	}
}

var sinkKinds = []sinkKind{
	{name: "table", doc: tableDoc(""), read: func(t testing.TB, dir string, _ plan) []string { return tableRows(t, dir) }},
	{
		name: "partitions", doc: tableDoc("    partitioned_by: [k]\n"),
		read: func(t testing.TB, dir string, _ plan) []string { return tableRows(t, dir) },
	},
	{
		name: "console",
		doc: func(p plan) string {
			extra := strings.ReplaceAll(p.extra, "    ", "    ")
			return fmt.Sprintf("sinks:\n  - name: out\n    format: console\n    options: {path: out.jsonl}\nflows:\n  - name: f\n    target: out\n%s    sql: |\n      %s\n", extra, p.query)
		},
		read: func(t testing.TB, dir string, p plan) []string {
			return consoleRows(t, filepath.Join(dir, "out.jsonl"))
		},
	},
}

// tableRows reads out, and checks the view over it.
func tableRows(t testing.TB, dir string) []string {
	got := rows(t, dir, "out")
	if n := rows(t, dir, "total"); len(n) != 1 || n[0] != fmt.Sprint(len(got)) {
		t.Errorf("the view says %v, the table has %d rows", n, len(got))
	}
	return got
}

// wanted gives a plan's rows in the sink's form.
func wanted(p plan, s sinkKind, rs []row) []string {
	out := p.want(rs)
	if s.name == "console" {
		names := map[string][]string{"stateless": {"id", "k", "w"}, "aggregate": {"s", "k", "n", "t"}, "dedup": {"id", "k"}}[p.name]
		for i, r := range out {
			parts := strings.Split(r, " ")
			for c := range parts {
				parts[c] = `"` + names[c] + `":` + parts[c]
			}
			out[i] = "{" + strings.Join(parts, ",") + "}"
		}
	}
	slices.Sort(out)
	return out
}

// scene is one cell of the matrix: a project that takes five files in two
// parts.
type scene struct {
	plan    plan
	sink    sinkKind
	trigger string
	files   [][]row
}

func (s scene) String() string { return s.plan.name + "/" + s.sink.name + "/" + s.trigger }

func scenes(n int) []scene {
	var out []scene
	files := landing(n)
	for _, p := range plans {
		for _, k := range sinkKinds {
			for _, tr := range []string{"available_now", "triggered"} {
				out = append(out, scene{p, k, tr, files})
			}
		}
	}
	return out
}

// build writes the project with its first files.
func (s scene) build(t testing.TB, dir string) {
	put(t, dir, "pipeline.yml", `name: scene
storage: ./state
sources:
  - name: raw
    format: json
    path: landing
    schema: "id BIGINT, k STRING, v BIGINT, ts TIMESTAMP"
    options: {maxFilesPerTrigger: "2"}
`+s.sink.doc(s.plan))
	for i := range 3 {
		s.add(t, dir, i)
	}
}

func (s scene) add(t testing.TB, dir string, i int) {
	put(t, dir, fmt.Sprintf("landing/f%d.json", i), lines(s.files[i]))
}

// check compares the target with the plan's meaning over the first n files.
func (s scene) check(t testing.TB, dir, what string, n int) {
	t.Helper()
	var rs []row
	for _, f := range s.files[:n] {
		rs = append(rs, f...)
	}
	compare(t, s.String()+" "+what, s.sink.read(t, dir, s.plan), wanted(s.plan, s.sink, rs))
}
