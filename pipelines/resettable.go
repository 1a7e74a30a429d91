package pipelines

import (
	"fmt"
	"strings"

	"pipelines/pipelines/graph"
	"pipelines/spec"
	"pipelines/spec/diag"
)

// resetProperty forbids full refreshes when it is false.
const resetProperty = "pipelines.reset.allowed"

// resettable checks who may be refreshed fully: a streaming table that forbids
// it cannot follow one that allows it, since it could not be refreshed with
// it. Spark's own form has Spark's rule: whatever the table is made from.
func (a *analyzer) resettable() {
	for _, d := range a.project.datasets {
		for k, v := range d.properties {
			if strings.EqualFold(k, resetProperty) && !strings.EqualFold(v, "true") && !strings.EqualFold(v, "false") {
				a.fail(d.file, d.place, "INVALID_TABLE_PROPERTY", "the property %s of %s is '%s': it should be true or false", resetProperty, d.shown(), v)
			}
		}
		if d.kind != graph.StreamingTable || d.onReset != "" || resetAllowed(d) {
			continue
		}
		if up := a.followsResettable(d.node, map[*graph.Node]bool{}); up != nil {
			x := diag.AtSpan(d.file, d.place, "INVALID_RESETTABLE_DEPENDENCY",
				fmt.Sprintf("%s forbids full refreshes and streams %s, which allows them", d.shown(), up.shown()))
			a.list = append(a.list, x.WithHint("set "+resetProperty+" to false on "+up.shown()+" too, or on_upstream_reset on this table"))
		}
	}
}

// followsResettable finds a table that n streams, also through views, and that
// may be refreshed fully.
func (a *analyzer) followsResettable(n *graph.Node, seen map[*graph.Node]bool) *dataset {
	seen[n] = true
	all := a.project.spec.Form == spec.Spark
	for _, r := range n.Reads() {
		x := a.project.byID[r.From.ID]
		if x == nil || seen[r.From] || !r.Stream && !all {
			continue
		}
		if x.isTable() && resetAllowed(x) {
			return x
		}
		if x.isTable() && !all {
			continue
		}
		if up := a.followsResettable(r.From, seen); up != nil {
			return up
		}
	}
	return nil
}
