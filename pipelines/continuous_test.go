package pipelines

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pipelines/pipelines/event"
)

// TestContinuous runs a chain of two tables and a view continuously: a file
// that arrives reaches all three without a restart, and stopping leaves a
// state that the next run continues from.
func TestContinuous(t *testing.T) {
	dir := project(t, map[string]string{
		"data/1.json": "{\"id\": 1}\n{\"id\": 2}\n",
		"pipeline.yml": `
name: live
storage: ./state
trigger: continuous
configuration: {pipelines.commit.interval: "1 millisecond", pipelines.trigger.interval: "1 millisecond"}
sources:
  - {name: raw, format: json, path: data, schema: "id BIGINT"}
streaming_tables:
  - name: a
    sql: SELECT id FROM STREAM(raw)
  - name: b
    sql: SELECT id * 10 AS id FROM STREAM(a)
materialized_views:
  - name: v
    sql: SELECT count(*) AS n, sum(id) AS total FROM b
`})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	stop, end := context.WithCancel(ctx)
	var mu sync.Mutex
	rows := map[string]int64{}
	listener := event.Listener{FlowProgress: func(e event.FlowProgress) {
		mu.Lock()
		defer mu.Unlock()
		rows[e.Flow] += e.NumOutputRows
		if e.Flow == "a" && rows["a"] == 2 {
			if err := os.WriteFile(filepath.Join(dir, "data", "2.json"), []byte("{\"id\": 3}\n"), 0o644); err != nil {
				t.Error(err)
			}
		}
		if e.Flow == "v" && rows["b"] == 3 {
			end()
		}
	}}
	p, list, err := Load(ctx, LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	res, list, err := p.Run(ctx, stop, RunOptions{Listener: listener})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	for _, f := range res.Flows {
		if f.Err != nil || f.State != event.Stopped && f.State != event.Completed {
			t.Errorf("%s: %s %v", f.Flow, f.State, f.Err)
		}
	}
	if rows["a"] != 3 || rows["b"] != 3 {
		t.Error(fmt.Sprint(rows))
	}
	again := run(t, dir, RunOptions{Trigger: "available_now"})
	for _, f := range again.Flows {
		if f.Flow != "v" && f.OutputRows != 0 {
			t.Errorf("the next run found %d rows for %s", f.OutputRows, f.Flow)
		}
	}
}
