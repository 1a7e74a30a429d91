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

// ExpectationError says that rows violated an expectation that fails the flow.
type ExpectationError = operator.ExpectationError

// BoundedOptions configures a query over relations that are read whole.
type BoundedOptions struct {
	Plan logical.Node
	// Refine, if set, gives the plan that runs instead of Plan, for data of which
	// the facts are known.
	Refine    func(logical.Facts) logical.Node
	Session   *funcs.Session
	Tables    map[string]connector.Bounded
	Lanes     int
	Pool      *column.Pool
	BatchRows int
	Budget    *budget.Budget
	TempDir   string
	Now       time.Time
	Seed      int64
	// At is called at the borders of Replace; see Options.At.
	At func(point string) error
	// Output receives the result, one call at a time per lane; lent.
	Output func(lane int, b *column.Batch) error
}

// BoundedResult counts what a bounded query did.
type BoundedResult struct {
	InputRows, OutputRows, Corrupt, Dropped int64
	Counters                                operator.Counters
}

// RunBounded runs the query once.
func RunBounded(ctx context.Context, o BoundedOptions) (BoundedResult, error) {
	var rows atomic.Int64
	o.Tables = listOnce(o.Tables)
	if o.Refine != nil {
		o.Plan = o.Refine(facts(ctx, o.Tables))
	}
	env := operator.Env{
		Pool: o.Pool, Session: o.Session, Lanes: max(o.Lanes, 1), Seed: o.Seed, Budget: o.Budget, TempDir: o.TempDir,
		Size: sizes(ctx, o.Tables), Parallel: parallel,
		Output: func(lane int, b *column.Batch) error {
			rows.Add(int64(b.Rows()))
			return o.Output(lane, b)
		},
	}
	plan, err := operator.Build(o.Plan, env)
	if err != nil {
		return BoundedResult{}, err
	}
	defer plan.Close()
	e := &Execution{plan: plan, phases: groupScans(plan.Scans()), o: Options{
		Session: o.Session, Tables: o.Tables, Lanes: max(o.Lanes, 1), Pool: o.Pool, BatchRows: o.BatchRows,
	}}
	if err := e.listStatic(ctx); err != nil {
		return BoundedResult{}, err
	}
	step := stream.Step{Now: o.Now.UnixMicro(), Late: stream.NoWatermark, Evict: stream.NoWatermark, Bounded: true, Wide: e.wide()}
	if err := plan.Begin(step); err != nil {
		return BoundedResult{}, err
	}
	prog := Progress{SourceRows: map[string]int64{}}
	if err := e.readAll(ctx, checkpoint.Intent{}, &prog); err != nil {
		return BoundedResult{}, err
	}
	if err := plan.EndStep(); err != nil {
		return BoundedResult{}, err
	}
	c := plan.Counters()
	return BoundedResult{InputRows: prog.InputRows, OutputRows: rows.Load(), Corrupt: prog.Corrupt, Dropped: prog.Dropped, Counters: c}, nil
}

// Explain prints the plan as RunBounded would run it: refined by what is known
// of the tables, with the places where rows change lanes.
func Explain(ctx context.Context, o BoundedOptions) (string, error) {
	o.Tables = listOnce(o.Tables)
	if o.Refine != nil {
		o.Plan = o.Refine(facts(ctx, o.Tables))
	}
	plan, err := operator.Build(o.Plan, operator.Env{
		Pool: o.Pool, Session: o.Session, Lanes: max(o.Lanes, 1), Budget: o.Budget, TempDir: o.TempDir, Size: sizes(ctx, o.Tables),
	})
	if err != nil {
		return "", err
	}
	defer plan.Close()
	e := &Execution{plan: plan, phases: groupScans(plan.Scans()), o: Options{Session: o.Session, Tables: o.Tables, Lanes: max(o.Lanes, 1), Pool: o.Pool}}
	if err := e.listStatic(ctx); err != nil {
		return "", err
	}
	return plan.Explain(o.Plan, e.wide()), nil
}

// Replace runs the query and replaces the sink's rows with the result in one
// commit (a materialized view). Info is stored with the commit. A failed run
// leaves the old rows.
func Replace(ctx context.Context, o BoundedOptions, sink connector.Sink, info connector.EpochInfo) (BoundedResult, error) {
	info.Overwrite = true
	if err := sink.Clean(ctx, info.AppID); err != nil {
		return BoundedResult{}, fmt.Errorf("clean target: %w", err)
	}
	ep, err := sink.Begin(ctx, info)
	if err != nil {
		return BoundedResult{}, fmt.Errorf("begin: %w", err)
	}
	o.Output = ep.Write
	if err := call(o.At, ViewBegin); err != nil {
		return BoundedResult{}, errors.Join(err, ep.Abort())
	}
	var res BoundedResult
	if err := Guard(func() (err error) { res, err = RunBounded(ctx, o); return err }); err != nil {
		return res, errors.Join(err, ep.Abort())
	}
	if err := call(o.At, ViewRead); err != nil {
		return res, errors.Join(err, ep.Abort())
	}
	var token []byte
	if err := Guard(func() (err error) { token, err = ep.Prepare(ctx); return err }); err != nil {
		return res, errors.Join(fmt.Errorf("stage: %w", err), ep.Abort())
	}
	if err := call(o.At, ViewStaged); err != nil {
		return res, err
	}
	if err := sink.Commit(ctx, info, token); err != nil {
		return res, fmt.Errorf("commit: %w", err)
	}
	return res, call(o.At, ViewCommitted)
}
