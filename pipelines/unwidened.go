package pipelines

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"pipelines/pipelines/graph"
	"pipelines/runtime/checkpoint"
	exec "pipelines/runtime/flow"
)

// A flow whose state holds whole rows cannot take a column that its source has
// got (on_new_columns: add): rows in the state lack it. Nobody has changed the
// project, so that flow fails alone, and the others go on.

// newColumnsUnfit says why a flow cannot go on over the columns that a source
// has got by itself; nil if that is not what a change of its state is about.
func (u *update) newColumnsUnfit(d *dataset, f *flow, c *exec.Change, snap checkpoint.Snapshot) error {
	if c.What != exec.Operators && c.What != exec.State || snap.Prepared == nil {
		return nil
	}
	was, is := map[string]bool{}, words(c.Detail)
	ids := ""
	for id, meaning := range snap.Prepared.Operators {
		for w := range words(id + " " + meaning) {
			was[w] = true
		}
		if strings.Contains(c.Detail, id) && (ids == "" || id < ids) {
			ids = id
		}
	}
	var names []string
	source := ""
	for _, r := range f.plan.Reads {
		h, _ := r.Handle.(handle)
		from := ""
		switch {
		case h.source != nil && h.source.spec != nil && h.source.spec.OnNewColumns.Value == "add":
			from = h.source.spec.Name.String()
		case h.dataset != nil:
			from = u.growingSource(h.dataset.node, map[*graph.Node]bool{})
		}
		for _, x := range r.Schema.Fields {
			if low := strings.ToLower(x.Name); from != "" && is[low] && !was[low] && !slices.Contains(names, x.Name) {
				names, source = append(names, x.Name), from
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("the source %s has got the new %s %s (on_new_columns: add), and the state of %s holds rows without; run with --full-refresh %s, or name the columns in the query of %s without the new",
		source, plural(len(names), "column"), strings.Join(names, ", "), ids, d.typed(), d.shown())
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// growingSource names a source with on_new_columns: add that a dataset reads,
// itself or through others.
func (u *update) growingSource(n *graph.Node, seen map[*graph.Node]bool) string {
	seen[n] = true
	for _, r := range n.Reads() {
		if s := u.p.sources[strings.TrimPrefix(r.From.ID, "source:")]; s != nil && r.From.Kind == graph.Source && s.OnNewColumns.Value == "add" {
			return s.Name.String()
		}
		if !seen[r.From] {
			if name := u.growingSource(r.From, seen); name != "" {
				return name
			}
		}
	}
	return ""
}

// words are the names in a text.
func words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out[strings.ToLower(w)] = true
	}
	return out
}
