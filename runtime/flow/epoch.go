package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
)

func (e *Execution) streamIDs() []string { return slices.Sorted(maps.Keys(e.o.Streams)) }

// planEpoch decides the next epoch's range, or returns nil when there is
// nothing to do.
func (e *Execution) planEpoch(ctx context.Context) (*checkpoint.Intent, map[string][]checkpoint.Entry, error) {
	in := &checkpoint.Intent{
		Epoch: e.epoch, Now: e.o.Now().UnixMicro(),
		From: map[string]stream.Offset{}, To: map[string]stream.Offset{},
	}
	in.Late, in.Evict = e.marks.next(in.Now, nil)
	if len(e.o.Streams) == 0 { // a once flow: one epoch for good
		if e.epoch > 0 {
			return nil, nil, nil
		}
		return in, nil, nil
	}
	ledgers := map[string][]checkpoint.Entry{}
	fresh := map[string]bool{}
	opts := connector.PlanOptions{Unlimited: e.o.Trigger == Once, Pinned: e.o.Trigger != Continuous}
	for _, id := range e.streamIDs() {
		p, err := e.o.Streams[id].Plan(ctx, e.offsets[id], opts)
		if err != nil {
			return nil, nil, fmt.Errorf("plan epoch %d of source %s: %w", e.epoch, id, err)
		}
		for _, n := range p.Notes {
			e.note(n)
		}
		in.From[id], in.To[id] = e.offsets[id], p.To
		for _, en := range p.Entries {
			ledgers[id] = append(ledgers[id], checkpoint.Entry(en))
		}
		if p.Splits > 0 {
			fresh[id] = true
		}
	}
	in.Late, in.Evict = e.marks.next(in.Now, fresh)
	if len(fresh) == 0 {
		if !e.marks.pending(in.Now) {
			// A full refresh without any input still has to empty the table.
			if e.epoch == 0 && e.o.Overwrite {
				return in, ledgers, nil
			}
			return nil, nil, nil
		}
		in.NoData = true
	}
	return in, ledgers, nil
}

// runEpoch runs a planned epoch to its commit.
func (e *Execution) runEpoch(ctx context.Context, in checkpoint.Intent) error {
	start := e.o.Now()
	if err := e.at(IntentAfter); err != nil {
		return err
	}
	info := e.info(in)
	ep, err := e.o.Sink.Begin(ctx, info)
	if err != nil {
		return fmt.Errorf("begin epoch %d of %s: %w", in.Epoch, e.o.Dataset, err)
	}
	e.epochIO = ep
	if err := e.at(BeginAfter); err != nil {
		return errors.Join(err, ep.Abort())
	}
	prog := Progress{Epoch: in.Epoch, Timestamp: time.UnixMicro(in.Now), From: in.From, To: in.To, NoData: in.NoData,
		SourceRows: map[string]int64{}, Watermark: in.Evict}
	token, err := e.fill(ctx, in, &prog)
	if err != nil {
		return errors.Join(err, ep.Abort())
	}
	prog.Run = e.o.Now().Sub(start)
	chain, err := e.stage(in.Epoch)
	if err != nil {
		return errors.Join(err, ep.Abort())
	}
	if err := e.at(StateAfter); err != nil {
		return errors.Join(err, ep.Abort())
	}
	prep := checkpoint.Prepared{
		Epoch: in.Epoch, Token: token, EventTimes: e.marks.times, Heard: e.marks.heard, Rows: prog.OutputRows, Operators: e.meanings(), State: chain,
	}
	prep.Layouts = layouts(e.plan)
	if len(e.plan.State()) > 0 {
		prep.Mode = modeNames[e.o.Mode]
	}
	if s, ok := e.o.Sink.(connector.Stateful); ok {
		prep.Sink = s.StateID()
	}
	if err := e.o.DB.WritePrepared(prep, e.sinkChanges()); err != nil {
		return errors.Join(err, ep.Abort())
	}
	if err := e.state.prepared(chain); err != nil {
		return err
	}
	if err := e.at(PreparedAfter); err != nil {
		return err
	}
	commit := e.o.Now()
	if err := e.o.Sink.Commit(ctx, info, token); err != nil {
		return fmt.Errorf("commit epoch %d of %s: %w", in.Epoch, e.o.Dataset, err)
	}
	prog.Commit = e.o.Now().Sub(commit)
	if err := e.at(CommitAfter); err != nil {
		return err
	}
	e.advance(in)
	if n := prog.Counters.Ahead; n > 0 {
		e.note(fmt.Sprintf("epoch %d: %d rows are further ahead of the clock than max_future allows; they are kept and do not move the watermark", in.Epoch, n))
	}
	e.report(prog)
	return nil
}

// fill reads the epoch's rows through the plan into the sink's epoch.
func (e *Execution) fill(ctx context.Context, in checkpoint.Intent, prog *Progress) ([]byte, error) {
	step := stream.Step{Epoch: in.Epoch, Now: in.Now, Late: in.Late, Evict: in.Evict, NoData: in.NoData}
	e.output.Store(0)
	if err := e.listStatic(ctx); err != nil {
		return nil, err
	}
	step.Wide = e.wide()
	if err := e.plan.Begin(step); err != nil { // inline tables emit here
		return nil, fmt.Errorf("begin step: %w", err)
	}
	if err := e.readAll(ctx, in, prog); err != nil {
		return nil, err
	}
	if err := e.at(ReadAfter); err != nil {
		return nil, err
	}
	if err := e.plan.EndStep(); err != nil {
		return nil, fmt.Errorf("end step: %w", err)
	}
	if err := e.at(StepAfter); err != nil {
		return nil, err
	}
	e.marks.observe(e.plan.EventTimes(), in.Now)
	prog.Counters = e.plan.Counters()
	prog.OutputRows = e.output.Load()
	token, err := e.epochIO.Prepare(ctx)
	if err != nil {
		return nil, fmt.Errorf("stage epoch %d of %s: %w", in.Epoch, e.o.Dataset, err)
	}
	return token, e.at(StageAfter)
}

// advance notes that the epoch is committed.
func (e *Execution) advance(in checkpoint.Intent) {
	e.epoch = in.Epoch + 1
	maps.Copy(e.offsets, in.To)
	e.marks.committed(in.Late, in.Evict)
}

func (e *Execution) report(p Progress) {
	e.sum.Epochs++
	e.sum.InputRows += p.InputRows
	e.sum.OutputRows += p.OutputRows
	e.sum.Corrupt += p.Corrupt
	e.sum.Dropped += p.Dropped
	e.sum.Counters = p.Counters
	e.sum.LastEpoch = p.Epoch
	if e.o.OnEpoch != nil {
		e.o.OnEpoch(p)
	}
}

func (e *Execution) info(in checkpoint.Intent) connector.EpochInfo {
	info := connector.EpochInfo{
		AppID: e.o.DB.Identity().AppID, Epoch: in.Epoch, Now: in.Now, Mode: e.o.Mode,
		Overwrite: e.o.Overwrite && in.Epoch == 0,
		Info:      map[string]string{"flow": e.o.Flow, "epoch": fmt.Sprint(in.Epoch)},
	}
	for id, to := range in.To {
		info.Info["offset."+id] = string(to)
	}
	if in.Evict != stream.NoWatermark {
		text, err := json.Marshal(in.Evict)
		if err == nil {
			info.Info["watermark"] = string(text)
		}
	}
	return info
}
