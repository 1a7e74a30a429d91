package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
	"pipelines/pipelines/shell"
	"pipelines/spec/diag"
)

// The queries stand in testdata/nexmark, one archive each: how it runs, the
// tables, a check. Their answers were computed by another program over the
// same events (answers.py there).

const queryFiles = "../../testdata/nexmark"

// childEnv makes this binary run the project in a folder instead of the tests.
const childEnv = "PIPELINES_NEXMARK_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := runProject(context.Background(), dir, pipelines.RunOptions{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// size is how many events the queries run over: 20,000 at 200 a second, or
// what PIPELINES_NEXMARK says at 10,000 a second (answers stand there for
// 1,000,000).
func size(t *testing.T) (events, rate int64) {
	text := os.Getenv("PIPELINES_NEXMARK")
	if text == "" {
		return 20_000, 200
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n, 10_000
}

// query is one archive.
type query struct {
	name, tables, check, answer string
	closing                     bool
}

func queries(t *testing.T, events int64) []query {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("%s/answers-%d.txt", queryFiles, events))
	if err != nil {
		t.Fatal(err)
	}
	var out []query
	for line := range strings.Lines(string(text)) {
		name, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
		a, err := txtar.ParseFile(filepath.Join(queryFiles, name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		q := query{name: name, answer: answer}
		for _, f := range a.Files {
			switch f.Name {
			case "tables.yml":
				q.tables = string(f.Data)
			case "check":
				q.check = string(f.Data)
			case "closing":
				q.closing = true
			}
		}
		out = append(out, q)
	}
	if len(out) != 24 {
		t.Fatalf("%d queries", len(out))
	}
	return out
}

// memory makes a folder in memory where there is such a place.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "pipelines-nexmark-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// lay makes the events and a last file whose rows close every window.
func lay(t *testing.T, events, rate int64) (dir string) {
	t.Helper()
	dir = memory(t)
	o := options{events: events, rate: rate, seed: 42, files: 8, out: dir}
	if _, _, err := o.generate(); err != nil {
		t.Fatal(err)
	}
	last, err := os.ReadFile(filepath.Join(queryFiles, "closing.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "part-99999.json"), last, 0o644); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, e := range entries(t, dir) {
		if err := os.Chtimes(filepath.Join(dir, e), at, at); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
	}
	return dir
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// build writes the query's project over the events.
func (q *query) build(t *testing.T, data string) (dir string) {
	t.Helper()
	dir = memory(t)
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range entries(t, data) {
		if name == "part-99999.json" && !q.closing {
			continue
		}
		if err := os.Link(filepath.Join(data, name), filepath.Join(dir, "data", name)); err != nil {
			t.Fatal(err)
		}
	}
	common, err := os.ReadFile(filepath.Join(queryFiles, "common.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pipeline.yml"), append(common, q.tables...), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func runProject(stop context.Context, dir string, o pipelines.RunOptions) error {
	ctx := context.Background()
	p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		return fmt.Errorf("load: %w\n%s", err, list.Render())
	}
	o.Out = io.Discard
	res, list, err := p.Run(ctx, stop, o)
	if err != nil || list.HasErrors() {
		return fmt.Errorf("run: %w\n%s", err, list.Render())
	}
	for _, f := range res.Flows {
		if f.State == event.Failed {
			err = errors.Join(err, fmt.Errorf("flow %s: %w", f.Flow, f.Err))
		}
	}
	return err
}

// result is the row of the query's check.
func (q *query) result(t *testing.T, dir string) string {
	t.Helper()
	ctx := context.Background()
	r, list, err := pipelines.OpenReader(ctx, pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatal(err, list.Render())
	}
	s, err := shell.New(shell.Options{Reader: r})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p, err := shell.NewPrinter("jsonstrings", &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	text := diag.NewText("check", q.check)
	st := s.Parse(text)[0]
	p.Begin(1, 1, s.Settings())
	if err := p.End(s.Run(ctx, &st, text, p)); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Rows [][]string }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Rows) != 1 {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	return strings.Join(doc.Rows[0], " ")
}

func (q *query) want(t *testing.T, dir, what string) {
	t.Helper()
	if got := q.result(t, dir); got != q.answer {
		t.Errorf("%s %s:\n got %s\nwant %s", q.name, what, got, q.answer)
	}
}

// TestQueries runs each query over files that arrive one an epoch: in one run,
// and in many that each stop after an epoch.
func TestQueries(t *testing.T) {
	events, rate := size(t)
	data := lay(t, events, rate)
	for i, q := range queries(t, events) {
		t.Run(q.name, func(t *testing.T) {
			straight := q.build(t, data)
			if err := runProject(context.Background(), straight, pipelines.RunOptions{Lanes: 1 + i%3}); err != nil {
				t.Fatal(err)
			}
			q.want(t, straight, "in one run")
			stopped := q.build(t, data)
			for n := range 6 {
				stop, halt := context.WithCancel(context.Background())
				var left atomic.Int64 // flows run side by side
				left.Store(1 + int64(n%2))
				o := pipelines.RunOptions{Lanes: 1 + (i+n)%4, BatchRows: 500 * (1 + n), At: func(point string) error {
					if point == "commit.after" && left.Add(-1) == 0 {
						halt()
					}
					return nil
				}}
				if err := runProject(stop, stopped, o); err != nil {
					t.Fatal(err)
				}
				halt()
			}
			if err := runProject(context.Background(), stopped, pipelines.RunOptions{}); err != nil {
				t.Fatal(err)
			}
			q.want(t, stopped, "with stops")
		})
	}
}

// TestQueriesKilled runs queries in processes that die at random moments. It
// takes a part of them that changes with nothing, or all at the size of
// PIPELINES_NEXMARK.
func TestQueriesKilled(t *testing.T) {
	events, rate := size(t)
	data := lay(t, events, rate)
	part := []string{"q4", "q5", "q7", "q9", "q11", "q19"}
	r := rand.New(rand.NewPCG(uint64(events), 5))
	kills, done := 0, 0
	for _, q := range queries(t, events) {
		if os.Getenv("PIPELINES_NEXMARK") == "" && !slices.Contains(part, q.name) {
			continue
		}
		t.Run(q.name, func(t *testing.T) {
			dir := q.build(t, data)
			whole := 100*time.Millisecond + time.Duration(events)*time.Microsecond
			for range 4 {
				killed, err := dies(dir, time.Duration(r.Int64N(int64(whole))))
				if err != nil {
					t.Fatal(err)
				}
				if killed {
					kills++
				} else {
					done++
				}
			}
			if err := runProject(context.Background(), dir, pipelines.RunOptions{}); err != nil {
				t.Fatal(err)
			}
			q.want(t, dir, "with kills")
		})
	}
	t.Logf("%d kills, %d runs came to their end before", kills, done)
	if kills == 0 {
		t.Error("nothing was killed")
	}
}

// dies runs the project in another process and kills it after a while.
func dies(dir string, after time.Duration) (killed bool, err error) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+dir)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return false, err
	}
	timer := time.AfterFunc(after, func() {
		// An error says that it has ended, which Wait tells.
		_ = c.Process.Kill()
	})
	defer timer.Stop()
	if err = c.Wait(); err == nil {
		return false, nil
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == -1 {
		return true, nil
	}
	return false, fmt.Errorf("%w: %s", err, cmp.Or(out.String(), "no output"))
}
