package flow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"pipelines/runtime/budget"
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/tables/column"
)

// An epoch that has changed much state ends beside the next one: its files are
// written and synced and it is committed by a goroutine while the next epoch is
// planned and its rows go through the operators. Nothing of the next one is
// durable before: its intent is written, and the sink's epoch begun, when the
// one before is committed, so the checkpoint and the sink see epochs one after
// another as ever. Until then its output is held back, some batches a lane, as
// far as there is memory for them; whoever has more waits.

// besideBytes is the size of an epoch's changes from which it ends beside the
// next.
const besideBytes = 1 << 20

// heldBatches is how many batches of output a lane holds back.
const heldBatches = 64

// running is an epoch under way.
type running struct {
	in    checkpoint.Intent
	info  connector.EpochInfo
	start time.Time
	prog  Progress
	prep  checkpoint.Prepared

	// ready is closed when the sink's epoch is open or err says why it is not;
	// opening is who opens it.
	ready   chan struct{}
	opening errgroup.Group
	ep      connector.Epoch
	err     error
	held    [][]heldBatch // by lane
	holding *holding
}

// heldBatch is a batch that waits, and what was reserved for it.
type heldBatch struct {
	b     *column.Batch
	bytes int64
}

// holding reserves what lanes hold back.
type holding struct {
	memory *budget.Reservation

	mu    sync.Mutex // guards below
	bytes int64
}

// more asks for n bytes more.
func (h *holding) more(n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.memory.Resize(h.bytes + n) {
		return false
	}
	h.bytes += n
	return true
}

// less gives n bytes back.
func (h *holding) less(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes -= n
	h.memory.Resize(h.bytes)
}

func (e *Execution) running(in checkpoint.Intent) *running {
	r := &running{in: in, info: e.info(in), start: e.o.Now(), ready: make(chan struct{}), held: make([][]heldBatch, max(e.o.Lanes, 1)), holding: &e.holding}
	r.prog = Progress{Epoch: in.Epoch, Timestamp: time.UnixMicro(in.Now), From: in.From, To: in.To, NoData: in.NoData,
		SourceRows: map[string]int64{}, Watermark: in.Evict}
	e.now = r
	return r
}

// write hands a lent batch to the sink, or holds it until the sink is open.
func (r *running) write(lane int, b *column.Batch) error {
	select {
	case <-r.ready:
	default:
		if n := b.Memory(); len(r.held[lane]) < heldBatches && r.holding.more(n) {
			r.held[lane] = append(r.held[lane], heldBatch{b.Retain(), n})
			return nil
		}
		<-r.ready
	}
	if r.err != nil {
		return r.err
	}
	if err := r.flush(lane); err != nil {
		return err
	}
	return r.ep.Write(lane, b)
}

// flush writes what a lane held back.
func (r *running) flush(lane int) error {
	var err error
	for _, h := range r.held[lane] {
		if err == nil && r.err == nil {
			err = r.ep.Write(lane, h.b)
		}
		r.holding.less(h.bytes)
		h.b.Release()
	}
	r.held[lane] = nil
	return err
}

// opened waits until the sink's epoch is open and writes what was held back.
func (r *running) opened() error {
	<-r.ready
	if err := r.opening.Wait(); err != nil {
		r.err = err
	}
	var errs []error
	for lane := range r.held {
		errs = append(errs, r.flush(lane))
	}
	if r.err != nil {
		return r.err
	}
	return errors.Join(errs...)
}

// begin opens the sink's epoch, whose intent is durable.
func (e *Execution) begin(ctx context.Context, r *running) error {
	if err := e.at(IntentAfter); err != nil {
		return err
	}
	ep, err := e.o.Sink.Begin(ctx, r.info)
	if err != nil {
		return fmt.Errorf("begin epoch %d of %s: %w", r.in.Epoch, e.o.Dataset, err)
	}
	if err := e.at(BeginAfter); err != nil {
		return errors.Join(err, ep.Abort())
	}
	r.ep = ep
	return nil
}

// runEpoch runs an epoch, whose intent is durable, to its commit.
func (e *Execution) runEpoch(ctx context.Context, in checkpoint.Intent) error {
	r := e.running(in)
	r.err = e.begin(ctx, r)
	close(r.ready)
	if err := e.step(ctx, r); err != nil {
		return err
	}
	return e.finish(ctx, r)
}

// runNext runs a planned epoch: from its intent to its commit, or, if there is
// much to commit, to the end of its step.
func (e *Execution) runNext(ctx context.Context, in checkpoint.Intent, ledgers map[string][]checkpoint.Entry) error {
	before := e.closing
	if before == nil {
		if err := e.o.DB.WriteIntent(in, ledgers); err != nil {
			return err
		}
		e.marked = in.Epoch - 1
		if err := e.forget(ctx, in.From); err != nil {
			return err
		}
	}
	r := e.running(in)
	if before == nil {
		r.err = e.begin(ctx, r)
		close(r.ready)
	} else {
		r.opening.Go(func() error {
			defer close(r.ready)
			r.err = Guard(func() error {
				if err := before.Wait(); err != nil {
					return err
				}
				if err := e.o.DB.WriteIntent(in, ledgers); err != nil {
					return err
				}
				return e.begin(ctx, r)
			})
			return r.err
		})
	}
	e.closing = nil // step waits for who opens, who waits for it
	if err := e.step(ctx, r); err != nil {
		return err
	}
	if before != nil {
		e.marked = in.Epoch - 1
		if err := e.forget(ctx, in.From); err != nil {
			return errors.Join(err, r.ep.Abort())
		}
	}
	// What waits for its commit is memory beside that of the next step: where
	// the budget has none left, nothing goes on before the commit.
	if e.state.changed() < e.besideBytes() || !e.waiting.Resize(e.state.held()) {
		return e.finish(ctx, r)
	}
	c := &closing{failed: make(chan struct{})}
	c.Go(func() error {
		defer e.waiting.Release()
		err := Guard(func() error { return e.finish(ctx, r) })
		if err != nil {
			close(c.failed)
		}
		return err
	})
	e.closing = c
	return nil
}

// closing is the commit of an epoch beside the next one.
type closing struct {
	errgroup.Group
	failed chan struct{} // closed when it fails
}

// wait waits, after an epoch, for the time to plan the next, and no longer when
// the commit that is under way fails: a trigger may be hours away.
func (e *Execution) wait(stop context.Context) bool {
	c := e.closing
	if c == nil {
		return e.o.Wait(stop, false, 0)
	}
	within, cancel := context.WithCancel(stop)
	defer cancel()
	go func() {
		select {
		case <-c.failed:
			cancel()
		case <-within.Done():
		}
	}()
	return e.o.Wait(within, false, 0)
}

func (e *Execution) besideBytes() int {
	if e.o.Beside > 0 {
		return e.o.Beside
	}
	return besideBytes
}

// settle waits for the commit that is under way.
func (e *Execution) settle() error {
	if e.closing == nil {
		return nil
	}
	err := e.closing.Wait()
	e.closing = nil
	return err
}

// step runs the epoch's rows through the plan and notes what its commit needs:
// after it the next step may begin.
func (e *Execution) step(ctx context.Context, r *running) error {
	select {
	case <-r.ready:
		if r.err != nil {
			return r.err
		}
	default:
	}
	err := Guard(func() error { return e.fill(ctx, r) })
	oerr := Guard(r.opened) // whatever came before: who opens the sink's epoch has to end
	if r.err != nil {
		return r.err
	}
	if err == nil {
		err = oerr
	}
	if err == nil {
		err = Guard(e.collect)
	}
	if err != nil {
		return errors.Join(err, r.ep.Abort())
	}
	r.prog.Run = e.o.Now().Sub(r.start)
	r.prep = checkpoint.Prepared{
		Epoch: r.in.Epoch, EventTimes: maps.Clone(e.marks.times), Heard: maps.Clone(e.marks.heard), Rows: r.prog.OutputRows,
		Operators: e.meanings(), Layouts: layouts(e.plan), Below: alike(e.o.Plan),
	}
	if len(e.plan.State()) > 0 {
		r.prep.Mode = modeNames[e.o.Mode]
	}
	e.advance(r.in)
	return nil
}

// finish makes an epoch durable and commits it.
func (e *Execution) finish(ctx context.Context, r *running) error {
	if err := Guard(func() error { return e.prepare(ctx, r) }); err != nil {
		return errors.Join(err, r.ep.Abort())
	}
	if err := e.state.prepared(r.prep.State); err != nil {
		return err
	}
	if err := e.at(PreparedAfter); err != nil {
		return err
	}
	commit := e.o.Now()
	if err := e.o.Sink.Commit(ctx, r.info, r.prep.Token); err != nil {
		return fmt.Errorf("commit epoch %d of %s: %w", r.in.Epoch, e.o.Dataset, err)
	}
	r.prog.Commit = e.o.Now().Sub(commit)
	if err := e.at(CommitAfter); err != nil {
		return err
	}
	if n := r.prog.Counters.Ahead; n > 0 {
		e.note(fmt.Sprintf("epoch %d: %d rows are further ahead of the clock than max_future allows; they are kept and do not move the watermark", r.in.Epoch, n))
	}
	e.report(r.prog)
	return nil
}

// prepare makes the epoch's rows and state durable, and then the record that
// names them.
func (e *Execution) prepare(ctx context.Context, r *running) (err error) {
	if r.prep.Token, err = r.ep.Prepare(ctx); err != nil {
		return fmt.Errorf("stage epoch %d of %s: %w", r.in.Epoch, e.o.Dataset, err)
	}
	if err := e.at(StageAfter); err != nil {
		return err
	}
	if r.prep.State, err = e.stage(r.in.Epoch); err != nil {
		return err
	}
	if err := e.at(StateAfter); err != nil {
		return err
	}
	if s, ok := e.o.Sink.(connector.Stateful); ok {
		r.prep.Sink = s.StateID()
	}
	return e.o.DB.WritePrepared(r.prep, e.sinkChanges())
}
