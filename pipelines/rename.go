package pipelines

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pipelines/pipelines/graph"
	"pipelines/spec/diag"
)

// retired marks flows in a record's Extra that were taken out of the project
// in a run that added none: what is added later is meant to be new.
const retired = "retired/"

// renamedFlows refuses a flow that is new in a table while another that has
// written there is gone: most likely it was renamed, and all its rows would be
// added again.
func (u *update) renamedFlows(t *target) diag.List {
	if u.fresh[t.d] || t.d.kind != graph.StreamingTable && t.d.kind != graph.Sink || !t.known {
		return nil
	}
	fresh, gone := flowChanges(t)
	gone = slices.DeleteFunc(gone, func(name string) bool {
		wrote := t.record.Extra[made+name] != ""
		if t.table != nil {
			_, wrote = t.table.Known().Txn(t.record.Flows[name])
		}
		return !wrote || t.record.Extra[retired+name] != ""
	})
	if len(fresh) == 0 || len(gone) == 0 {
		return nil
	}
	x := diag.AtSpan(t.d.file, t.d.place, "FLOW_RENAMED", fmt.Sprintf("flow %s of %s is new and would start without a checkpoint, while flow %s, which has written there, is gone: a renamed flow adds all its rows again",
		strings.Join(fresh, ", "), t.d.shown(), strings.Join(gone, ", ")))
	return diag.List{x.WithHint(fmt.Sprintf("say moved_from: %s in the new flow to keep its checkpoint; if it is another flow, take the old one out in one run and add the new one in the next; or run with --full-refresh %s", gone[0], t.d.typed()))}
}

// flowChanges names the flows that the record does not know, and those that
// only the record knows.
func flowChanges(t *target) (fresh, gone []string) {
	now := map[string]bool{}
	for _, f := range t.d.flows {
		now[f.name] = true
		if t.record.Flows[f.name] == "" {
			fresh = append(fresh, f.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.record.Flows)) {
		if !now[name] {
			gone = append(gone, name)
		}
	}
	return fresh, gone
}

// noteRetired keeps the marks of flows that are out of the project, and
// reports whether one changed.
func noteRetired(t *target) (changed bool) {
	_, gone := flowChanges(t)
	if len(gone) > 0 && t.record.Extra == nil {
		t.record.Extra = map[string]string{}
	}
	for _, name := range gone {
		if t.record.Extra[retired+name] == "" {
			t.record.Extra[retired+name], changed = "true", true
		}
	}
	for _, f := range t.d.flows {
		if t.record.Extra[retired+f.name] != "" {
			delete(t.record.Extra, retired+f.name)
			changed = true
		}
	}
	return changed
}
