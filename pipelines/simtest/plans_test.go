package simtest

import (
	"cmp"
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
	names []string // columns of the result
	few   bool     // plays in two of the sinks and triggers only
	// want is what the target holds after all rows, in the form of rows.
	want func(rs []row) []string
}

const window = 10 * time.Second

var plans = []plan{
	{
		name: "stateless", names: []string{"id", "k", "w"}, query: "SELECT id, k, v * 2 AS w FROM STREAM(raw) WHERE v >= 0",
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
		names: []string{"s", "k", "n", "t"},
		query: "SELECT window.start AS s, k, count(*) AS n, sum(v) AS t FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS GROUP BY window(ts, '10 seconds'), k",
		want:  windows,
	},
	{
		name: "dedup", names: []string{"id", "k"}, query: "SELECT id, k FROM STREAM(raw)", extra: "    deduplicate: {keys: [id]}\n",
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
	{
		name: "session", few: true, names: []string{"s", "e", "k", "n"},
		query: "SELECT session_window.start AS s, session_window.end AS e, k, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE v > 10 GROUP BY session_window(ts, '3 seconds'), k",
		want:  sessions,
	},
	{
		name: "join", few: true, names: []string{"a", "k", "b"},
		query: "SELECT a.id AS a, a.k, b.id AS b FROM (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE k = 'a') a LEFT JOIN (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE k <> 'a') b ON a.id % 5 = b.id % 5 AND b.ts BETWEEN a.ts - INTERVAL 2 SECONDS AND a.ts + INTERVAL 2 SECONDS",
		want:  pairs,
	},
	{
		name: "best", few: true, names: []string{"k", "rn", "id", "v"}, extra: "    output_mode: update\n    keys: [k, rn]\n",
		query: "SELECT k, rn, id, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM STREAM(raw)) WHERE rn <= 2",
		want: func(rs []row) (out []string) {
			for _, k := range []string{"a", "b", "c"} {
				of := slices.DeleteFunc(slices.Clone(rs), func(r row) bool { return r.k != k })
				slices.SortFunc(of, func(a, b row) int { return cmp.Or(cmp.Compare(b.v, a.v), cmp.Compare(a.id, b.id)) })
				for i, r := range of[:min(2, len(of))] {
					out = append(out, fmt.Sprintf(`"%s" %d %d %d`, k, i+1, r.id, r.v))
				}
			}
			return out
		},
	},
}

func shown(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }

// sessions merges what is at most three seconds apart, and shows what the
// watermark has closed. Rows come in order of time.
func sessions(rs []row) (out []string) {
	type session struct {
		from, last time.Time
		n          int
	}
	open := map[string]*session{}
	var last time.Time
	show := func(k string, s *session, now time.Time) {
		if end := s.last.Add(3 * time.Second); !end.After(now.Add(-3 * time.Second)) {
			out = append(out, fmt.Sprintf(`"%s" "%s" "%s" %d`, shown(s.from), shown(end), k, s.n))
		}
	}
	for _, r := range rs {
		if r.v <= 10 {
			continue
		}
		last = r.ts
		s := open[r.k]
		if s == nil || r.ts.Sub(s.last) > 3*time.Second {
			if s != nil {
				show(r.k, s, last.Add(time.Hour))
			}
			s = &session{from: r.ts}
			open[r.k] = s
		}
		s.last = r.ts
		s.n++
	}
	for k, s := range open {
		show(k, s, last)
	}
	return out
}

// pairs joins the rows of a with others two seconds around; those without a
// partner come out when none can come any more.
func pairs(rs []row) (out []string) {
	var lastA, lastB time.Time
	for _, r := range rs {
		if r.k == "a" {
			lastA = r.ts
		} else {
			lastB = r.ts
		}
	}
	now := lastA
	if lastB.Before(now) {
		now = lastB
	}
	for _, a := range rs {
		found := a.k != "a"
		for _, b := range rs {
			if d := b.ts.Sub(a.ts); a.k == "a" && b.k != "a" && a.id%5 == b.id%5 && d >= -2*time.Second && d <= 2*time.Second {
				out = append(out, fmt.Sprintf(`%d "a" %d`, a.id, b.id))
				found = true
			}
		}
		if !found && a.ts.Add(2*time.Second+time.Millisecond).Compare(now.Add(-3*time.Second)) <= 0 {
			out = append(out, fmt.Sprintf(`%d "a" null`, a.id))
		}
	}
	return out
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
		for i, r := range out {
			parts := strings.Split(r, " ")
			for c := range parts {
				parts[c] = `"` + p.names[c] + `":` + parts[c]
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
	for i, p := range plans {
		for j, k := range sinkKinds {
			for m, tr := range []string{"available_now", "triggered"} {
				// What is kept by key cannot go to a console; of the others each
				// sink and trigger comes once.
				if p.few && (k.name == "console" && p.name == "best" || (i+j+m)%3 > 0) {
					continue
				}
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
