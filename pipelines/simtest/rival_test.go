package simtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// standing is a child that waits at a border.
type standing struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	err *strings.Builder
}

func stand(t *testing.T, o order) *standing {
	t.Helper()
	o.Wait, o.Nth = true, 1
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &standing{cmd: exec.Command(os.Args[0]), err: &strings.Builder{}}
	s.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	s.cmd.Stderr = s.err
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q %v %s", line, err, s.err)
	}
	return s
}

// goOn lets the child end.
func (s *standing) goOn() error {
	return errors.Join(s.in.Close(), s.cmd.Wait())
}

func TestB21Runner(t *testing.T) {
	dir := project(t, "v BIGINT", "streaming_tables:\n  - name: out\n    sql: SELECT v FROM STREAM(raw)\n")
	put(t, dir, "landing/1.json", `{"v":1}`)
	first := stand(t, order{Dir: dir, Point: "intent.after"})
	start := time.Now()
	_, err := runIn(dir, pipelines.RunOptions{})
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, ok := errors.AsType[*pipelines.EnvironmentError](err); !ok {
		t.Errorf("second runner: %v", err)
	}
	if err := first.goOn(); err != nil {
		t.Errorf("first runner: %v %s", err, first.err)
	}
	want(t, dir, "out", "1")
}

// TestB22Runner forces a second process past the locks: the run lock is
// removed, and the checkpoint is replaced by a copy of its own.
func TestB22Runner(t *testing.T) {
	for _, point := range []string{"prepared.after", "commit.log"} {
		dir := three(t)
		put(t, dir, "landing/7.json", `{"v":7}`)
		put(t, dir, "landing/8.json", `{"v":8}`)
		first := stand(t, order{Dir: dir, Point: point})
		if err := os.RemoveAll(filepath.Join(dir, "state/locks")); err != nil {
			t.Fatal(err)
		}
		fails(t, dir, pipelines.RunOptions{}, "another process", "flow.db")
		path := checkpointFile(t, dir, "out")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, "state/locks")), os.Remove(path), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		second := run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "0", "1", "2", "7", "8")
		if second.Flows[0].State != event.Completed {
			t.Errorf("%+v", second.Flows[0])
		}
		// The first must not commit the same epoch again; it says so.
		if err := first.goOn(); err == nil || !strings.Contains(first.err.String(), "committed by another run") {
			t.Errorf("%s: the loser ended with %v %s", point, err, first.err)
		}
		want(t, dir, "out", "0", "1", "2", "7", "8")
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "0", "1", "2", "7", "8")
	}
}

// TestStop: a stop ends after the running epoch, a cancel at once, and both
// are gone on from.
func TestStop(t *testing.T) {
	build := func() string {
		dir := folder(t)
		put(t, dir, "pipeline.yml", `name: p
storage: ./state
sources:
  - {name: raw, format: json, path: landing, schema: "v BIGINT", options: {maxFilesPerTrigger: "1"}}
streaming_tables:
  - {name: out, sql: "SELECT v FROM STREAM(raw)"}
`)
		for n := range 4 {
			put(t, dir, fmt.Sprintf("landing/%d.json", n), fmt.Sprintf(`{"v":%d}`, n))
		}
		return dir
	}
	for _, point := range []string{"plan.before", "intent.after", "read.after", "prepared.after", "commit.after"} {
		for _, hard := range []bool{false, true} {
			dir := build()
			soft, halt := context.WithCancel(context.Background())
			ctx, cancel := context.WithCancel(context.Background())
			count := 0
			o := pipelines.RunOptions{At: func(p string) error {
				if p == point {
					if count++; count == 2 {
						halt()
						if hard {
							cancel()
						}
					}
				}
				return nil
			}}
			res, err := runStop(ctx, soft, dir, o)
			if err != nil {
				t.Fatal(err)
			}
			n := len(rows(t, dir, "out"))
			if !hard && (n != 2 || res.Flows[0].State != event.Stopped || res.Flows[0].Err != nil) {
				t.Errorf("stop at %s: %d rows, %+v", point, n, res.Flows[0])
			}
			if hard && (n < 1 || n > 2) {
				t.Errorf("cancel at %s: %d rows, %+v", point, n, res.Flows[0])
			}
			run(t, dir, pipelines.RunOptions{})
			want(t, dir, "out", "0", "1", "2", "3")
			cancel()
			halt()
		}
	}
}

// TestFailedEpochIsInvisible fails in the middle of an epoch and looks.
func TestFailedEpochIsInvisible(t *testing.T) {
	for _, point := range []string{"begin.after", "read.split", "step.after", "stage.filed", "stage.after", "prepared.after", "commit.log"} {
		dir := three(t)
		put(t, dir, "landing/7.json", `{"v":7}`)
		version := openTable(t, dir, "out").Known().Version()
		res, err := runIn(dir, pipelines.RunOptions{At: func(p string) error {
			if p == point {
				return errCrash
			}
			return nil
		}})
		if err == nil {
			err = failures(res)
		}
		if !errors.Is(err, errCrash) {
			t.Errorf("%s: %v", point, err)
		}
		want(t, dir, "out", "0", "1", "2")
		if v := openTable(t, dir, "out").Known().Version(); v != version {
			t.Errorf("%s: version %d", point, v)
		}
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "0", "1", "2", "7")
	}
}

// fullEnv is set where this test runs in a mount space of its own.
const fullEnv = "PIPELINES_SIMTEST_FULL"

// TestB26 runs on a file system that is too small, at several sizes, makes
// room, and runs again.
func TestB26(t *testing.T) {
	if os.Getenv(fullEnv) == "" {
		if err := exec.Command("unshare", "-rm", "true").Run(); err != nil {
			t.Skip("needs a file system of its own size, and no mount space may be made here: ", err)
		}
		cmd := exec.Command("unshare", "-rm", os.Args[0], "-test.run=^TestB26$", "-test.v")
		cmd.Env = append(os.Environ(), fullEnv+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o755); err != nil {
		t.Fatal(err)
	}
	mount := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("mount", append(args, state)...).CombinedOutput(); err != nil {
			t.Fatalf("mount: %v %s", err, out)
		}
	}
	// Without another attempt, which would wait for room that nobody makes.
	document(t, dir, "id BIGINT, s STRING", "configuration: {spark.sql.pipelines.maxFlowRetryAttempts: \"0\"}\nstreaming_tables:\n  - name: out\n    sql: SELECT id, s FROM STREAM(raw)\n"+
		"materialized_views:\n  - name: total\n    sql: SELECT count(*) AS n FROM out\n")
	var all []string
	for f := range 4 {
		var b strings.Builder
		for i := range 500 {
			id := f*500 + i
			s := fmt.Sprintf("%x", uint64(id+1)*0x9E3779B97F4A7C15)
			fmt.Fprintf(&b, `{"id":%d,"s":"%s%s"}`+"\n", id, s, s)
			all = append(all, fmt.Sprintf(`%d "%s%s"`, id, s, s))
		}
		put(t, dir, fmt.Sprintf("landing/%d.json", f), b.String())
	}
	failed := 0
	for kib := 8; kib <= 208; kib += 4 {
		mount("-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", kib), "tmpfs")
		res, err := runIn(dir, pipelines.RunOptions{})
		if err == nil {
			err = failures(res)
		}
		if err != nil {
			failed++
			if !strings.Contains(err.Error(), "no space") {
				t.Errorf("%d KiB: %v", kib, err)
			}
		}
		mount("-o", "remount,size=64m")
		run(t, dir, pipelines.RunOptions{})
		compare(t, fmt.Sprintf("%d KiB", kib), rows(t, dir, "out"), all)
		want(t, dir, "total", "2000")
		if out, err := exec.Command("umount", state).CombinedOutput(); err != nil {
			t.Fatalf("umount: %v %s", err, out)
		}
		if t.Failed() {
			t.Fatalf("at %d KiB", kib)
		}
	}
	if failed < 10 {
		t.Errorf("only %d sizes were too small", failed)
	}
}
