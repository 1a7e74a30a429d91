package simtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pipelines/pipelines"
)

// world is one simulated project: what it is, what files it got, and what its
// tables must hold.
type world struct {
	t       *testing.T
	r       *rand.Rand
	besides *rand.Rand // which runs commit epochs beside the next
	dir     string
	sources [][]simRow // all rows of each source so far
	limits  []string   // options of each source
	old     []simRow   // what once flows read
	tables  []*simTable
	views   []*simView
	files   int
	log     []string // what was done, for the message of a failure
}

type simRow struct {
	id, v int64
	k     string
}

func (r simRow) text() string { return fmt.Sprintf(`%d "%s" %d`, r.id, r.k, r.v) }

// simFlow reads a source (or the old rows, once) or an earlier table.
type simFlow struct {
	table, source int // -1: not from there; both -1: once
	mod, rest     int64
	add           int64
}

type simTable struct {
	name      string
	flows     []simFlow
	partition bool
	expect    bool // drops rows whose v divides by 5
	dedup     bool
}

// simView sums a table by key, or all keys of another view.
type simView struct {
	name string
	of   int // table
	view int // or view, -1: none
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 7)), besides: rand.New(rand.NewPCG(seed, 8)), dir: folder(t)}
	for range 1 + w.r.IntN(2) {
		w.sources = append(w.sources, nil)
		w.limits = append(w.limits, []string{"", `maxFilesPerTrigger: "1"`, `maxFilesPerTrigger: "2", latestFirst: "true"`, `maxBytesPerTrigger: "300"`}[w.r.IntN(4)])
	}
	for i := range 6 {
		w.old = append(w.old, simRow{id: int64(-1 - i), k: "o", v: int64(i)})
	}
	for i := range 1 + w.r.IntN(4) {
		x := &simTable{name: fmt.Sprintf("t%d", i), partition: w.r.IntN(3) == 0, expect: w.r.IntN(3) == 0}
		for range 1 + w.r.IntN(2) {
			f := simFlow{table: -1, source: -1, mod: 1 + w.r.Int64N(3), add: w.r.Int64N(3)}
			f.rest = w.r.Int64N(f.mod)
			if i > 0 && w.r.IntN(2) == 0 {
				f.table = w.r.IntN(i)
			} else {
				f.source = w.r.IntN(len(w.sources))
			}
			x.flows = append(x.flows, f)
		}
		switch w.r.IntN(4) {
		case 0:
			x.flows = append(x.flows, simFlow{table: -1, source: -1, mod: 1})
		case 1:
			x.flows, x.dedup = x.flows[:1], true
		}
		w.tables = append(w.tables, x)
	}
	for i := range 1 + w.r.IntN(3) {
		v := &simView{name: fmt.Sprintf("m%d", i), of: w.r.IntN(len(w.tables)), view: -1}
		if i > 0 && w.r.IntN(2) == 0 {
			v.view = w.r.IntN(i)
		}
		w.views = append(w.views, v)
	}
	w.write()
	return w
}

// write writes the document.
func (w *world) write() {
	var b strings.Builder
	b.WriteString("name: sim\nstorage: ./state\nsources:\n")
	for i, o := range w.limits {
		fmt.Fprintf(&b, "  - {name: s%d, format: json, path: in%d, schema: \"id BIGINT, k STRING, v BIGINT\", options: {%s}}\n", i, i, o)
		if err := os.MkdirAll(filepath.Join(w.dir, fmt.Sprintf("in%d", i)), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	b.WriteString("  - {name: old, format: json, path: old, schema: \"id BIGINT, k STRING, v BIGINT\"}\nstreaming_tables:\n")
	for _, x := range w.tables {
		fmt.Fprintf(&b, "  - name: %s\n", x.name)
		if x.partition {
			b.WriteString("    partitioned_by: [k]\n")
		}
		if x.expect {
			b.WriteString("    expectations:\n      - {name: e, expect: \"v % 5 <> 0\", on_violation: drop}\n")
		}
		b.WriteString("    flows:\n")
		for n, f := range x.flows {
			from := "old"
			switch {
			case f.table >= 0:
				from = "STREAM(" + w.tables[f.table].name + ")"
			case f.source >= 0:
				from = fmt.Sprintf("STREAM(s%d)", f.source)
			}
			fmt.Fprintf(&b, "      - name: %s_f%d\n", x.name, n)
			if from == "old" {
				b.WriteString("        once: true\n")
			}
			if x.dedup {
				b.WriteString("        deduplicate: {keys: []}\n")
			}
			fmt.Fprintf(&b, "        sql: \"SELECT id, k, v + %d AS v FROM %s WHERE pmod(id, %d) = %d\"\n", f.add, from, f.mod, f.rest)
		}
	}
	b.WriteString("materialized_views:\n")
	for _, v := range w.views {
		if v.view >= 0 {
			fmt.Fprintf(&b, "  - {name: %s, sql: \"SELECT 'all' AS k, sum(n) AS n, sum(t) AS t FROM %s\"}\n", v.name, w.views[v.view].name)
		} else {
			fmt.Fprintf(&b, "  - {name: %s, sql: \"SELECT k, count(*) AS n, sum(v) AS t FROM %s GROUP BY k\"}\n", v.name, w.tables[v.of].name)
		}
	}
	put(w.t, w.dir, "pipeline.yml", b.String())
	put(w.t, w.dir, "old/a.json", simLines(w.old))
}

func simLines(rs []simRow) string {
	var b strings.Builder
	for _, r := range rs {
		fmt.Fprintf(&b, `{"id":%d,"k":"%s","v":%d}`+"\n", r.id, r.k, r.v)
	}
	return b.String()
}

// arrive adds a file to a random source.
func (w *world) arrive() {
	s := w.r.IntN(len(w.sources))
	var rs []simRow
	for range w.r.IntN(12) {
		id := w.r.Int64N(60)
		rs = append(rs, simRow{id: id, k: string(rune('a' + id%4)), v: id * 7 % 23})
	}
	w.files++
	put(w.t, w.dir, fmt.Sprintf("in%d/%d.json", s, w.r.IntN(1000)*1000+w.files), simLines(rs))
	w.sources[s] = append(w.sources[s], rs...)
	w.log = append(w.log, fmt.Sprintf("%d rows into s%d", len(rs), s))
}

// model computes what every table must hold, by the plainest means.
func (w *world) model() [][]simRow {
	var out [][]simRow
	for _, x := range w.tables {
		var rs []simRow
		seen := map[simRow]bool{}
		for _, f := range x.flows {
			from := w.old
			switch {
			case f.table >= 0:
				from = out[f.table]
			case f.source >= 0:
				from = w.sources[f.source]
			}
			for _, r := range from {
				if ((r.id%f.mod)+f.mod)%f.mod != f.rest {
					continue
				}
				r.v += f.add
				if x.dedup && seen[r] || x.expect && r.v%5 == 0 {
					continue
				}
				seen[r] = true
				rs = append(rs, r)
			}
		}
		out = append(out, rs)
	}
	return out
}

// check compares all tables and views with the model.
func (w *world) check(what string) {
	model := w.model()
	for i, x := range w.tables {
		var wantRows []string
		for _, r := range model[i] {
			wantRows = append(wantRows, r.text())
		}
		compare(w.t, what+" "+x.name, rows(w.t, w.dir, x.name), wantRows)
	}
	type sums struct{ n, t int64 }
	views := map[int]map[string]sums{}
	for i, v := range w.views {
		views[i] = map[string]sums{}
		if v.view >= 0 {
			var all sums
			for _, s := range views[v.view] {
				all.n, all.t = all.n+s.n, all.t+s.t
			}
			views[i]["all"] = all
		} else {
			for _, r := range model[v.of] {
				s := views[i][r.k]
				views[i][r.k] = sums{s.n + 1, s.t + r.v}
			}
		}
		var wantRows []string
		for k, s := range views[i] {
			line := fmt.Sprintf(`"%s" %d %d`, k, s.n, s.t)
			if s.n == 0 {
				line = fmt.Sprintf(`"%s" null null`, k)
			}
			wantRows = append(wantRows, line)
		}
		compare(w.t, what+" "+v.name, rows(w.t, w.dir, v.name), wantRows)
	}
}

// checkPart is what must hold after a crash: nothing doubled or invented, and
// no version missing.
func (w *world) checkPart(what string) {
	model := w.model()
	for i, x := range w.tables {
		log := filepath.Join(w.dir, "state/tables/main/default", x.name, "_delta_log")
		entries, err := os.ReadDir(log)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			w.t.Fatal(err)
		}
		next := 0
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.Contains(name, ".") && name[0] == '0' {
				if v, err := strconv.Atoi(name); err != nil || v != next {
					w.t.Errorf("%s: %s has %s after version %d", what, x.name, e.Name(), next-1)
				}
				next++
			}
		}
		if next == 0 {
			continue
		}
		count := map[string]int{}
		for _, r := range model[i] {
			count[r.text()]++
		}
		for _, r := range rows(w.t, w.dir, x.name) {
			if count[r]--; count[r] < 0 {
				w.t.Errorf("%s: %s holds %s too often", what, x.name, r)
			}
		}
	}
}

// round lets files arrive and runs in one of many ways.
func (w *world) round(n int) {
	for range w.r.IntN(4) {
		w.arrive()
	}
	o := pipelines.RunOptions{Trigger: []string{"", "available_now", "triggered"}[w.r.IntN(3)], Lanes: 1 + w.r.IntN(4), BatchRows: 1 + w.r.IntN(40), Beside: w.besides.IntN(2)}
	if n > 0 && w.r.IntN(4) == 0 {
		o.FullRefresh, o.Cascade = []string{w.tables[w.r.IntN(len(w.tables))].name}, true
	}
	what := fmt.Sprintf("round %d trigger %q lanes %d batch %d beside %d refresh %v", n, o.Trigger, o.Lanes, o.BatchRows, o.Beside, o.FullRefresh)
	switch w.r.IntN(5) {
	case 0: // a crash that this process survives
		b := &bomb{n: 1 + w.r.IntN(60)}
		crashRun(w.t, w.dir, what, b, o)
		what += " crash at " + b.point
		w.log = append(w.log, what)
		w.checkPart(what)
	case 1: // a kill
		x := order{Dir: w.dir, Trigger: o.Trigger, FullRefresh: o.FullRefresh, Lanes: o.Lanes, Rows: o.BatchRows, Beside: o.Beside, Point: borders[w.r.IntN(len(borders))].point, Nth: 1 + w.r.IntN(3)}
		what += fmt.Sprintf(" kill at %s %d", x.Point, x.Nth)
		w.log = append(w.log, what)
		if child(w.t, x) || o.FullRefresh != nil {
			w.checkPart(what)
		} else {
			w.check(what)
		}
	case 2: // a stop
		stop, halt := context.WithCancel(context.Background())
		var left atomic.Int64 // flows run side by side
		left.Store(int64(w.r.IntN(40)))
		o.At = func(string) error {
			if left.Add(-1) == 0 {
				halt()
			}
			return nil
		}
		o.Lanes = 1
		w.log = append(w.log, what+" stop")
		res, err := runStop(context.Background(), stop, w.dir, o)
		if err == nil {
			err = failures(res)
		}
		if err != nil {
			w.t.Errorf("%s: %v", what, err)
		}
		halt()
		w.checkPart(what + " stop")
	default:
		w.log = append(w.log, what)
		run(w.t, w.dir, o)
		if o.FullRefresh != nil { // the views that read the table were left out
			w.checkPart(what)
			run(w.t, w.dir, pipelines.RunOptions{})
		}
		w.check(what)
	}
}

func simulate(t *testing.T, seed uint64) {
	w := newWorld(t, seed)
	defer func() {
		if t.Failed() {
			text, err := os.ReadFile(filepath.Join(w.dir, "pipeline.yml"))
			t.Logf("add this seed to testdata/seeds: %d\n%s\n%s %v", seed, strings.Join(w.log, "\n"), text, err)
		}
	}()
	for n := range 3 + w.r.IntN(5) {
		w.round(n)
		if t.Failed() {
			return
		}
	}
	run(t, w.dir, pipelines.RunOptions{})
	w.check("end")
}

// simulationSeeds are those that failed once and PIPELINES_SEEDS others (or so
// many), from PIPELINES_SEED_FROM on.
func simulationSeeds(t *testing.T, failed string, n uint64) (seeds []uint64) {
	t.Helper()
	text, err := os.ReadFile(failed)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		s, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, s)
	}
	if s := os.Getenv("PIPELINES_SEEDS"); s != "" {
		if n, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	from := uint64(1000)
	if s := os.Getenv("PIPELINES_SEED_FROM"); s != "" {
		if from, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		if s := from + i; !slices.Contains(seeds, s) {
			seeds = append(seeds, s)
		}
	}
	return seeds
}

// TestSimulation compares random projects with their model.
func TestSimulation(t *testing.T) {
	for _, s := range simulationSeeds(t, "testdata/seeds", 25) {
		t.Run(strconv.FormatUint(s, 10), func(t *testing.T) { simulate(t, s) })
	}
}
