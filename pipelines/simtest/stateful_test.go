package simtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pipelines/pipelines"
)

// statefulPlans are queries whose results depend on what earlier epochs left.
var statefulPlans = []struct{ name, doc string }{
	{"window", streaming("SELECT window.start AS s, k, count(*) AS n, sum(v) AS t, min(v) AS lo, max(id) AS hi, avg(v) AS a FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 5 SECONDS GROUP BY window(ts, '10 seconds'), k")},
	{"sliding", streaming("SELECT window.start AS s, count(id) AS n, stddev(v) AS d FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 2 SECONDS GROUP BY window(ts, '10 seconds', '5 seconds')")},
	{"session", streaming("SELECT session_window.start AS s, session_window.end AS e, k, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 5 SECONDS GROUP BY session_window(ts, '2 seconds'), k")},
	{"distinct", "streaming_tables:\n  - name: out\n    output_mode: update\n    keys: [k]\n    sql: SELECT k, count(DISTINCT id) AS n, count(DISTINCT id) FILTER (WHERE v > 9) AS m, sum(DISTINCT v) AS t FROM STREAM(raw) GROUP BY k\n"},
	{"dedup", "streaming_tables:\n  - name: out\n    deduplicate: {keys: [id]}\n    sql: SELECT id, k FROM STREAM(raw)\n"},
	{"dedup within", "streaming_tables:\n  - name: out\n    deduplicate: {keys: [id], within_watermark: true}\n    sql: SELECT id, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 4 SECONDS\n"},
	{"join", streaming("SELECT a.id AS a, b.id AS b, a.v AS v FROM (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE k = 'a') a LEFT JOIN (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE k <> 'a') b ON a.v = b.v AND b.ts BETWEEN a.ts - INTERVAL 4 SECONDS AND a.ts + INTERVAL 4 SECONDS")},
	{"join full", streaming("SELECT a.id AS a, b.id AS b FROM (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE k = 'a') a FULL JOIN (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE k <> 'a') b ON a.v = b.v AND b.ts BETWEEN a.ts - INTERVAL 4 SECONDS AND a.ts + INTERVAL 4 SECONDS")},
	{"join anti", streaming("SELECT id, v FROM (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE k = 'a') a WHERE NOT EXISTS (SELECT 1 FROM (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 3 SECONDS WHERE k <> 'a') b WHERE a.v = b.v AND b.ts BETWEEN a.ts - INTERVAL 4 SECONDS AND a.ts + INTERVAL 4 SECONDS)")},
	{"first rows", streaming("SELECT id, v, ts FROM (SELECT *, row_number() OVER (PARTITION BY v ORDER BY ts) AS rn FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 5 SECONDS) WHERE rn = 1")},
	{"chained", streaming("SELECT window(window_time(w), '20 seconds').start AS s, n, count(*) AS c FROM (SELECT window(ts, '10 seconds') AS w, v, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 5 SECONDS GROUP BY window(ts, '10 seconds'), v) GROUP BY window(window_time(w), '20 seconds'), n")},
	{"panes", streaming("SELECT window.start AS s, k, v % 3 AS m, count(id) AS n, sum(v) AS t FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 5 SECONDS GROUP BY window(ts, '10 seconds', '1 second'), k, v % 3")},
	{"keyed", "streaming_tables:\n  - name: out\n    output_mode: update\n    keys: [k]\n    sql: SELECT k, count(*) AS n, sum(v) AS t FROM STREAM(raw) GROUP BY k\n"},
}

func (s *statefulCase) build(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - {name: raw, format: json, path: landing, schema: \"id BIGINT, k STRING, v BIGINT, ts TIMESTAMP\", options: {maxFilesPerTrigger: \"1\"}}\n"+s.doc)
	for i, f := range s.files {
		put(t, dir, fmt.Sprintf("landing/%02d.json", i), f)
	}
	return dir
}

type statefulCase struct {
	doc   string
	files []string
}

// disorder makes files whose rows are up to some seconds late.
func disorder(seed uint64, files, rows int) (out []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	start := landing(1)[0][0].ts
	for f := range files {
		var rs []row
		for i := range rows {
			at := float64(f*rows+i)*0.3 - r.ExpFloat64()*1.5
			rs = append(rs, row{id: r.Int64N(int64(files * rows)), v: r.Int64N(20), k: string(rune('a' + r.IntN(4))), ts: start.Add(time.Minute + time.Duration(at*1000)*time.Millisecond)})
		}
		out = append(out, lines(rs))
	}
	return out
}

// TestStateEquality runs the same epochs straight, stopped after each, crashed
// in each, in small batches and in other lanes: the rows must be the same.
func TestStateEquality(t *testing.T) {
	for _, p := range statefulPlans {
		t.Run(p.name, func(t *testing.T) {
			s := &statefulCase{p.doc, disorder(1, 8, 25)}
			straight := s.build(t)
			run(t, straight, pipelines.RunOptions{Lanes: 1})
			wanted := rows(t, straight, "out")
			if len(wanted) < 4 {
				t.Fatalf("%q", wanted)
			}
			lanes := s.build(t)
			run(t, lanes, pipelines.RunOptions{Lanes: 3, BatchRows: 2})
			compare(t, "lanes", rows(t, lanes, "out"), wanted)
			many := s.build(t)
			run(t, many, pipelines.RunOptions{Lanes: 40})
			compare(t, "many lanes", rows(t, many, "out"), wanted)
			stopped := s.build(t)
			for n := range 9 {
				stopAfter(t, stopped, 1, pipelines.RunOptions{Lanes: 1 + n*3%5, BatchRows: 1 + 7*n})
			}
			run(t, stopped, pipelines.RunOptions{})
			compare(t, "stopped", rows(t, stopped, "out"), wanted)
			crashed := s.build(t)
			for n := range 24 {
				crashRun(t, crashed, "crashed", &bomb{n: 3 + n*5%17}, pipelines.RunOptions{Lanes: 1 + n%2})
			}
			run(t, crashed, pipelines.RunOptions{})
			compare(t, "crashed", rows(t, crashed, "out"), wanted)
		})
	}
}

// stopAfter runs some epochs and stops.
func stopAfter(t *testing.T, dir string, epochs int, o pipelines.RunOptions) {
	t.Helper()
	stop, halt := context.WithCancel(context.Background())
	defer halt()
	o.At = func(point string) error {
		if point == "commit.after" {
			if epochs--; epochs == 0 {
				halt()
			}
		}
		return nil
	}
	res, err := runStop(context.Background(), stop, dir, o)
	if err == nil {
		err = failures(res)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestBigState has more state than fits into a record, over many epochs, with
// kills.
func TestBigState(t *testing.T) {
	s := &statefulCase{statefulPlans[4].doc, nil}
	seen := map[string]bool{}
	var wanted []string
	for f := range 14 {
		var b strings.Builder
		for i := range 1500 {
			id := (f*1000 + i) * 7919 % 20011 // a third was there before
			r := fmt.Sprintf(`%d "k%d"`, id, id%5)
			fmt.Fprintf(&b, `{"id":%d,"k":"k%d"}`+"\n", id, id%5)
			if !seen[r] {
				wanted = append(wanted, r)
			}
			seen[r] = true
		}
		s.files = append(s.files, b.String())
	}
	dir := s.build(t)
	for n := range 10 {
		point := []string{"state.after", "prepared.after", "commit.logged", "stage.after", "plan.after"}[n%5]
		child(t, order{Dir: dir, Point: point, Nth: 2, Lanes: 1 + n%3})
	}
	run(t, dir, pipelines.RunOptions{})
	compare(t, "big state", rows(t, dir, "out"), wanted)
}

// TestPendingNoData crashes between the last rows and the epoch that only
// closes what the watermark has passed; the next run has no new file and runs
// it.
func TestPendingNoData(t *testing.T) {
	for _, point := range []string{"commit.after", "plan.before", "plan.after", "intent.after", "prepared.after"} {
		s := newSteps(t, "ts TIMESTAMP", streaming("SELECT window.start AS s, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 0 SECONDS GROUP BY window(ts, '10 seconds')"))
		put(t, s.dir, "landing/1.json", `{"ts":"2026-01-01T10:00:01Z"}`+"\n"+`{"ts":"2026-01-01T10:00:30Z"}`)
		nth := map[string]int{"commit.after": 1}[point]
		res, err := runIn(s.dir, pipelines.RunOptions{At: func(p string) error {
			if p == point {
				if nth++; nth == 2 {
					return errCrash
				}
			}
			return nil
		}})
		if err == nil {
			err = failures(res)
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("%s: %v", point, err)
		}
		s.want()
		run(t, s.dir, pipelines.RunOptions{})
		s.want(`"2026-01-01T10:00:00.000Z" 1`)
		run(t, s.dir, pipelines.RunOptions{})
		s.want(`"2026-01-01T10:00:00.000Z" 1`)
	}
}

// TestLateIsOneBehind: a row is late by the watermark of the epoch before
// (W-05), also when the run is cut between the two.
func TestLateIsOneBehind(t *testing.T) {
	for _, cut := range []bool{false, true} {
		s := &statefulCase{streaming("SELECT date_format(window.start, 'HH:mm:ss') AS s, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 0 SECONDS GROUP BY window(ts, '10 seconds')"), nil}
		for _, at := range []string{"10:00:01", "10:00:30", "10:00:05", "10:00:06"} {
			s.files = append(s.files, `{"ts":"2026-01-01T`+at+`Z"}`+"\n")
		}
		dir := s.build(t)
		for range 3 {
			if cut {
				stopAfter(t, dir, 1, pipelines.RunOptions{})
			}
		}
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", `"10:00:00" 2`) // 10:00:05 counts, 10:00:06 is late
	}
}
