package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
)

// Dedup keeps the first row of each key; no keys means all columns. KeysAt are
// the places of the keys, in File.
type Dedup struct {
	Keys   []string
	KeysAt []diag.Span
	File   *diag.File
	// Within lets a key expire with the watermark, counted from its first row.
	Within bool
}

// dedup resolves the keys among the node's columns; at is where the node
// stands when the keys have no places.
func (b *Binder) dedup(n logical.Node, d *Dedup, at diag.Span) (logical.Node, bool) {
	out := &logical.Deduplicate{Input: n, WithinWatermark: d.Within}
	ok := true
	for i, k := range d.Keys {
		found := false
		var names []string
		for _, a := range n.Output() {
			names = append(names, a.Name)
			if strings.EqualFold(a.Name, k) && !found {
				out.Keys = append(out.Keys, a.ID)
				found = true
			}
		}
		if !found {
			if i < len(d.KeysAt) {
				at = d.KeysAt[i]
			}
			x := diag.AtSpan(d.File, at, "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES", "the query has no column "+k+" to deduplicate by")
			b.report(x.WithHint(diag.DidYouMean(k, names)))
			ok = false
		}
	}
	return out, ok
}
