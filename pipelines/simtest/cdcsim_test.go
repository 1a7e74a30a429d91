package simtest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pipelines/pipelines"
)

// cdcChange is a row of a change feed.
type cdcChange struct {
	id, seq int64
	op, v   string // U, D or T; v is "" for NULL
}

func (c cdcChange) json() string {
	return fmt.Sprintf(`{"id":%d,"v":%s,"op":%q,"seq":%d}`, c.id, quoted(c.v), c.op, c.seq)
}

// newest is the table of type 1 in the obvious way: the changes in order, an
// upsert after the others of its sequence, the greatest row last.
func newest(all []cdcChange) (out []string) {
	cs := slices.Clone(all)
	late := func(c cdcChange) int { return map[string]int{"U": 1}[c.op] }
	slices.SortStableFunc(cs, func(a, b cdcChange) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), late(a)-late(b), cmp.Compare(a.v, b.v))
	})
	table := map[int64]string{}
	for _, c := range cs {
		switch c.op {
		case "U":
			table[c.id] = c.v
		case "D":
			delete(table, c.id)
		case "T":
			clear(table)
		}
	}
	for id, v := range table {
		out = append(out, fmt.Sprintf("%d %s", id, quoted(v)))
	}
	slices.Sort(out)
	return out
}

// versions is the table of type 2: at one sequence a delete counts alone, of
// upserts the greatest row; the same row again opens no version.
func versions(all []cdcChange) (out []string) {
	type at struct{ id, seq int64 }
	last := map[at]cdcChange{}
	for _, c := range all {
		k := at{c.id, c.seq}
		if x, ok := last[k]; c.op != "T" && (!ok || x.op != "D" && (c.op == "D" || c.v > x.v)) {
			last[k] = c
		}
	}
	var cs []cdcChange
	for _, c := range last {
		cs = append(cs, c)
	}
	slices.SortFunc(cs, func(a, b cdcChange) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.seq, b.seq)) })
	open := map[int64]cdcChange{}
	for _, c := range cs {
		x, ok := open[c.id]
		if ok && c.op == "U" && x.v == c.v {
			continue
		}
		if ok {
			out = append(out, fmt.Sprintf("%d %s %d %d", x.id, quoted(x.v), x.seq, c.seq))
		}
		delete(open, c.id)
		if c.op == "U" {
			open[c.id] = c
		}
	}
	for _, x := range open {
		out = append(out, fmt.Sprintf("%d %s %d null", x.id, quoted(x.v), x.seq))
	}
	slices.Sort(out)
	return out
}

func simulateChanges(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 13))
	dir := folder(t)
	put(t, dir, "pipeline.yml", fmt.Sprintf(`name: cdc
storage: ./state
sources:
  - {name: changes, format: json, path: landing, schema: "id BIGINT, v STRING, op STRING, seq BIGINT", options: {maxFilesPerTrigger: "%d"}}
views:
  - {name: rows, sql: "SELECT * FROM STREAM(changes) WHERE op <> 'T'"}
streaming_tables:
  - name: newest
    auto_cdc: {source: changes, keys: [id], sequence_by: seq, apply_as_deletes: "op = 'D'", apply_as_truncates: "op = 'T'", except_columns: [op, seq]}
  - name: history
    auto_cdc: {source: rows, keys: [id], sequence_by: seq, apply_as_deletes: "op = 'D'", except_columns: [op, seq], scd_type: 2}
`, 1+r.IntN(3)))
	all := make([]cdcChange, 20+r.IntN(60))
	keys, steps := 1+r.Int64N(6), 4+r.Int64N(60)
	for i := range all {
		all[i] = cdcChange{id: r.Int64N(keys), seq: r.Int64N(steps), op: string("UUUUUUDDT"[r.IntN(9)]), v: []string{"", "a", "b", "c"}[r.IntN(4)]}
	}
	for done, files := 0, 0; done < len(all); {
		for range 1 + r.IntN(4) {
			n := min(1+r.IntN(12), len(all)-done)
			var text strings.Builder
			for _, c := range all[done : done+n] {
				text.WriteString(c.json() + "\n")
			}
			put(t, dir, fmt.Sprintf("landing/%03d.json", files), text.String())
			done, files = done+n, files+1
		}
		o := pipelines.RunOptions{Lanes: 1 + r.IntN(4), BatchRows: 1 + r.IntN(9), Beside: 1}
		switch r.IntN(5) {
		case 0:
			crashRun(t, dir, "changes", &bomb{n: 1 + r.IntN(70)}, o)
			continue
		case 1:
			child(t, order{Dir: dir, Lanes: o.Lanes, Rows: o.BatchRows, Point: borders[r.IntN(len(borders))].point, Nth: 1 + r.IntN(3)})
			continue
		case 2:
			stopAfter(t, dir, 1+r.IntN(3), o)
			continue
		}
		run(t, dir, o)
		compare(t, "newest", rows(t, dir, "newest"), newest(all[:done]))
		compare(t, "history", rows(t, dir, "history"), versions(all[:done]))
	}
	run(t, dir, pipelines.RunOptions{})
	compare(t, "newest", rows(t, dir, "newest"), newest(all))
	compare(t, "history", rows(t, dir, "history"), versions(all))
}

// TestChangesSimulation: whatever the order, the batches, the crashes, kills
// and stops, AUTO CDC gives what the changes give in order.
func TestChangesSimulation(t *testing.T) {
	for _, s := range simulationSeeds(t, "testdata/cdcseeds", 15) {
		t.Run(fmt.Sprint(s), func(t *testing.T) { simulateChanges(t, s) })
	}
}
