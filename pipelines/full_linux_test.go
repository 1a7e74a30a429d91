package pipelines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pipelines/pipelines/event"
)

const fullDoc = `
name: full
storage: %s
checkpoints: %s
trigger: continuous
sources:
  - {name: ev, format: json, path: data, schema: "id BIGINT, k BIGINT"}
streaming_tables:
  - {name: a, sql: "SELECT id FROM STREAM(ev)"}
  - {name: b, sql: "SELECT id FROM STREAM(a)"}
  - {name: c, output_mode: update, keys: [k], sql: "SELECT k, count(*) AS n FROM STREAM(ev) GROUP BY k"}
materialized_views:
  - {name: m, sql: "SELECT count(*) AS n FROM b"}
`

// TestFullDisk: where the disk is full for a while, wherever a flow meets that,
// a continuous update waits, and has each row once when there is room again
// (B26).
func TestFullDisk(t *testing.T) {
	for _, size := range []string{"storage", "checkpoints"} {
		dir := t.TempDir()
		small := filepath.Join(dir, "small")
		if err := errors.Join(os.Mkdir(small, 0o755), os.Mkdir(filepath.Join(dir, "data"), 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=4m"); err != nil {
			t.Skip("needs a file system of its own size, and none may be mounted here: ", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(small, 0) })
		paths := map[string]string{"storage": "./state", "checkpoints": "./checkpoints"}
		paths[size] = "./small/" + size
		put := func(name, text string) {
			t.Helper()
			// Renamed into place, for it is looked for at the same instant.
			tmp := filepath.Join(dir, "tmp")
			if err := errors.Join(os.WriteFile(tmp, []byte(text), 0o644), os.Rename(tmp, filepath.Join(dir, name))); err != nil {
				t.Error(err)
			}
		}
		put("pipeline.yml", fmt.Sprintf(fullDoc, paths["storage"], paths["checkpoints"]))
		put("data/1.json", `{"id": 1, "k": 1}`)
		synctest.Test(t, func(t *testing.T) {
			failed := 0
			go func() {
				time.Sleep(5 * time.Second)
				fill(t, filepath.Join(small, "fill"))
				var rows strings.Builder
				for n := range 20_000 {
					fmt.Fprintf(&rows, "{\"id\": %d, \"k\": %d}\n", n+2, n+2)
				}
				put("data/2.json", rows.String())
				time.Sleep(40 * time.Second)
				if err := os.Remove(filepath.Join(small, "fill")); err != nil {
					t.Error(err)
				}
				time.Sleep(40 * time.Second)
				put("data/3.json", `{"id": 20002, "k": 1}`)
			}()
			res, _, _ := liveRun(t, dir, 3*time.Minute, event.Listener{FlowChanged: func(e event.FlowChanged) {
				if e.State == event.Failed {
					failed++
				}
			}})
			for _, f := range res.Flows {
				if f.Err != nil {
					t.Errorf("%s on a small disk: %s: %s %v", size, f.Flow, f.State, f.Err)
				}
			}
			if failed == 0 {
				t.Errorf("%s: the disk was never full", size)
			}
		})
		checkFull(t, dir, size)
	}
}

// checkFull compares what came of the rows.
func checkFull(t *testing.T, dir, size string) {
	t.Helper()
	if size == "storage" {
		dir = filepath.Join(dir, "small")
		if err := os.Symlink(filepath.Join(dir, "storage"), filepath.Join(dir, "state")); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"a": 20_002, "b": 20_002, "c": 20_001, "m": 1} {
		rows := rowsOf(t, dir, name)
		ids := map[string]bool{}
		for _, r := range rows {
			ids[r] = true
		}
		if len(rows) != want || len(ids) != want {
			t.Errorf("%s: %s has %d rows, %d of them distinct, want %d", size, name, len(rows), len(ids), want)
		}
	}
	if rows := rowsOf(t, dir, "m"); rows[0] != "20002" {
		t.Errorf("%s: the view has %v", size, rows)
	}
}

// fill takes all room of a file system.
func fill(t *testing.T, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Error(err)
		return
	}
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
