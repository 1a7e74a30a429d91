package operator

import (
	"fmt"
	"sync"
	"sync/atomic"

	"pipelines/runtime/budget"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// Env is what Build needs of the surroundings.
type Env struct {
	Pool    *column.Pool
	Session *funcs.Session
	// Lanes is the number of lanes, at least 1.
	Lanes int
	// Output receives the rows of the plan's root. The batch is lent. It is
	// called from the goroutine that pushes the lane, or at the step's end by one
	// goroutine a lane.
	Output func(lane int, b *column.Batch) error
	// Seed is mixed into volatile functions; fixed for an epoch.
	Seed int64
	// Budget lends blocking operators their memory; nil: no bound.
	Budget *budget.Budget
	// Size guesses the bytes of a static relation by its ID, -1 for unknown; it
	// decides which side a join keeps. Nil: nothing is known.
	Size func(relation string) int64
	// TempDir is where operators may spill; "" forbids spilling.
	TempDir string
	// Parallel calls f for 0 to n-1 from goroutines of their own and waits for
	// them; it is asked for at most Lanes. Nil: the plan calls f itself.
	Parallel func(n int, f func(i int) error) error
	// Check weaves checks between the operators (tests).
	Check bool
	// Eager has small steps leave what they changed for later too (tests).
	Eager bool
}

// ScanInput is one leaf of the plan that the flow feeds. Scans of one relation
// with the same ID are separate inputs; the flow may read the relation once
// and push the same batch to each of one phase.
type ScanInput struct {
	Scan *logical.Scan
	// Phase orders the scans of a step: all scans of a lower phase are read
	// and ended before those of a higher one are pushed (build sides first).
	Phase int
}

// RowError is the failure of one row's expression with its place in the input.
type RowError struct {
	Err *funcs.Error
}

func (e *RowError) Error() string { return e.Err.Error() }

func (e *RowError) Unwrap() error { return e.Err }

// ExpectCount counts what one expectation saw.
type ExpectCount struct {
	Dataset        string // the view whose expectation it is, "" for the target
	Name           string
	Action         logical.OnViolation
	Passed, Failed int64
}

// Counters is what the plan counted since it was built, summed over lanes.
type Counters struct {
	Expectations []ExpectCount
	// DroppedErrors counts rows dropped by on_error: drop.
	DroppedErrors int64
	// Ahead counts the rows of the last step whose event time lies beyond the
	// bound on the future.
	Ahead int64
	// Operators are those of the last step (rows, bytes: at its end).
	Operators []OperatorCount
}

// OperatorCount is what one stateful operator reports of the last step, in
// Spark's terms; the operator nearest the output first.
type OperatorCount struct {
	ID                                    string
	StateRows, Updated, Removed, LateRows int64
	Duplicates                            int64
	StateBytes                            int64
}

// port takes one input of an operator. push may be called by several lanes at
// the same time, each with its own number; the batch is lent. end comes once a
// step, when all lanes have pushed all. Keyed operators stand behind an exchange.
type port interface {
	push(lane int, b *column.Batch) error
	end() error
}

// unit is what a plan manages of an operator beside its ports.
type unit interface {
	// begin prepares a step.
	begin(s *stepState) error
	// close gives all memory back.
	close()
}

// stepState is what operators may know of the running step.
type stepState struct {
	stream.Step
}

// leaf is an input without a scan: inline tables and ranges.
type leaf struct {
	phase int
	run   func() error
	done  bool
}

// scanPort is a scan as the plan drives it.
type scanPort struct {
	out   port
	ended bool
}

// Plan is a built plan: a tree of operators with the root at Env.Output.
// Between Begin and EndStep lanes may push concurrently; everything else is
// called by one goroutine at a time.
type Plan struct {
	env    Env
	scans  []ScanInput
	ports  []scanPort
	leaves []leaf
	units  []unit
	state  []stateful // nearest the output first
	marks  []*watermark
	root   *mark
	expect []*expect
	limits []*limit      // of bounded inputs
	static map[int]*join // scans that a join may keep

	step    stepState
	evals   []*expr.Evaluation
	dropped atomic.Int64
	running bool
	divided map[logical.Node][]division // by input, for Explain

	spillMu sync.Mutex // guards below
	spills  map[*spillFile]struct{}
}

// Scans lists the inputs that the flow feeds.
func (p *Plan) Scans() []ScanInput { return p.scans }

// Begin starts a step.
func (p *Plan) Begin(s stream.Step) error {
	if p.running {
		panic("bug: operator: step begun twice")
	}
	p.step = stepState{Step: s}
	for lane, e := range p.evals {
		e.Now, e.Seed, e.Partition = s.Now, p.env.Seed+s.Epoch, lane
	}
	for i := range p.ports {
		p.ports[i].ended = false
	}
	for i := range p.leaves {
		p.leaves[i].done = false
	}
	p.running = true
	for _, u := range p.units {
		if err := u.begin(&p.step); err != nil {
			return err
		}
	}
	for scan, j := range p.static {
		p.ports[scan].ended = j.using
	}
	p.propagate()
	return p.advance()
}

// Push hands one batch of a scan to the plan; the batch is lent. Its columns
// are in the order of Scan.Columns. Lanes may push at the same time.
func (p *Plan) Push(lane, scan int, b *column.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	return p.ports[scan].out.push(lane, b)
}

// EndScan says that the scan has no more rows in this step. No Push of any
// scan may be running: operators emit, on lane 0 or side by side on all lanes.
func (p *Plan) EndScan(scan int) error {
	if p.ports[scan].ended {
		return nil
	}
	p.ports[scan].ended = true
	if err := p.ports[scan].out.end(); err != nil {
		return err
	}
	return p.advance()
}

// advance runs the leaves whose phase has come.
func (p *Plan) advance() error {
	for {
		phase, open := -1, false
		for i := range p.ports {
			if !p.ports[i].ended && (phase < 0 || p.scans[i].Phase < phase) {
				phase, open = p.scans[i].Phase, true
			}
		}
		next := -1
		for i, l := range p.leaves {
			if !l.done && (!open || l.phase <= phase) && (next < 0 || l.phase < p.leaves[next].phase) {
				next = i
			}
		}
		if next < 0 {
			return nil
		}
		p.leaves[next].done = true
		if err := p.leaves[next].run(); err != nil {
			return err
		}
	}
}

// EndStep ends the scans that are still open, in order of phase, and the step:
// late rows are dropped, state is evicted, blocking operators have emitted.
func (p *Plan) EndStep() error {
	for {
		next := -1
		for i := range p.ports {
			if !p.ports[i].ended && (next < 0 || p.scans[i].Phase < p.scans[next].Phase) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		if err := p.EndScan(next); err != nil {
			return err
		}
	}
	p.running = false
	return nil
}

// Counters returns what was counted so far.
func (p *Plan) Counters() Counters {
	c := Counters{DroppedErrors: p.dropped.Load(), Ahead: p.ahead()}
	for _, e := range p.expect {
		for _, n := range e.counts() {
			c.expectation(n)
		}
	}
	for _, s := range p.state {
		c.Operators = append(c.Operators, s.count())
	}
	return c
}

// expectation adds the count of an expectation. A view that stands several
// times in a plan counts once: by the mention that saw most of its rows.
func (c *Counters) expectation(n ExpectCount) {
	for i := range c.Expectations {
		if x := &c.Expectations[i]; n.Dataset != "" && x.Dataset == n.Dataset && x.Name == n.Name {
			if n.Passed+n.Failed > x.Passed+x.Failed {
				*x = n
			}
			return
		}
	}
	c.Expectations = append(c.Expectations, n)
}

// Close gives all memory back to the pool. The plan is not usable afterwards.
func (p *Plan) Close() {
	for _, u := range p.units {
		u.close()
	}
	p.units = nil
	p.closeSpills()
}

// output is the port at the root: values are used here, so failed rows count.
type output struct {
	p    *Plan
	drop bool
}

func (o *output) push(lane int, b *column.Batch) error {
	rows, err := o.p.usable(b.Cols, b, o.drop)
	if err != nil {
		return err
	}
	if rows == nil {
		return o.p.env.Output(lane, b)
	}
	if len(rows) == 0 {
		return nil
	}
	nb := selected(o.p.env.Pool, b, rows)
	defer nb.Release()
	return o.p.env.Output(lane, nb)
}

func (o *output) end() error { return nil }

// selected returns a new header over the columns of b with the rows given.
func selected(pool *column.Pool, b *column.Batch, rows []int32) *column.Batch {
	nb := pool.Batch()
	for _, c := range b.Cols {
		nb.Cols = append(nb.Cols, c.Retain())
	}
	nb.Len, nb.Change = b.Len, b.Change
	nb.Sel = append(nb.SelBuffer(), rows...)
	return nb
}

// rowFailure returns the first error of row r in vecs.
func rowFailure(vecs []*column.Vector, r int) error {
	for _, v := range vecs {
		if v.Errs == nil {
			continue
		}
		if err := v.Errs.At(v.Row(r)); err != nil {
			return err
		}
	}
	return nil
}

func rowError(err error) error {
	if fe, ok := err.(*funcs.Error); ok {
		return &RowError{fe}
	}
	return fmt.Errorf("evaluate row: %w", err)
}

// SetFile says which file the next batches of a lane were read from, for
// input_file_name() and the like. It is called by the goroutine that pushes
// the lane.
func (p *Plan) SetFile(lane int, f funcs.FileInfo) { p.evals[lane].File = f }
