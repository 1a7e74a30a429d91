package simtest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pipelines/pipelines"
)

// border is a named crash point and how a run comes to it.
type border struct {
	point string
	// before is the point at which an earlier run is killed, so that this one
	// has something to recover.
	before string
	// refresh runs a full refresh after a good run.
	refresh bool
	// tables says that only tables have it.
	tables bool
}

var borders = []border{
	{point: "recover.begin"}, {point: "recover.cleaned"}, {point: "recover.start"}, {point: "recover.rerun", before: "read.after"},
	{point: "recover.finish", before: "prepared.after"}, {point: "recover.finished", before: "prepared.after"}, {point: "recover.mark", before: "commit.logged", tables: true},
	{point: "plan.before"}, {point: "plan.after"}, {point: "intent.after"}, {point: "begin.after"}, {point: "read.split"}, {point: "read.after"},
	{point: "step.after"}, {point: "stage.file", tables: true}, {point: "stage.filed", tables: true}, {point: "stage.after"}, {point: "state.after"}, {point: "prepared.after"},
	{point: "commit.begin", tables: true}, {point: "commit.log", tables: true}, {point: "commit.logged", tables: true}, {point: "commit.after"},
	{point: "mark.before"}, {point: "mark.after"}, {point: "forget.after"},
	{point: "view.begin", tables: true}, {point: "view.read", tables: true}, {point: "view.staged", tables: true}, {point: "view.committed", tables: true},
	{point: "refresh.recorded", refresh: true, tables: true}, {point: "refresh.begin", refresh: true, tables: true},
	{point: "refresh.emptied", refresh: true, tables: true}, {point: "refresh.done", refresh: true, tables: true},
}

// TestKillMatrix kills child processes with SIGKILL at every border, again
// while they recover, and compares the rows.
func TestKillMatrix(t *testing.T) {
	all := os.Getenv("PIPELINES_KILLS") == "all"
	cells := scenes(8)
	kills := 0
	var report strings.Builder
	for i, b := range borders {
		names := ""
		for j, s := range cells {
			if b.tables && s.sink.name == "console" || !all && (i*5+j)%len(cells) > 1 && !(b.tables && (i*5+j)%len(cells) == 2) {
				continue
			}
			n := killOne(t, b, s, 1+(i+j)%2)
			kills += n
			names += fmt.Sprintf(" %s:%d", s, n)
			if t.Failed() {
				t.Fatalf("%s in %s", b.point, s)
			}
		}
		fmt.Fprintf(&report, "%-17s%s\n", b.point, names)
	}
	t.Logf("%d borders, %d kills; rows lost 0, doubled 0, invented 0, changed 0\n%s", len(borders), kills, report.String())
}

// killOne plays one border in one scene and returns the number of kills.
func killOne(t *testing.T, b border, s scene, nth int) (kills int) {
	t.Helper()
	dir := folder(t)
	s.build(t, dir)
	o := order{Dir: dir, Trigger: s.trigger, Lanes: 2}
	kill := func(point string, nth int) {
		x := o
		x.Point, x.Nth = point, nth
		if child(t, x) {
			kills++
		}
	}
	if b.before != "" {
		kill(b.before, 1)
		nth = 1
	}
	if b.refresh {
		run(t, dir, pipelines.RunOptions{Trigger: s.trigger})
		o.FullRefresh = []string{"out"}
		nth = 1
	}
	before := kills
	kill(b.point, nth)
	if kills == before && nth > 1 { // a triggered run comes there once
		s.add(t, dir, 3)
		s.add(t, dir, 4)
		kill(b.point, 1)
	}
	if kills == before {
		t.Errorf("%s: %s was not met", s, b.point)
	}
	// The refresh is part of the killed request only: what follows is a plain
	// run, which must finish it. The second fault hits the recovery.
	o.FullRefresh = nil
	kill([]string{"recover.begin", "recover.start", "commit.after", "plan.before", "prepared.after"}[len(b.point)%5], 1)
	if _, err := os.Stat(dir + "/landing/f3.json"); err != nil {
		run(t, dir, pipelines.RunOptions{Trigger: s.trigger})
		s.check(t, dir, "killed at "+b.point, 3)
		s.add(t, dir, 3)
		s.add(t, dir, 4)
	}
	run(t, dir, pipelines.RunOptions{Trigger: s.trigger})
	s.check(t, dir, "killed at "+b.point, 5)
	return kills
}
