package parquet

import (
	"context"
	"errors"
	"slices"
	"strings"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Describe implements format.Describer from the footer.
func (f *Format) Describe(_ context.Context, in format.Input, spec format.ReadSpec) (format.Description, error) {
	file, err := openFile(in)
	if err != nil {
		return format.Description{}, errors.Join(err, in.Object.Close())
	}
	if err := file.setCalendars(spec); err != nil {
		return format.Description{}, errors.Join(err, in.Object.Close())
	}
	rows := int64(0)
	for i := range file.meta.RowGroups {
		rows += file.meta.RowGroups[i].NumRows
	}
	return format.Description{Rows: rows, Column: func(name string, t schema.Type) format.ColumnStats {
		n, err := (&resolver{f: file, caseSensitive: spec.CaseSensitive}).find(file.root, name)
		switch {
		case err != nil:
			return format.ColumnStats{NullCount: -1}
		case n == nil: // reads as NULL
			return format.ColumnStats{NullCount: rows}
		}
		return file.describe(n, t)
	}}, in.Object.Close()
}

// trustedCounts starts the names of writers that give a count of nulls
// wherever they give bounds; without one, a count that is not there reads as 0.
var trustedCounts = []string{"pipelines version", "parquet-mr version", "parquet-cpp", "parquet-rs version", "DuckDB"}

func (f *file) describe(n *fileNode, t schema.Type) format.ColumnStats {
	unknown := format.ColumnStats{NullCount: -1}
	if n.leaf == nil || n.rep > 0 || n.err != nil || f.untrusted(n) {
		return unknown
	}
	emit, err := emitterFor(n, t)
	if err != nil {
		return unknown
	}
	term := fileTerm{value: column.New(t), leaf: &leafReader{f: f, node: n, emit: emit}}
	trusted := n.def == 0 || slices.ContainsFunc(trustedCounts, func(w string) bool { return strings.HasPrefix(f.meta.CreatedBy, w) })
	out := format.ColumnStats{}
	bounded := true
	for i := range f.meta.RowGroups {
		g := &f.meta.RowGroups[i]
		m := &g.Columns[n.leaf.column].MetaData
		st := &m.Statistics
		if g.NumRows == 0 {
			continue
		}
		lo, hi := term.statistics(m, len(f.meta.ColumnOrders) > 0)
		if st.NullCount == 0 && (!trusted || n.def > 0 && lo == nil) {
			return unknown
		}
		if out.NullCount += st.NullCount; st.NullCount == m.NumValues {
			continue
		}
		low, high := term.bound(lo), term.bound(hi)
		if bounded = bounded && low != nil && high != nil; !bounded {
			continue
		}
		if out.Min == nil || compareRows(low, out.Min) < 0 {
			out.Min = low
		}
		if out.Max == nil || compareRows(high, out.Max) > 0 {
			out.Max = high
		}
	}
	// Bounds of strings may be cut, and those of floats leave out a NaN.
	if !bounded || column.PhysicalOf(t) == column.PhysBytes || t.IsFloat() {
		out.Min, out.Max = nil, nil
	}
	return out
}

// statistics returns the encoded bounds of a chunk, nil where there are none
// that count.
func (t *fileTerm) statistics(m *pqformat.ColumnMetaData, ordered bool) (lo, hi []byte) {
	st := &m.Statistics
	signed := m.Type == pqformat.Int32 || m.Type == pqformat.Int64
	switch {
	case st.MinValue == nil && st.MaxValue == nil && signed && !t.unsigned(): // the old fields, right for signed integers only
		return st.Min, st.Max
	case !ordered && !signed:
		return nil, nil
	}
	return st.MinValue, st.MaxValue
}
