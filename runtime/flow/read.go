package flow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// inlineBytes is the size below which a step runs in one lane, on the calling
// goroutine.
const inlineBytes = 1 << 20

// job is one split to read for one group.
type job struct {
	group *scanGroup
	open  connector.Opener
	split connector.Split
	rows  *atomic.Int64
}

type readCounts struct {
	corrupt, dropped atomic.Int64
}

// readAll reads every scan of the epoch, phase by phase.
func (e *Execution) readAll(ctx context.Context, in checkpoint.Intent, prog *Progress) error {
	var counts readCounts
	rows := map[string]*atomic.Int64{}
	for _, groups := range e.phases {
		var jobs []job
		for i := range groups {
			js, err := e.jobs(ctx, in, &groups[i])
			if err != nil {
				return err
			}
			// A source that several groups read counts once.
			if _, again := rows[groups[i].scan.Relation.ID]; !again {
				n := new(atomic.Int64)
				rows[groups[i].scan.Relation.ID] = n
				for k := range js {
					js[k].rows = n
				}
			}
			jobs = append(jobs, js...)
		}
		if err := e.runJobs(ctx, jobs, &counts); err != nil {
			return err
		}
		for _, g := range groups {
			for _, input := range g.inputs {
				if err := e.plan.EndScan(input.at); err != nil {
					return fmt.Errorf("end of %s: %w", g.scan.Relation.ID, err)
				}
			}
		}
	}
	for id, n := range rows {
		prog.SourceRows[id] = n.Load()
		if _, ok := e.o.Streams[id]; ok || len(e.o.Streams) == 0 {
			prog.InputRows += n.Load()
		}
	}
	prog.Corrupt, prog.Dropped = counts.corrupt.Load(), counts.dropped.Load()
	return nil
}

func (e *Execution) jobs(ctx context.Context, in checkpoint.Intent, g *scanGroup) ([]job, error) {
	id := g.scan.Relation.ID
	var splits []connector.Split
	var open connector.Opener
	var err error
	if s, ok := e.o.Streams[id]; ok && g.scan.Relation.Streaming {
		open = s
		if splits, err = s.Splits(ctx, in.From[id], in.To[id]); err != nil {
			return nil, fmt.Errorf("splits of source %s: %w", id, err)
		}
	} else if t, ok := e.o.Tables[id]; ok {
		open = t
		splits = e.static[id].splits
		if !slices.ContainsFunc(g.inputs, func(in scanInput) bool { return !e.kept[in.at] }) {
			return nil, nil
		}
	} else {
		panic("bug: flow: no connector for relation " + id)
	}
	jobs := make([]job, len(splits))
	for i, s := range splits {
		jobs[i] = job{group: g, open: open, split: s}
	}
	return jobs, nil
}

// runJobs deals the splits to lanes, each lane reading its own in order.
func (e *Execution) runJobs(ctx context.Context, jobs []job, counts *readCounts) error {
	var total int64
	for _, j := range jobs {
		total += j.split.Bytes
	}
	if e.o.Lanes <= 1 || total < inlineBytes { // a small step: one lane, one file
		return e.runLane(ctx, 0, jobs, counts)
	}
	lanes := deal(jobs, e.o.Lanes)
	g, gctx := errgroup.WithContext(ctx)
	for lane, js := range lanes {
		g.Go(func() error { return Guard(func() error { return e.runLane(gctx, lane, js, counts) }) })
	}
	return g.Wait()
}

// parallel calls f for 0 to n-1 at the same time and returns the first error.
func parallel(n int, f func(i int) error) error {
	var g errgroup.Group
	for i := range n {
		g.Go(func() error { return Guard(func() error { return f(i) }) })
	}
	return g.Wait()
}

// deal gives each split to the lane with the least work so far, in order: the
// same splits always fall to the same lanes.
func deal(jobs []job, lanes int) [][]job {
	lanes = min(lanes, len(jobs))
	out := make([][]job, lanes)
	load := make([]int64, lanes)
	for _, j := range jobs {
		best := 0
		for l := range load {
			if load[l] < load[best] {
				best = l
			}
		}
		out[best] = append(out[best], j)
		load[best] += max(j.split.Bytes, 1)
	}
	return out
}

func (e *Execution) runLane(ctx context.Context, lane int, jobs []job, counts *readCounts) error {
	for _, j := range jobs {
		if err := e.readSplit(ctx, lane, j, counts); err != nil {
			return fmt.Errorf("read %s: %w", j.split.Name, err)
		}
		if err := e.at(ReadSplit); err != nil {
			return err
		}
	}
	return nil
}

func (e *Execution) readSplit(ctx context.Context, lane int, j job, counts *readCounts) (err error) {
	if !e.wanted(j.group) {
		return nil
	}
	r, err := j.open.Open(ctx, j.split, e.scanSpec(j.group.scan))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var file funcs.FileInfo
	if f, ok := r.(fileReader); ok {
		file.Path, file.Len = f.File()
	}
	e.plan.SetFile(lane, file)
	for first := 1; e.wanted(j.group); {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if j.rows != nil {
			j.rows.Add(int64(b.Rows()))
		}
		if err := e.push(lane, j.group, b); err != nil {
			last := first + b.Len - 1
			b.Release()
			return fmt.Errorf("in records %d to %d: %w", first, last, err)
		}
		first += b.Len
		b.Release()
	}
	c := r.Counts()
	counts.corrupt.Add(c.Corrupt)
	counts.dropped.Add(c.Dropped)
	return nil
}

func (e *Execution) scanSpec(s *logical.Scan) connector.ScanSpec {
	spec := connector.ScanSpec{
		Fields: s.Fields, Metadata: s.Metadata, Pool: e.o.Pool, BatchRows: e.o.BatchRows,
		Terms: terms(s), Late: s.Late, Location: e.o.Session.Location, CaseSensitive: e.o.Session.CaseSensitive,
	}
	for _, c := range s.Columns {
		spec.Columns.Fields = append(spec.Columns.Fields, schema.Field{Name: c.Name, Type: c.Type, Nullable: c.Nullable})
	}
	return spec
}
