package bind

import (
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

// Of puts the deduplication on top of a bound query, whose columns the keys
// must name.
func (d *Dedup) Of(n logical.Node) (logical.Node, diag.List) {
	out := &logical.Deduplicate{Input: n, WithinWatermark: d.Within}
	var diags diag.List
	columns := n.Output()
	for i, k := range d.Keys {
		at := logical.SchemaOf(columns).Index(k)
		if at >= 0 {
			out.Keys = append(out.Keys, columns[at].ID)
			continue
		}
		var place diag.Span
		if i < len(d.KeysAt) {
			place = d.KeysAt[i]
		}
		diags = append(diags, diag.AtSpan(d.File, place, "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES", "the query has no column "+k+" to deduplicate by").
			WithHint(diag.DidYouMean(k, logical.SchemaOf(columns).Names())))
	}
	return out, diags
}
