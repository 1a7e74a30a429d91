package pipelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"pipelines/pipelines/builtin"
	"pipelines/pipelines/event"
	"pipelines/runtime/connector"
	exec "pipelines/runtime/flow"
	"pipelines/spec"
	"pipelines/sqlplan/logical"
	"pipelines/stores"
	"pipelines/tables"
	"pipelines/tables/schema"
)

// inputsKey is where a view's record keeps what its rows were made from.
const inputsKey = "inputs"

// runView makes a materialized view's rows anew in one commit, unless nothing
// that they depend on has changed.
func (u *update) runView(ctx context.Context, t *task, mu *sync.Mutex) error {
	tg := u.tables[t.d]
	rel, err := u.open(ctx, t, true)
	if err != nil {
		return err
	}
	inputs, err := fingerprint(ctx, t, rel)
	if err != nil {
		return err
	}
	snap, err := tg.table.Snapshot(ctx)
	if err != nil {
		return err
	}
	// In Spark's project form a view that a stream follows is made anew each
	// time (DESIGN §11).
	followed := u.p.spec.Form == spec.Spark && len(u.streamReaders(t.d)) > 0
	if !u.fresh[t.d] && !followed && !volatile(t.f.plan.Node) && tg.record.Extra[inputsKey] == fmt.Sprintf("%s@%d", inputs, snap.Version()) && filesThere(ctx, tg.table, snap) {
		t.result.Reason = "nothing changed"
		return nil
	}
	app := tg.record.Flows[t.f.name]
	epoch := int64(0)
	if v, ok := snap.Txn(app); ok {
		epoch = v + 1
	}
	so := builtin.TableSinkOptions{
		Table: tg.table, Schema: t.f.plan.Schema, PartitionColumns: partitionNames(t.d, tg.schema), Location: t.f.session.Location, Pool: u.pool, At: u.o.At,
	}
	if tg.merged {
		so.NewSchema = &tg.schema
	}
	sink := builtin.TableSink(so)
	info := connector.EpochInfo{AppID: app, Epoch: epoch, Info: map[string]string{"flow": t.f.name, "inputs": inputs}}
	lanes := u.budget.Take(u.o.Lanes)
	defer u.budget.Give(lanes)
	o := exec.BoundedOptions{
		Plan: t.f.plan.Node, Refine: t.f.plan.Refine, Session: t.f.session, Tables: rel.tables, Lanes: lanes, Pool: u.pool, Budget: u.budget, TempDir: u.spillDir(), BatchRows: u.o.BatchRows, Now: u.started, Seed: u.started.UnixNano(), At: u.o.At,
	}
	res, err := exec.Replace(ctx, o, sink, info)
	if err != nil {
		return err
	}
	return u.viewDone(ctx, t, res, inputs, mu)
}

// filesThere reports whether the data files of a version are there in their
// size. What cannot be looked at is left to its readers.
func filesThere(ctx context.Context, t *tables.Table, snap *tables.Snapshot) bool {
	store, _ := t.Store()
	return !slices.ContainsFunc(snap.Files(), func(f tables.File) bool {
		info, err := store.Stat(ctx, t.Key(f.Key))
		return errors.Is(err, stores.ErrNotExist) || err == nil && info.Size != f.Size
	})
}

func (u *update) viewDone(ctx context.Context, t *task, res exec.BoundedResult, inputs string, mu *sync.Mutex) error {
	tg := u.tables[t.d]
	snap, err := tg.table.Snapshot(ctx)
	if err != nil {
		return err
	}
	tg.record.Extra[inputsKey] = fmt.Sprintf("%s@%d", inputs, snap.Version())
	if err := u.st.catalog.Put(ctx, tg.record); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	t.result.InputRows, t.result.OutputRows, t.result.Epochs = res.InputRows, res.OutputRows, 1
	t.result.CorruptRows, t.result.DroppedRows = res.Corrupt, res.Dropped
	t.result.Expectations = expectations(exec.Progress{Counters: res.Counters})
	u.listen.OnProgress(event.FlowProgress{
		Time: u.p.now(), Update: u.id, Dataset: t.d.shown(), Flow: t.f.name, Timestamp: u.started.UTC(), NumInputRows: res.InputRows,
		NumOutputRows: res.OutputRows, CorruptRows: res.Corrupt, DroppedRows: res.Dropped, Expectations: t.result.Expectations,
		DurationMs: map[string]int64{},
	})
	return nil
}

func partitionNames(d *dataset, s schema.Schema) []string {
	var out []string
	for _, p := range d.partitionedBy {
		out = append(out, s.Fields[s.Index(p.value)].Name)
	}
	return out
}

// fingerprint names everything that a view's rows depend on.
func fingerprint(ctx context.Context, t *task, rel relations) (string, error) {
	parts := []string{logical.Explain(t.f.plan.Node), t.f.plan.Schema.DDL(), t.f.session.Location.String(), fmt.Sprint(t.f.session.ANSI)}
	for _, r := range t.f.plan.Reads {
		_, fp, err := rel.tables[r.ID].Whole(ctx)
		if err != nil {
			return "", err
		}
		parts = append(parts, r.ID, fp)
	}
	return hash(parts...), nil
}

// volatile reports whether a plan gives other rows at another time.
func volatile(n logical.Node) bool {
	found := false
	logical.EachExpr(n, func(e logical.Expr) {
		logical.WalkExpr(e, func(x logical.Expr) bool {
			if c, ok := x.(*logical.Call); ok && c.Fn.Fn != nil && c.Fn.Fn.Volatility != 0 {
				found = true
			}
			return !found
		})
	})
	for _, c := range n.Inputs() {
		found = found || volatile(c)
	}
	return found || n.Kind() == logical.KindSample
}
