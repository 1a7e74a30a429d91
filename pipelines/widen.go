package pipelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pipelines/pipelines/event"
	"pipelines/runtime/connector"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/tables/schema"
)

// on_new_columns: add. A flow that meets columns which the schema of its
// source has not gives its epoch up before anything is committed, and the
// update ends its pass: flows stop after their epoch. The project is then read
// again over the wider schemas, which are pinned and merged into the tables as
// a changed definition would be, and the update goes on with the next pass.

// newColumnFormats have names for what is not in the schema.
var newColumnFormats = []string{"json", "csv", "parquet"}

// checkNewColumns refuses on_new_columns where it can mean nothing.
func checkNewColumns(s *spec.Source) diag.List {
	v := s.OnNewColumns
	if !v.IsSet() || v.Value == "ignore" || s.Faulty {
		return nil
	}
	if !slices.Contains(newColumnFormats, s.Format.Value) {
		x := diag.AtSpan(s.File, v.Span, "CONFLICTING_KEYS", fmt.Sprintf("the format %s has no columns beyond its schema", s.Format.Value))
		return diag.List{x.WithHint("remove on_new_columns")}
	}
	if v.Value == "rescue" && s.Format.Value == "parquet" {
		x := diag.AtSpan(s.File, v.Span, "CONFLICTING_KEYS", "columns of Parquet files cannot be rescued")
		return diag.List{x.WithHint("use add, fail or ignore")}
	}
	if v.Value == "add" && s.Schema != nil {
		x := diag.AtSpan(s.File, v.Span, "CONFLICTING_KEYS", "on_new_columns: add changes the schema, which is declared here")
		return diag.List{x.WithHint("remove `schema`: it is inferred and pinned in " + spec.LockFile + ", where it may be edited")}
	}
	return nil
}

// metNewColumns takes what a flow has met beyond the schema of a source that
// adds it, and ends the pass.
func (u *update) metNewColumns(t *task, err error) bool {
	e, ok := errors.AsType[*connector.NewColumnsError](err)
	if !ok || !e.Add || e.Problem != "" {
		return false
	}
	u.widerMu.Lock()
	defer u.widerMu.Unlock()
	if u.wider == nil {
		u.wider = map[string]schema.Schema{}
	}
	old, again := u.wider[e.Source]
	if again {
		e.Wider = bothColumns(old, e.Wider)
	}
	u.wider[e.Source] = e.Wider
	t.result.State, t.result.Err = event.Stopped, nil
	t.result.Reason = newColumnsOf + e.Source + ": " + strings.Join(e.Names, ", ")
	u.endPass()
	return true
}

// bothColumns are the columns that two flows have found.
func bothColumns(a, b schema.Schema) schema.Schema {
	out := schema.Schema{Fields: slices.Clone(a.Fields)}
	for _, f := range b.Fields {
		if out.Index(f.Name) < 0 {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// nextPass makes the update over the wider schemas; where they do not fit, the
// flows that asked for them fail.
func (u *update) nextPass(ctx context.Context) {
	next, list, err := u.widened(ctx)
	if err == nil && list.HasErrors() {
		err = errors.New(strings.TrimSpace(list.Render()))
	}
	if err == nil {
		u.next = next
		return
	}
	for i := range u.result.Flows {
		f := &u.result.Flows[i]
		if f.State != event.Stopped || !strings.HasPrefix(f.Reason, newColumnsOf) {
			continue
		}
		f.State, f.Err, f.Reason = event.Failed, fmt.Errorf("%s cannot be added: %w", f.Reason, err), ""
		u.flowChanged(&task{result: *f}, 0)
	}
}

// newColumnsOf begins the reason of a flow that ended a pass.
const newColumnsOf = "new columns of "

func (u *update) widened(ctx context.Context) (*update, diag.List, error) {
	o := u.p.options
	o.wider = map[string]string{}
	for name, s := range u.wider {
		o.wider[name] = s.DDL()
	}
	p, list, err := Load(ctx, o)
	if err != nil || p == nil || list.HasErrors() {
		return nil, list, err
	}
	next := newUpdate(p, u.o)
	next.id, next.started, next.st, next.pass = u.id, u.started, u.st, u.pass+1
	next.o.FullRefresh, next.o.FullRefreshAll, next.o.Refresh = nil, false, nil
	for d := range u.selected {
		if u.selected[d] {
			next.o.Refresh = append(next.o.Refresh, strings.Join(d.name, "."))
		}
	}
	slices.Sort(next.o.Refresh)
	list = next.selection()
	if !list.HasErrors() {
		list, err = next.materialise(ctx)
	}
	return next, list, err
}

// add puts an earlier pass of the update in front of the result.
func (r *Result) add(earlier *Result) {
	r.Rows += earlier.Rows
	for i := range r.Flows {
		f := &r.Flows[i]
		for _, e := range earlier.Flows {
			if e.Dataset != f.Dataset || e.Flow != f.Flow {
				continue
			}
			f.InputRows += e.InputRows
			f.OutputRows += e.OutputRows
			f.Epochs += e.Epochs
			f.CorruptRows += e.CorruptRows
			f.LateRows += e.LateRows
			f.DroppedRows += e.DroppedRows
			f.Expectations = addExpectations(f.Expectations, e.Expectations)
		}
	}
}

func addExpectations(now, earlier []event.Expectation) []event.Expectation {
	for _, e := range earlier {
		i := slices.IndexFunc(now, func(x event.Expectation) bool { return x.Name == e.Name && x.Dataset == e.Dataset })
		if i < 0 {
			now = append(now, e)
			continue
		}
		now[i].Passed += e.Passed
		now[i].Failed += e.Failed
	}
	return now
}
