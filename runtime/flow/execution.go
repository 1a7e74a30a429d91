package flow

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pipelines/runtime/budget"
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/runtime/operator"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// Trigger says when epochs are planned and when the run ends.
type Trigger uint8

// The triggers.
const (
	// AvailableNow takes what is there at the start, in epochs that honour the
	// sources' limits, and ends.
	AvailableNow Trigger = iota
	// Once takes the same in one epoch, limits ignored, and ends.
	Once
	// Continuous goes on with what arrives, until it is stopped; Options.Wait
	// says when to look again.
	Continuous
)

// Options configures an Execution.
type Options struct {
	Dataset string // name of the target, as --full-refresh takes it
	Flow    string
	Plan    logical.Node
	Session *funcs.Session
	// Streams and Tables give the plan's relations by Relation.ID.
	Streams map[string]connector.Source
	Tables  map[string]connector.Bounded
	Sink    connector.Sink
	DB      *checkpoint.DB
	Mode    logical.OutputMode
	Trigger Trigger
	// Overwrite makes epoch 0 replace the target's rows (full refresh).
	Overwrite bool
	// Refreshed says that the target was emptied for the flow to begin again:
	// until it has caught up, its commits say so (see readAgain).
	Refreshed bool
	Lanes     int // at least 1
	Pool      *column.Pool
	BatchRows int // 0: column.BatchRows
	Budget    *budget.Budget
	TempDir   string
	Now       func() time.Time
	// OnEpoch is called after each committed epoch, OnNote with things that
	// the user should know, also at the same time; both may be nil.
	OnEpoch func(Progress)
	OnNote  func(string)
	// Wait is called under Continuous after each epoch, and (idle) when there is
	// nothing to do. It returns when it is time to plan again, or false to end;
	// within, if not 0, is when something is due though nothing arrives.
	Wait func(stop context.Context, idle bool, within time.Duration) bool
	// Beside is how many bytes of state an epoch has to change for it to be
	// committed beside the reading of the next; 0 is a megabyte. With 1 operators
	// leave what can be left for then in small steps too, and files are renewed
	// without delay.
	Beside int
	// At is called at each border of the epoch with its name (see Points); an
	// error there ends the run as a crash would. It must be safe for concurrent
	// use. Nil outside tests.
	At func(point string) error
}

// Progress describes one committed epoch; names follow Spark's progress.
type Progress struct {
	Epoch     int64
	Timestamp time.Time
	InputRows int64
	// SourceRows counts by relation id.
	SourceRows map[string]int64
	OutputRows int64
	Corrupt    int64 // records that could not be decoded fully
	Dropped    int64 // records left out by DROPMALFORMED
	Watermark  int64 // stream.NoWatermark if there is none
	NoData     bool
	// Durations by phase: planning, run, commit.
	Planning, Run, Commit time.Duration
	Counters              operator.Counters
	From, To              map[string]stream.Offset
}

// Summary is what a run did.
type Summary struct {
	Epochs     int64
	InputRows  int64
	OutputRows int64
	Corrupt    int64
	Dropped    int64
	Counters   operator.Counters
	LastEpoch  int64 // -1 if none was ever committed
}

// Execution is one running flow. It is made by New, run once by Run, and then
// closed. It is not safe for concurrent use.
type Execution struct {
	o    Options
	plan *operator.Plan
	// scans groups the plan's inputs by phase.
	phases [][]scanGroup

	static  map[string]listing // of the running step
	kept    map[int]bool       // inputs that a join keeps from the step before
	state   stateFiles
	offsets map[string]stream.Offset // planned so far
	marks   watermarks
	epoch   int64 // next epoch
	marked  int64 // newest epoch whose mark is durable
	now     *running
	waiting *budget.Reservation // of the changes that closing commits
	holding holding             // of the output of the epoch after it
	closing *closing            // the commit of the epoch before, nil for none
	output  atomic.Int64        // rows handed to the sink in the running epoch
	sum     Summary
	again   bool // what the target had before a refresh is read again
}

// ErrAhead is returned when the table holds epochs that the checkpoint does not.
var ErrAhead = errors.New("the table is ahead of its checkpoint")

// ErrBehind is returned when the checkpoint knows of committed epochs that the
// table does not hold.
var ErrBehind = errors.New("the table is behind its checkpoint")

// given is the number of rows of a batch that are not deletes.
func given(b *column.Batch) int64 {
	n := b.Rows()
	for k := range b.Rows() {
		if b.Change == nil {
			break
		}
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		if b.Change[i] < 0 {
			n--
		}
	}
	return int64(n)
}

// New builds the plan and groups its inputs.
func New(o Options) (*Execution, error) {
	e := &Execution{o: o, offsets: map[string]stream.Offset{}, marked: -1, waiting: o.Budget.Reserve("changes of state on their way to the checkpoint"),
		holding: holding{memory: o.Budget.Reserve("output that waits for the commit before it")}}
	env := operator.Env{
		Pool: o.Pool, Session: o.Session, Lanes: o.Lanes, Budget: o.Budget, TempDir: o.TempDir, Parallel: parallel, Eager: o.Beside == 1,
		Output: func(lane int, b *column.Batch) error {
			e.output.Add(given(b))
			return e.now.write(lane, b)
		},
	}
	plan, err := operator.Build(o.Plan, env)
	if err != nil {
		return nil, fmt.Errorf("build flow %s: %w", o.Flow, err)
	}
	e.plan = plan
	e.phases = groupScans(plan.Scans())
	e.marks = newWatermarks(o.Plan, o.Session)
	return e, nil
}

// Close gives back what the plan holds, and what a run has left reserved.
func (e *Execution) Close() {
	e.plan.Close()
	e.waiting.Release()
	e.holding.memory.Release()
}

// Run recovers, then runs epochs until the trigger is satisfied or ctx ends.
// Cancelling ctx stops after the running epoch's current step with ctx's error.
// A panic comes back as a *Bug, when all that runs beside has ended.
func (e *Execution) Run(ctx, stop context.Context) (Summary, error) {
	err := Guard(func() error { return e.run(ctx, stop) })
	return e.sum, errors.Join(err, Guard(func() error { return e.state.end(e.o.DB, err != nil) }))
}

func (e *Execution) run(ctx, stop context.Context) error {
	if err := e.readAgain(); err != nil {
		return err
	}
	if err := e.recover(ctx); err != nil {
		return err
	}
	if e.marked == e.epoch-1 {
		if err := e.forget(ctx, e.offsets); err != nil {
			return err
		}
	}
	for _, id := range e.streamIDs() {
		if err := e.o.Streams[id].Pin(ctx); err != nil {
			return fmt.Errorf("list source %s: %w", id, err)
		}
	}
	err := Guard(func() error { return e.epochs(ctx, stop) })
	if err = errors.Join(err, e.settle()); err != nil {
		return err
	}
	if e.o.Trigger == Once && stop.Err() == nil {
		if err := e.caughtUp(); err != nil {
			return err
		}
	}
	return e.writeMark(ctx)
}

// epochs runs epochs until the trigger is satisfied or stop ends; the last may
// still be on its way to its commit.
func (e *Execution) epochs(ctx, stop context.Context) error {
	for stop.Err() == nil {
		if err := e.at(PlanBefore); err != nil {
			return err
		}
		in, ledgers, err := e.planEpoch(ctx)
		if err != nil {
			return err
		}
		if in == nil {
			if err := errors.Join(e.settle(), e.caughtUp()); err != nil {
				return err
			}
			if again, err := e.idle(ctx, stop); err != nil || !again {
				return err
			}
			continue
		}
		if err := e.at(PlanAfter); err != nil {
			return err
		}
		if err := e.runNext(ctx, *in, ledgers); err != nil {
			return err
		}
		if e.o.Trigger == Once && !e.marks.pending(e.o.Now().UnixMicro()) {
			break
		}
		if e.o.Trigger == Continuous && !e.wait(stop) {
			break
		}
	}
	return nil
}

// forget lets the sources give up what the durable mark covers.
func (e *Execution) forget(ctx context.Context, upTo map[string]stream.Offset) error {
	for _, id := range e.streamIDs() {
		f, ok := e.o.Streams[id].(connector.Forgetter)
		if !ok {
			continue
		}
		did := f.Forget(ctx, upTo[id])
		for _, n := range did.Notes {
			e.note(n)
		}
		if len(did.Entries) > 0 {
			entries := make([]checkpoint.Entry, len(did.Entries))
			for i, en := range did.Entries {
				entries[i] = checkpoint.Entry(en)
			}
			if err := e.o.DB.WriteLedger(id, entries); err != nil {
				return err
			}
		}
		if err := e.at(ForgetAfter); err != nil {
			return err
		}
	}
	return nil
}

// idle waits for something to do; false ends the run.
func (e *Execution) idle(ctx, stop context.Context) (bool, error) {
	if e.o.Trigger != Continuous || len(e.o.Streams) == 0 {
		return false, nil
	}
	if err := e.writeMark(ctx); err != nil {
		return false, err
	}
	within := time.Duration(e.marks.nextQuiet(e.o.Now().UnixMicro())) * time.Microsecond
	return e.o.Wait(stop, true, within), nil
}

func (e *Execution) writeMark(ctx context.Context) error {
	if e.marked >= e.epoch-1 {
		return nil
	}
	if err := e.at(MarkBefore); err != nil {
		return err
	}
	if err := e.o.DB.WriteMark(e.epoch - 1); err != nil {
		return err
	}
	e.marked = e.epoch - 1
	if err := e.at(MarkAfter); err != nil {
		return err
	}
	return e.forget(ctx, e.offsets)
}

func (e *Execution) at(point string) error { return call(e.o.At, point) }

func call(at func(string) error, point string) error {
	if at == nil {
		return nil
	}
	return at(point)
}

func (e *Execution) note(text string) {
	if e.o.OnNote != nil {
		e.o.OnNote(text)
	}
}
