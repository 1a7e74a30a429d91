package simtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// growing are flows whose state must die with the watermark; %s is the source.
const growing = `streaming_tables:
  - name: windows
    sql: SELECT k, window.start AS s, count(*) AS n FROM STREAM(%[1]s) WATERMARK ts DELAY OF INTERVAL 5 SECONDS GROUP BY k, window(ts, '5 seconds')
  - name: sliding
    sql: SELECT k, window.start AS s, sum(v) AS t FROM STREAM(%[1]s) WATERMARK ts DELAY OF INTERVAL 5 SECONDS GROUP BY k, window(ts, '10 seconds', '5 seconds')
  - name: sessions
    sql: SELECT k, session_window.start AS s, count(*) AS n FROM STREAM(%[1]s) WATERMARK ts DELAY OF INTERVAL 5 SECONDS GROUP BY k, session_window(ts, '3 seconds')
  - name: firsts
    deduplicate: {keys: [k], within_watermark: true}
    sql: SELECT k, ts FROM STREAM(%[1]s) WATERMARK ts DELAY OF INTERVAL 5 SECONDS
  - name: days
    deduplicate: {keys: [k, ts]}
    sql: SELECT k, ts FROM STREAM(%[1]s) WATERMARK ts DELAY OF INTERVAL 5 SECONDS
  - name: joined
    sql: |
      SELECT a.k, a.v AS x, b.v AS y FROM (SELECT k, v, ts FROM STREAM(%[1]s) WATERMARK ts DELAY OF INTERVAL 5 SECONDS WHERE v < 2) a
      LEFT JOIN (SELECT k, v, ts FROM STREAM(%[1]s) WATERMARK ts DELAY OF INTERVAL 5 SECONDS WHERE v > 0) b
      ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 3 SECONDS
`

var growingFlows = []string{"windows", "sliding", "sessions", "firsts", "days", "joined"}

// stateBytes sums the state files of a table's flow and its record.
func stateBytes(t *testing.T, dir, table string) (n int64) {
	t.Helper()
	err := filepath.Walk(filepath.Dir(checkpointFile(t, dir, table)), func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStateDies lets many keys pass, each for a few seconds of event time:
// what is kept stays flat, and nothing is left once the watermark is past all.
// PIPELINES_KEYS says how many (make long: a million).
func TestStateDies(t *testing.T) {
	keys := 40_000
	if s := os.Getenv("PIPELINES_KEYS"); s != "" {
		var err error
		if keys, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	const files = 40
	dir := project(t, "k BIGINT, v BIGINT, ts TIMESTAMP", "")
	doc := "name: p\nstorage: ./state\nsources:\n  - {name: raw, format: json, path: landing, schema: \"k BIGINT, v BIGINT, ts TIMESTAMP\", options: {maxFilesPerTrigger: \"1\"}}\n" + fmt.Sprintf(growing, "raw")
	put(t, dir, "pipeline.yml", doc)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	each := keys / files
	for f := range files {
		var b strings.Builder
		for i := range 2 * each {
			// every key comes twice, a second apart; a file is ten seconds
			at := start.Add(time.Duration(f)*10*time.Second + time.Duration(i/2)*9*time.Second/time.Duration(each) + time.Duration(i%2)*time.Second)
			fmt.Fprintf(&b, `{"k":%d,"v":%d,"ts":"%s"}`+"\n", f*each+i/2, i%2+1, at.Format("2006-01-02T15:04:05.000Z"))
		}
		put(t, dir, fmt.Sprintf("landing/%03d.json", f), b.String())
	}
	most := map[string]*[2]int64{}
	last := map[string]int64{}
	for _, name := range growingFlows {
		most[name] = &[2]int64{}
	}
	run(t, dir, pipelines.RunOptions{Listener: event.Listener{FlowProgress: func(p event.FlowProgress) {
		name := p.Dataset[strings.LastIndexByte(p.Dataset, '.')+1:]
		n := int64(0)
		for _, o := range p.Operators {
			n += o.Total
		}
		last[name] = n
		if p.BatchID > files/4 {
			half := &most[name][min(1, p.BatchID*2/files)]
			*half = max(*half, n)
		}
	}}})
	disk := map[string]int64{}
	for _, name := range growingFlows {
		if m := most[name]; m[0] == 0 || m[1] > m[0]*5/4 || m[1] > int64(each)*8 {
			t.Errorf("%s: at most %d rows of state in the second quarter, %d later, with %d keys a file", name, m[0], m[1], each)
		}
		disk[name] = stateBytes(t, dir, name)
	}
	put(t, dir, "landing/999.json", `{"k":-1,"v":1,"ts":"2026-01-02T00:00:00Z"}`+"\n"+`{"k":-1,"v":2,"ts":"2026-01-02T00:00:00Z"}`)
	run(t, dir, pipelines.RunOptions{Listener: event.Listener{FlowProgress: func(p event.FlowProgress) {
		n := int64(0)
		for _, o := range p.Operators {
			n += o.Total
		}
		last[p.Dataset[strings.LastIndexByte(p.Dataset, '.')+1:]] = n
	}}})
	for _, name := range growingFlows {
		if last[name] > 3 { // the last row's own
			t.Errorf("%s: %d rows of state are left", name, last[name])
		}
		t.Logf("%-8s at most %6d rows of state early, %6d later, %d at the end; %d bytes on disk", name, most[name][0], most[name][1], last[name], disk[name])
	}
	if n := len(rows(t, dir, "sessions")); n != each*files {
		t.Errorf("%d sessions of %d keys", n, each*files)
	}
}

// resident reads the resident size of a process in MB.
func resident(pid int) (mb int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(v)[0])
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmRSS of process %d", pid)
}

// TestSoakManyKeys runs all flows continuously in a process of its own for
// PIPELINES_SOAK (make long: 10m), with keys that move on, and compares its
// resident size after a fifth of the time with that at the end.
func TestSoakManyKeys(t *testing.T) {
	text := os.Getenv("PIPELINES_SOAK")
	if text == "" {
		t.Skip("make long runs it: PIPELINES_SOAK=10m")
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t)
	put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nconfiguration: {pipelines.commit.interval: 500 milliseconds}\nsources:\n  - {name: ticks, format: rate, options: {rowsPerSecond: \"2000\"}}\n"+
		"views:\n  - {name: raw, sql: \"SELECT value DIV 4 AS k, value % 4 AS v, timestamp AS ts FROM STREAM(ticks)\"}\n"+fmt.Sprintf(growing, "raw"))
	asked, err := json.Marshal(order{Dir: dir, Trigger: "continuous", Lanes: 2})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(asked))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for range 10 {
		time.Sleep(span / 10)
		mb, err := resident(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, mb)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	run(t, dir, pipelines.RunOptions{})
	r, list, err := pipelines.OpenReader(t.Context(), pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatal(err, list.Render())
	}
	infos, err := r.Checkpoints(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range infos {
		t.Logf("%s: %d epochs, checkpoint %d bytes, state on disk %d bytes", c.Dataset, c.Epochs, c.Bytes, stateBytes(t, dir, c.Dataset[strings.LastIndexByte(c.Dataset, '.')+1:]))
	}
	t.Logf("%s, %v of CPU: resident MB at each tenth %v; %d sessions", span, used.Round(time.Second), sizes, len(rows(t, dir, "sessions")))
	if sizes[9] > sizes[1]*5/4+16 {
		t.Errorf("resident size went from %d MB to %d MB", sizes[1], sizes[9])
	}
}
