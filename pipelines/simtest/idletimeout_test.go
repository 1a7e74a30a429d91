package simtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// clocked is a project that runs at wall times of the test's choice.
type clocked struct {
	testing.TB
	dir  string
	late int64 // rows that came too late in the newest epoch
	// mark is the newest epoch's watermark; notes are what the last run said.
	mark  string
	notes []string
}

// epoch0 is when the clocks of these tests start.
var epoch0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// runAt runs everything that is there at so many seconds of the wall clock.
func (c *clocked) runAt(sec float64, at func(string) error) error {
	c.Helper()
	ctx := context.Background()
	now := epoch0.Add(time.Duration(sec * float64(time.Second)))
	p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: c.dir, Now: func() time.Time { return now }})
	if err != nil || list.HasErrors() {
		c.Fatalf("%v\n%s", err, list.Render())
	}
	c.notes = nil
	res, list, err := p.Run(ctx, ctx, pipelines.RunOptions{At: at, Lanes: 2, Listener: event.Listener{
		FlowProgress: func(e event.FlowProgress) {
			c.mark, c.late = e.Watermark, 0
			for _, o := range e.Operators {
				c.late += o.Late
			}
		},
		Note: func(n event.Note) { c.notes = append(c.notes, n.Message) },
	}})
	if err != nil || list.HasErrors() {
		c.Fatalf("%v\n%s", err, list.Render())
	}
	return failures(res)
}

func (c *clocked) good(sec float64) {
	c.Helper()
	if err := c.runAt(sec, nil); err != nil {
		c.Fatal(err)
	}
}

func (c *clocked) rows(rs ...string) {
	c.Helper()
	compare(c.TB, "out", rows(c.TB, c.dir, "out"), rs)
}

// partitions is a count by minute over two sources, b with a timeout of 5 s.
func partitions(t testing.TB, timeoutA string) *clocked {
	dir := folder(t)
	source := func(name, timeout string) string {
		return fmt.Sprintf("  - {name: %s, format: json, path: %s, schema: \"ts TIMESTAMP\", watermark: {column: ts, delay: 0 seconds}%s}\n", name, name, timeout)
	}
	put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n"+source("a", timeoutA)+source("b", ", idle_timeout: 5 seconds")+`streaming_tables:
  - name: out
    sql: |
      SELECT date_format(window.start, 'mm') AS minute, count(*) AS n
      FROM (SELECT ts FROM STREAM(a) UNION ALL SELECT ts FROM STREAM(b))
      GROUP BY window(ts, '1 minute')
`)
	put(t, dir, "a/_", "")
	put(t, dir, "b/_", "")
	return &clocked{TB: t, dir: dir}
}

func stamp(minute, second int) string {
	return fmt.Sprintf("{\"ts\":\"2026-01-01T00:%02d:%02dZ\"}\n", minute, second)
}

// TestB07 has the report's partitions as two sources: one that is never
// written stops holding the watermark after its timeout, and takes part again
// when it speaks.
func TestB07(t *testing.T) {
	c := partitions(t, "")
	put(t, c.dir, "a/1.json", stamp(0, 10)+stamp(2, 0))
	c.good(0)
	c.rows()
	c.good(4.9)
	c.rows()
	c.good(5) // an epoch without rows
	c.rows(`"00" 1`)
	put(t, c.dir, "b/1.json", stamp(0, 30))
	c.good(6)
	if c.late != 1 {
		t.Errorf("%d late rows, want 1", c.late)
	}
	put(t, c.dir, "b/2.json", stamp(2, 30))
	c.good(7)
	if c.late != 0 {
		t.Errorf("%d late rows, want 0", c.late)
	}
	put(t, c.dir, "a/2.json", stamp(4, 0))
	c.good(8) // b speaks again and holds the watermark at 2:30
	c.rows(`"00" 1`)
	c.good(11.9)
	c.rows(`"00" 1`)
	c.good(12)
	c.rows(`"00" 1`, `"02" 2`)
	// A source without a timeout holds the watermark for ever (W-12).
	put(t, c.dir, "b/3.json", stamp(9, 0))
	c.good(1000)
	c.good(2000)
	c.rows(`"00" 1`, `"02" 2`)
}

// TestIdleAll: when all sources are quiet none holds the others back, and none
// moves the watermark beyond what was seen.
func TestIdleAll(t *testing.T) {
	c := partitions(t, ", idle_timeout: 20 seconds")
	put(t, c.dir, "a/1.json", stamp(1, 0))
	put(t, c.dir, "b/1.json", stamp(3, 30))
	c.good(0)
	c.good(10) // b is quiet: a alone says 1:00
	if c.rows(); c.mark != "2026-01-01T00:01:00.000Z" {
		t.Errorf("watermark %s", c.mark)
	}
	c.good(20)
	c.rows(`"01" 1`)
	if c.mark != "2026-01-01T00:03:30.000Z" {
		t.Errorf("watermark %s", c.mark)
	}
	c.good(5000)
	c.rows(`"01" 1`)
}

// TestIdleRerun stops at each border of an epoch that is planned before the
// timeout and runs it again long after it: the epoch decides the same.
func TestIdleRerun(t *testing.T) {
	straight := ""
	for n := 0; ; n++ {
		c := partitions(t, "")
		put(t, c.dir, "a/1.json", stamp(0, 10)+stamp(2, 0))
		c.good(0)
		put(t, c.dir, "a/2.json", stamp(0, 50)+stamp(5, 0)) // 0:50 is late if b is taken to be quiet
		count, stopped := 0, false
		err := c.runAt(4, func(string) error {
			if count++; count == n {
				stopped = true
				return errors.New("crash")
			}
			return nil
		})
		if !stopped && err != nil {
			t.Fatal(err)
		}
		if stopped && count < 4 { // nothing was planned: it is another epoch
			continue
		}
		put(t, c.dir, "b/1.json", stamp(9, 9))
		c.good(100)
		c.good(104.9)
		got := fmt.Sprint(rows(t, c.dir, "out"), c.late)
		if n == 0 {
			if straight = got; got != `["00" 2 "02" 1] 0` {
				t.Fatal(got)
			}
		}
		if got != straight {
			t.Errorf("stopped at border %d: %s, straight %s", n, got, straight)
		}
		if n > 0 && !stopped {
			if n < 20 {
				t.Errorf("only %d borders", n)
			}
			return
		}
	}
}

// TestMaxFuture: a row far ahead of the clock is kept and does not move the
// watermark (W-22), by the wall time that the epoch has recorded.
func TestMaxFuture(t *testing.T) {
	for _, bound := range []string{"", ", max_future: 1 hour"} {
		dir := folder(t)
		put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - {name: a, format: json, path: a, schema: \"ts TIMESTAMP\", watermark: {column: ts, delay: 0 seconds"+bound+`}}
streaming_tables:
  - name: out
    sql: "SELECT date_format(window.start, 'HH:mm') AS minute, count(*) AS n FROM STREAM(a) GROUP BY window(ts, '1 minute')"
`)
		c := &clocked{TB: t, dir: dir}
		row := func(text string) string { return fmt.Sprintf("{\"ts\":\"2026-03-01T%sZ\"}\n", text) }
		put(t, dir, "a/1.json", row("11:50:00")+row("13:00:00")+row("13:00:00.001")) // the clock says 12:00
		c.good(0)
		put(t, dir, "a/2.json", row("13:30:00"))
		c.good(1)
		put(t, dir, "a/3.json", row("13:00:30")) // late only after 13:30
		c.good(2)
		if bound == "" {
			c.rows(`"11:50" 1`, `"13:00" 2`)
			if len(c.notes) != 0 || c.late != 1 {
				t.Errorf("%d late, %q", c.late, c.notes)
			}
			continue
		}
		c.rows(`"11:50" 1`)
		if c.late != 0 || c.mark != "2026-03-01T13:00:00.000Z" {
			t.Errorf("%d late, watermark %s", c.late, c.mark)
		}
		put(t, dir, "a/4.json", row("13:59:59"))
		c.good(3600) // at 13:00 all of them may count
		put(t, dir, "a/5.json", row("13:59:59"))
		c.good(3601)
		c.rows(`"11:50" 1`, `"13:00" 3`, `"13:30" 1`)
	}
}

// TestIdleWithoutWatermark: a timeout that holds nothing back is said.
func TestIdleWithoutWatermark(t *testing.T) {
	for query, want := range map[string]int{
		"SELECT ts FROM STREAM(a)": 1,
		"SELECT window.start AS s FROM STREAM(a) WATERMARK ts DELAY OF INTERVAL 1 SECOND GROUP BY window(ts, '1 minute')": 0,
	} {
		dir := folder(t)
		put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - {name: a, format: json, path: a, schema: \"ts TIMESTAMP\", idle_timeout: 5 seconds}\nstreaming_tables:\n  - name: out\n    sql: \""+query+"\"\n")
		_, list, err := pipelines.Load(t.Context(), pipelines.LoadOptions{Path: dir, Offline: true})
		if err != nil || list.HasErrors() {
			t.Fatalf("%v\n%s", err, list.Render())
		}
		n := 0
		for _, d := range list {
			if d.Code == "IDLE_TIMEOUT_WITHOUT_WATERMARK" {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d warnings, want %d\n%s", query, n, want, list.Render())
		}
	}
}
