package pipelines

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"pipelines/pipelines/event"
	exec "pipelines/runtime/flow"
)

const twoFlows = `
name: two
storage: ./state
sources:
  - name: raw
    format: generate
    schema: "id BIGINT"
    options: {rows: "1000", rowsPerEpoch: "100"}
streaming_tables:
  - {name: a, sql: SELECT x.id FROM STREAM(raw) x JOIN STREAM(raw) y ON x.id = y.id}
  - {name: b, sql: SELECT x.id FROM STREAM(raw) x JOIN STREAM(raw) y ON x.id = y.id}
`

// TestPanic: a bug that shows on a goroutine of a flow, or in a listener, fails
// that flow with its stack; the others run to their end, and the next run
// goes on with the failed one.
func TestPanic(t *testing.T) {
	for _, where := range []string{exec.StateAfter, exec.BeginAfter, exec.ReadSplit, "listener"} {
		dir := project(t, map[string]string{"pipeline.yml": twoFlows})
		var met atomic.Int64
		o := RunOptions{Beside: 1, At: func(point string) error {
			if point == where && met.Add(1) == 5 {
				panic("bug: test: " + point)
			}
			return nil
		}}
		if where == "listener" {
			o.Listener = event.Listener{FlowChanged: func(e event.FlowChanged) {
				if e.Flow == "a" && e.State == event.Running {
					panic("bug: test: listener")
				}
			}}
		}
		failed := 0
		for _, f := range run(t, dir, o).Flows {
			if f.State == event.Completed {
				continue
			}
			failed++
			if _, ok := errors.AsType[*exec.Bug](f.Err); !ok || failure(f.Err).Class != "INTERNAL_ERROR" || f.State != event.Failed || !strings.Contains(f.Err.Error(), "panic_test.go") {
				t.Errorf("%s: %s %s: %v", where, f.Flow, f.State, f.Err)
			}
		}
		if failed != 1 {
			t.Errorf("%s: %d flows failed", where, failed)
		}
		for _, f := range run(t, dir, RunOptions{}).Flows {
			if f.State != event.Completed {
				t.Errorf("%s: then %s %v", where, f.State, f.Err)
			}
		}
		for _, name := range []string{"a", "b"} {
			ids := map[string]bool{}
			rows := rowsOf(t, dir, name)
			for _, r := range rows {
				ids[r] = true
			}
			if len(rows) != 1000 || len(ids) != 1000 {
				t.Errorf("%s: %s has %d rows, %d distinct", where, name, len(rows), len(ids))
			}
		}
	}
}
