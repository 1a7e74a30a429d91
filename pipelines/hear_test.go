package pipelines

import (
	"testing"
)

// TestHear: a flow that is tried again hears of its tables' commits once.
func TestHear(t *testing.T) {
	dir := project(t, map[string]string{"pipeline.yml": `
name: live
storage: ./state
trigger: continuous
sources:
  - {name: raw, format: generate, schema: "id BIGINT", options: {rows: "10"}}
streaming_tables:
  - {name: a, sql: SELECT id FROM STREAM(raw)}
  - {name: b, sql: SELECT id FROM STREAM(a)}
`})
	p, list, err := Load(t.Context(), LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	u := &update{p: p, bell: bell{flows: map[*dataset][]chan struct{}{}, views: make(chan struct{}, 1)}}
	a, b := p.datasets[0], p.datasets[1]
	reader := &task{d: b, f: b.flows[0]}
	for range 5 {
		if u.waiter(reader) == nil {
			t.Fatal("the flow is not continuous")
		}
	}
	if n := len(u.bell.flows[a]); n != 1 {
		t.Errorf("the flow is rung %d times for a commit", n)
	}
	u.wake(a)
	if !waitFor(t.Context(), reader.rung, 0) {
		t.Error("it did not hear")
	}
}
