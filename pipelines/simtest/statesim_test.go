package simtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pipelines/pipelines"
)

// stateWorld is a random query of stateful operators over sources whose files
// keep arriving, run in many ways; the model replays the same epochs.
type stateWorld struct {
	t       *testing.T
	r       *rand.Rand
	spills  *rand.Rand // which runs have state leave memory
	spells  *rand.Rand // which joins are semi and anti joins, and written as EXISTS
	dir     string
	root    *mnode
	nodes   []*mnode
	keys    []string   // of the target, nil: appended
	files   [][][]mrow // by source: files that no epoch has taken
	limits  []int      // files an epoch, by source; 0: all
	used    []int      // sources that are read
	narrow  bool       // ids are distinct in a file (what is first is then known)
	spread  float64    // seconds of disorder
	now     float64    // seconds
	table   mtable
	epochs  int64 // that the model has run
	evict   int64
	lates   int
	put     int
	log     []string
	deduped bool // within the watermark: a batch query has no such thing
}

func newStateWorld(t *testing.T, seed uint64) *stateWorld {
	w := &stateWorld{t: t, r: rand.New(rand.NewPCG(seed, 11)), spills: rand.New(rand.NewPCG(seed, 12)), spells: rand.New(rand.NewPCG(seed, 13)), dir: folder(t), evict: never, spread: []float64{0.5, 3, 12}[seed%3]}
	sources := 1 + w.r.IntN(2)
	w.files, w.limits = make([][][]mrow, sources), make([]int, sources)
	for i := range w.limits {
		w.limits[i] = w.r.IntN(3)
	}
	end := w.r.IntN(6)
	switch {
	case end > 2:
		w.root = w.random(1 + w.r.IntN(3))
	case end == 2:
		w.keys = []string{"k", "rn"}
		w.root = w.over(&mtop{}, w.added(w.r.IntN(3)))
	case end == 1:
		w.keys = []string{"k"}
		w.root = w.over(&mgrouped{distinct: w.r.IntN(2) == 0}, w.source())
	default:
		w.keys = []string{"k", "ts"}
		w.root = w.over(&mwindow{size: 10 * second, slide: []int64{5, 10}[w.r.IntN(2)] * second, update: true, distinct: w.r.IntN(2) == 0}, w.source())
	}
	w.table.keys = w.keys
	w.root.keys(false)
	w.root.each(func(n *mnode) {
		if n.op == nil && !slices.Contains(w.used, n.source) {
			w.used = append(w.used, n.source)
		}
	})
	put(t, w.dir, "pipeline.yml", w.document(false))
	return w
}

func (w *stateWorld) add(n *mnode) *mnode {
	n.name = fmt.Sprintf("n%d", len(w.nodes))
	w.nodes = append(w.nodes, n)
	return n
}

func (w *stateWorld) source() *mnode {
	delay := []int64{0, 500_000, 3 * second, 60 * second}[w.r.IntN(4)]
	return w.add(&mnode{source: w.r.IntN(len(w.files)), delay: delay, most: never})
}

func (w *stateWorld) over(op mop, in ...*mnode) *mnode { return w.add(&mnode{op: op, in: in}) }

// random makes a plan whose rows are only added, depth operators high.
func (w *stateWorld) random(depth int) *mnode {
	if depth == 0 {
		return w.source()
	}
	size := []int64{5, 10, 20}[w.r.IntN(3)] * second
	switch w.r.IntN(8) {
	case 0:
		return w.over(&mwindow{size: size, slide: size, distinct: w.r.IntN(3) == 0}, w.random(depth-1))
	case 1:
		return w.over(&mwindow{size: size, slide: size / 5 * (1 + w.r.Int64N(4))}, w.random(depth-1))
	case 2:
		return w.over(&msession{gap: size / 5, distinct: w.r.IntN(3) == 0}, w.random(depth-1))
	case 3:
		return w.over(&mdistinct{}, w.random(depth-1))
	case 4:
		return w.over(&mfirst{}, w.random(depth-1))
	default:
		return w.added(depth)
	}
}

// added makes a plan of joins and deduplications.
func (w *stateWorld) added(depth int) *mnode {
	if depth == 0 {
		return w.source()
	}
	switch w.r.IntN(4) {
	case 0:
		n := w.over(&mdedup{}, w.random(w.inner(depth)))
		n.dedup = "[]"
		return n
	case 1:
		src := w.source()
		n := w.over(&mdedup{within: true, delay: src.delay}, src)
		n.dedup, w.narrow, w.deduped = "[id], within_watermark: true", true, true
		w.limits[src.source] = 1
		return n
	}
	kinds := []string{"INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI"}
	if w.keys != nil {
		kinds = kinds[:1]
	}
	j := &mjoin{kind: kinds[w.r.IntN(len(kinds))], before: w.r.Int64N(4) * second, after: w.r.Int64N(6) * second, equal: w.r.IntN(4) == 0}
	if j.kind == "LEFT SEMI" || w.keys == nil && w.spells.IntN(2) == 0 {
		j.kind = []string{"LEFT SEMI", "LEFT ANTI"}[min(w.spells.IntN(3), 1)]
		j.exists = w.spells.IntN(2) == 0
	}
	return w.over(j, w.random(w.inner(depth)), w.random(min(1, w.inner(depth))))
}

// inner is the depth below an operator; update mode takes no aggregate there.
func (w *stateWorld) inner(depth int) int {
	if w.keys != nil {
		return 0
	}
	return depth - 1
}

// document writes the pipeline, or with batch the same query as a view.
func (w *stateWorld) document(batch bool) string {
	var b strings.Builder
	b.WriteString("name: sim\nstorage: ./state\nsources:\n")
	for i, n := range w.limits {
		options := ""
		if n > 0 {
			options = fmt.Sprintf(`maxFilesPerTrigger: "%d"`, n)
		}
		fmt.Fprintf(&b, "  - {name: s%d, format: json, path: %s/in%d, schema: \"id BIGINT, k STRING, v BIGINT, ts TIMESTAMP\", options: {%s}}\n", i, w.dir, i, options)
		if err := os.MkdirAll(filepath.Join(w.dir, fmt.Sprintf("in%d", i)), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	b.WriteString("views:\n")
	last := len(w.nodes)
	if w.keys != nil {
		last--
	}
	for _, n := range w.nodes[:last] {
		fmt.Fprintf(&b, "  - name: %s\n    sql: |\n      %s\n", n.name, n.query(batch))
		if n.dedup != "" && !batch {
			fmt.Fprintf(&b, "    deduplicate: {keys: %s}\n", n.dedup)
		}
	}
	switch {
	case batch && w.keys != nil:
		fmt.Fprintf(&b, "materialized_views:\n  - name: out\n    sql: |\n      %s\n", w.root.query(true))
	case batch:
		fmt.Fprintf(&b, "materialized_views:\n  - name: out\n    sql: SELECT id, k, v, ts FROM %s\n", w.root.name)
	case w.keys != nil:
		fmt.Fprintf(&b, "streaming_tables:\n  - name: out\n    output_mode: update\n    keys: [%s]\n    sql: |\n      %s\n", strings.Join(w.keys, ", "), w.root.query(false))
	default:
		fmt.Fprintf(&b, "streaming_tables:\n  - name: out\n    sql: SELECT id, k, v, ts FROM STREAM(%s)\n", w.root.name)
	}
	return b.String()
}

var simStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// arrive adds a file of rows to a source.
func (w *stateWorld) arrive(s int, rs []mrow) {
	var b strings.Builder
	for _, r := range rs {
		b.WriteString(r.json() + "\n")
	}
	w.put++
	put(w.t, w.dir, fmt.Sprintf("in%d/%04d.json", s, w.put), b.String())
	w.files[s] = append(w.files[s], rs)
}

// some makes a file: times go on, with disorder; some ids, keys and times come
// again, some are NULL.
func (w *stateWorld) some() {
	s := w.used[w.r.IntN(len(w.used))]
	var rs []mrow
	for range w.r.IntN(11) {
		w.now += w.r.Float64() * 1.5
		at := w.now - w.r.ExpFloat64()*w.spread
		id := w.r.Int64N(30)
		if w.narrow && slices.ContainsFunc(rs, func(r mrow) bool { return r.id.n == id }) {
			continue
		}
		ms := int64(at*2) * 500
		r := mrow{id: num{id, true}, v: num{w.r.Int64N(9), true}, ts: num{simStart.Add(time.Duration(ms) * time.Millisecond).UnixMicro(), true}, k: string(rune('a' + id%4))}
		switch w.r.IntN(40) {
		case 0:
			r.ts = num{}
		case 1:
			if w.keys == nil { // those of a table are never NULL
				r.k = ""
			}
		case 2:
			r.v = num{}
		}
		rs = append(rs, r)
	}
	w.arrive(s, rs)
	w.log = append(w.log, fmt.Sprintf("%d rows into s%d", len(rs), s))
}

// global is the watermark of the times seen so far (W-02, W-03).
func (w *stateWorld) global() int64 {
	least := int64(1<<63 - 1)
	for _, n := range w.nodes {
		if n.op != nil {
			continue
		}
		if n.most <= never {
			return w.evict
		}
		least = min(least, n.most-n.delay)
	}
	return max(least, w.evict)
}

// next runs the model's next epoch; false when there is nothing to do.
func (w *stateWorld) next() bool {
	e := &mepoch{rows: make([][]mrow, len(w.files))}
	data := false
	for s, files := range w.files {
		n := len(files)
		if w.limits[s] > 0 {
			n = min(n, w.limits[s])
		}
		for _, f := range files[:n] {
			e.rows[s] = append(e.rows[s], f...)
			data = true
		}
		w.files[s] = files[n:]
	}
	stateful := w.root.op != nil
	if !data && (!stateful || w.global() <= w.evict) {
		return false
	}
	e.late, e.evict = w.evict, w.global()
	rows, _, _ := w.root.step(e)
	w.table.take(w.root.op, rows)
	w.evict = e.evict
	w.lates += e.lates
	w.epochs++
	return true
}

// recorded is how many epochs the checkpoint knows, the one begun included.
func (w *stateWorld) recorded() int64 {
	r, list, err := pipelines.OpenReader(context.Background(), pipelines.LoadOptions{Path: w.dir})
	if err != nil || list.HasErrors() {
		w.t.Fatal(err, list.Render())
	}
	infos, err := r.Checkpoints(context.Background(), false)
	if err != nil {
		w.t.Fatal(err)
	}
	n := int64(0)
	for _, c := range infos {
		n = c.Epochs
		if c.Pending {
			n++
		}
	}
	return n
}

// follow runs the model through the epochs that are recorded; whole says that
// a run came to its end, so that nothing may be left.
func (w *stateWorld) follow(what string, whole bool) {
	n := w.recorded()
	for w.epochs < n || whole {
		if !w.next() {
			break
		}
	}
	if w.epochs != n {
		w.t.Errorf("%s: %d epochs are recorded, the model comes to %d", what, n, w.epochs)
	}
	if whole {
		compare(w.t, what, rows(w.t, w.dir, "out"), w.table.all())
	}
}

// round lets files arrive and runs in one of many ways.
func (w *stateWorld) round() {
	for range w.r.IntN(5) {
		w.some()
	}
	o := pipelines.RunOptions{Lanes: 1 + w.r.IntN(4), BatchRows: 1 + w.r.IntN(12), SpillEagerly: w.spills.IntN(2) == 0, Beside: w.spills.IntN(2)}
	what := fmt.Sprintf("lanes %d batch %d spill %v beside %d", o.Lanes, o.BatchRows, o.SpillEagerly, o.Beside)
	switch w.r.IntN(6) {
	case 0, 1:
		b := &bomb{n: 1 + w.r.IntN(40)}
		crashRun(w.t, w.dir, what, b, o)
		what += " crash at " + b.point
		w.follow(what, b.point == "")
	case 2:
		x := order{Dir: w.dir, Lanes: o.Lanes, Rows: o.BatchRows, Spill: o.SpillEagerly, Beside: o.Beside, Point: borders[w.r.IntN(len(borders))].point, Nth: 1 + w.r.IntN(3)}
		what += fmt.Sprintf(" kill at %s %d", x.Point, x.Nth)
		w.follow(what, !child(w.t, x))
	case 3:
		stopAfter(w.t, w.dir, 1+w.r.IntN(3), o)
		w.follow(what+" stop", false)
	default:
		run(w.t, w.dir, o)
		w.follow(what, true)
	}
	w.log = append(w.log, what)
}

// close lets a row come that is far ahead of all in every source.
func (w *stateWorld) close() {
	for _, s := range w.used {
		w.arrive(s, []mrow{{id: num{-1, true}, k: "z", ts: num{simStart.Add(24 * time.Hour).UnixMicro(), true}}})
	}
	run(w.t, w.dir, pipelines.RunOptions{})
	w.follow("closed", true)
}

// batch compares what a query without streams gives over the same files with
// what has come out, but for the rows that close and those without a time.
func (w *stateWorld) batch() {
	dir := folder(w.t)
	put(w.t, dir, "pipeline.yml", w.document(true))
	run(w.t, dir, pipelines.RunOptions{})
	early := func(rs []string) []string {
		return slices.DeleteFunc(rs, func(r string) bool { return !strings.Contains(r, `"2026-01-01T`) })
	}
	compare(w.t, "the batch query", early(rows(w.t, dir, "out")), early(rows(w.t, w.dir, "out")))
}

func simulateState(t *testing.T, seed uint64) (lates int, batch bool, shape string) {
	w := newStateWorld(t, seed)
	defer func() {
		if t.Failed() {
			t.Logf("seed %d\n%s\n%s\n%s", seed, w.root.shape(), strings.Join(w.log, "\n"), w.document(false))
		}
	}()
	for range 3 + w.r.IntN(5) {
		w.round()
		if t.Failed() {
			return
		}
	}
	run(t, w.dir, pipelines.RunOptions{})
	w.follow("end", true)
	w.close()
	if w.lates == 0 && !w.deduped && !t.Failed() {
		batch = true
		w.batch()
	}
	return w.lates, batch, w.root.shape()
}

// TestStateSimulation compares random stateful queries with the model, which
// replays the recorded epochs row by row, late rows included; where no row was
// late also with the batch query.
func TestStateSimulation(t *testing.T) {
	late, batches, anti := 0, 0, 0
	shapes := map[string]bool{}
	seeds := simulationSeeds(t, "testdata/stateseeds", 40)
	for _, s := range seeds {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			n, batch, shape := simulateState(t, s)
			if n > 0 {
				late++
			}
			if batch {
				batches++
			}
			shapes[shape] = true
			if strings.Contains(shape, "anti-join") {
				anti++
			}
		})
	}
	t.Logf("%d queries of %d shapes, %d with late rows, %d with anti joins, %d compared with the batch query", len(seeds), len(shapes), late, anti, batches)
	if anti == 0 && len(seeds) > 30 {
		t.Error("no query had an anti join")
	}
}
