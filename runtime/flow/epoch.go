package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

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

// fill reads the epoch's rows through the plan into the sink's epoch.
func (e *Execution) fill(ctx context.Context, r *running) error {
	in, prog := r.in, &r.prog
	step := stream.Step{Epoch: in.Epoch, Now: in.Now, Late: in.Late, Evict: in.Evict, NoData: in.NoData}
	e.output.Store(0)
	if err := e.listStatic(ctx); err != nil {
		return err
	}
	step.Wide = e.wide()
	if err := e.plan.Begin(step); err != nil { // inline tables emit here
		return fmt.Errorf("begin step: %w", err)
	}
	if err := e.readAll(ctx, in, prog); err != nil {
		return err
	}
	if err := e.at(ReadAfter); err != nil {
		return err
	}
	if err := e.plan.EndStep(); err != nil {
		return fmt.Errorf("end step: %w", err)
	}
	if err := e.at(StepAfter); err != nil {
		return err
	}
	e.marks.observe(e.plan.EventTimes(), in.Now)
	prog.Counters = e.plan.Counters()
	prog.OutputRows = e.output.Load()
	return nil
}

// advance notes that the epoch's step has ended: the next is planned from there.
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
	if e.again {
		info.Info["again"] = "true"
	}
	if in.Evict != stream.NoWatermark {
		text, err := json.Marshal(in.Evict)
		if err == nil {
			info.Info["watermark"] = string(text)
		}
	}
	return info
}
