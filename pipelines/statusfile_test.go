package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pipelines/pipelines/event"
)

// TestLiveStatus: the status of a running update is true within an interval,
// whatever it was that changed.
func TestLiveStatus(t *testing.T) {
	dir := project(t, map[string]string{"data/1.json": "{\"id\": 1, \"k\": \"1\"}\n", "pipeline.yml": `
name: live
storage: ./state
trigger: continuous
sources:
  - {name: ev, format: json, path: data, schema: "id BIGINT, k STRING"}
streaming_tables:
  - {name: a, sql: "SELECT id, k FROM STREAM(ev)"}
  - {name: f, sql: "SELECT CAST(k AS INT) AS k FROM STREAM(ev)"}
materialized_views:
  - {name: m, sql: "SELECT 1 / (count(*) - 2) AS n FROM a"}
`})
	run(t, dir, RunOptions{Trigger: "available_now"})
	synctest.Test(t, func(t *testing.T) {
		stop, end := context.WithCancel(t.Context())
		defer end()
		p, list, err := Load(t.Context(), LoadOptions{Path: dir})
		if err != nil || list.HasErrors() {
			t.Fatalf("%v\n%s", err, list.Render())
		}
		done := make(chan error, 1)
		go func() {
			_, _, err := p.Run(t.Context(), stop, RunOptions{Lanes: 1})
			done <- err
		}()
		status := func(after time.Duration, state event.State, want string) {
			t.Helper()
			time.Sleep(after)
			s, err := p.ReadStatus()
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range s.Flows {
				got += fmt.Sprintf("%s %s %v %d; ", f.Flow, f.State, f.Error != nil, f.Epochs)
			}
			if got != want || s.State != state || s.PID != os.Getpid() {
				t.Errorf("%s: %s, want %s: %s", s.State, got, state, want)
			}
		}
		put := func(name, text string) {
			// Renamed into place, for it may be looked for at the same instant.
			tmp := filepath.Join(dir, "tmp")
			if err := errors.Join(os.WriteFile(tmp, []byte(text+"\n"), 0o644), os.Rename(tmp, filepath.Join(dir, "data", name))); err != nil {
				t.Fatal(err)
			}
		}
		status(time.Second, event.Running, "a RUNNING false 0; f RUNNING false 0; m COMPLETED false 0; ")
		put("2.json", `{"id": 2, "k": "x"}`)
		status(20*time.Second, event.Running, "a RUNNING false 1; f FAILED true 0; m FAILED true 0; ")
		put("3.json", `{"id": 3, "k": "3"}`)
		status(20*time.Second, event.Running, "a RUNNING false 2; f FAILED true 0; m COMPLETED false 1; ")
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
		status(0, event.Failed, "a STOPPED false 2; f FAILED true 0; m COMPLETED false 1; ")
	})
}

// TestKeptUpdates: the newest logs of each pipeline are kept, beside those of
// others.
func TestKeptUpdates(t *testing.T) {
	dir := t.TempDir()
	owners := []string{"p", "q", "", "P", "cut"}
	for n := range 50 {
		line := fmt.Sprintf("{\"schema\":1,\"type\":\"update\",\"event\":{\"pipeline\":%q}}\n{}\n", owners[n%5])
		if owners[n%5] == "cut" {
			line = "{\"schema\":1"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.jsonl", n)), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dropLogs(dir, "p", 7)
	names, err := logNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	for _, name := range names {
		owner, known := logOwner(dir, name)
		if !known {
			owner = "cut"
		}
		kept[owner] += name + " "
	}
	if got := strings.Fields(kept["p"] + kept[""]); len(got) != 7 || !strings.Contains(kept["p"], "48 45 43 40 38") || len(strings.Fields(kept["q"])) != 10 || len(strings.Fields(kept["cut"])) != 10 {
		t.Errorf("%v", kept)
	}
}
