package simtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pipelines/pipelines"
)

var errCrash = errors.New("crash")

// bomb fails at its n-th border (or counts all, for n = 0) and at every one
// after it: a process that is gone does nothing more.
type bomb struct {
	mu    sync.Mutex
	n     int
	count int
	point string
	seen  map[string]int
}

func (b *bomb) at(point string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.point != "" {
		return errCrash
	}
	if b.seen == nil {
		b.seen = map[string]int{}
	}
	b.count++
	b.seen[point]++
	if b.n > 0 && b.count >= b.n {
		b.point = point
		return fmt.Errorf("%s: %w", point, errCrash)
	}
	return nil
}

// crashRun runs to the bomb; another failure than the crash is an error.
func crashRun(t *testing.T, dir, what string, b *bomb, o pipelines.RunOptions) {
	t.Helper()
	o.At = b.at
	res, err := runIn(dir, o)
	if err == nil {
		err = failures(res)
	}
	if err != nil && !errors.Is(err, errCrash) || err == nil && b.point != "" {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestStraight runs every scene without a crash.
func TestStraight(t *testing.T) {
	for _, s := range scenes(20) {
		dir := folder(t)
		s.build(t, dir)
		run(t, dir, pipelines.RunOptions{Trigger: s.trigger})
		s.check(t, dir, "first run", 3)
		s.add(t, dir, 3)
		s.add(t, dir, 4)
		run(t, dir, pipelines.RunOptions{Trigger: s.trigger, Lanes: 3, BatchRows: 3})
		s.check(t, dir, "second run", 5)
	}
}

// TestCrashEverywhere crashes each scene at its n-th border, then again while
// it recovers, then lets it end, adds files, and does the same again.
func TestCrashEverywhere(t *testing.T) {
	stride := 6
	if os.Getenv("PIPELINES_KILLS") == "all" {
		stride = 1
	}
	runs := 0
	met := map[string]bool{}
	for i, s := range scenes(8) {
		for n := 1 + i%stride; ; n += stride {
			dir := folder(t)
			s.build(t, dir)
			o := pipelines.RunOptions{Trigger: s.trigger}
			first := &bomb{n: n}
			crashRun(t, dir, s.String(), first, o)
			what := fmt.Sprintf("crash %d at %s", n, first.point)
			second := &bomb{n: 1 + n%9}
			crashRun(t, dir, s.String()+" "+what, second, o)
			what += ", again at " + second.point
			run(t, dir, o)
			s.check(t, dir, what, 3)
			s.add(t, dir, 3)
			s.add(t, dir, 4)
			third := &bomb{n: n}
			crashRun(t, dir, s.String()+" "+what, third, o)
			run(t, dir, pipelines.RunOptions{Trigger: s.trigger, Lanes: 2, BatchRows: 5})
			s.check(t, dir, what+", later at "+third.point, 5)
			runs += 5
			for point := range third.seen {
				met[point] = true
			}
			if first.point == "" || t.Failed() {
				break
			}
		}
	}
	t.Logf("%d runs", runs)
	for _, b := range borders {
		delete(met, b.point)
	}
	for point := range met {
		t.Errorf("border %s is not in the kill matrix", point)
	}
}

// TestRefreshDropsCheckpoints is the last part of known failure B32: after a full
// refresh the checkpoints before it are gone, with those of flows that are out of
// the project, wherever the refresh was stopped.
func TestRefreshDropsCheckpoints(t *testing.T) {
	doc := func(flows string) string {
		return "streaming_tables:\n  - name: out\n    flows:\n" + flows + `sinks:
  - {name: con, format: console, options: {path: out.jsonl}}
flows:
  - {name: s, target: con, sql: "SELECT v FROM STREAM(raw)"}
`
	}
	one := "      - {name: a, deduplicate: {keys: [v]}, sql: \"SELECT v FROM STREAM(raw)\"}\n"
	two := one + "      - {name: b, sql: \"SELECT -v AS v FROM STREAM(raw)\"}\n"
	for _, point := range []string{"", "refresh.recorded", "refresh.begin", "refresh.emptied", "refresh.done", "recover.begin", "prepared.after", "commit.after"} {
		dir := project(t, "v BIGINT", doc(two))
		put(t, dir, "landing/1.json", "{\"v\":1}\n{\"v\":2}\n")
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, "v BIGINT", doc(one))
		full := pipelines.RunOptions{FullRefreshAll: true}
		if point != "" {
			full.At = func(p string) error {
				if p == point {
					return errors.New("crash")
				}
				return nil
			}
			_, _ = runIn(dir, full) // it may be past the point in another flow
		} else {
			run(t, dir, full)
		}
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "1", "2")
		var left []string
		for _, pattern := range []string{"main/default/out/*/*", "__sinks/p/con/*/*"} {
			found, err := filepath.Glob(filepath.Join(dir, "state/checkpoints", pattern))
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, found...)
		}
		if len(left) != 2 || !strings.HasSuffix(left[0], "out/a/1") || !strings.HasSuffix(left[1], "con/s/1") {
			t.Errorf("%s: left %v", point, left)
		}
	}
}

// TestDryRunBegun: an epoch that a run was stopped in is said, and its files are
// not counted again.
func TestDryRunBegun(t *testing.T) {
	for _, point := range []string{"intent.after", "prepared.after"} {
		dir := project(t, "v BIGINT", "streaming_tables:\n  - {name: out, sql: \"SELECT v FROM STREAM(raw)\"}\n")
		put(t, dir, "landing/1.json", "{\"v\":1}\n")
		run(t, dir, pipelines.RunOptions{})
		put(t, dir, "landing/2.json", "{\"v\":2}\n")
		fails(t, dir, pipelines.RunOptions{At: func(p string) error {
			if p == point {
				return errCrash
			}
			return nil
		}}, "crash")
		put(t, dir, "landing/3.json", "{\"v\":3}\n")
		steps := dryRun(t, dir)
		if !strings.Contains(steps, "1 epoch is committed; epoch 1 is begun and will be finished first") || !strings.Contains(steps, "1 file of raw is waiting") {
			t.Errorf("%s: %s", point, steps)
		}
		run(t, dir, pipelines.RunOptions{})
		if steps := dryRun(t, dir); strings.Contains(steps, "begun") || !strings.Contains(steps, "3 epochs are committed") {
			t.Errorf("%s: %s", point, steps)
		}
	}
}
