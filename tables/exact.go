package tables

import (
	"path"

	"pipelines/tables/column"
	"pipelines/tables/commitlog"
)

// Exact is what is known exactly of a column in a file, without reading it.
type Exact struct {
	Nulls int64 // -1: unknown
	// Min and Max are one row each, nil when unknown or when all values are null.
	Min, Max *column.Vector
	// Constant is the value of all rows (one row, maybe null), nil for a column
	// that may have several.
	Constant *column.Vector
}

// Exact returns the columns of a file of the table as its statistics and its
// partition know them.
func (s *Snapshot) Exact(f *File) func(name string) Exact {
	stats := commitlog.DecodeStats(f.Stats)
	_, ours := parseFileName(path.Base(f.Key)) // others cut strings as they like
	return func(name string) Exact {
		i := s.Schema().Index(name)
		if i < 0 {
			return Exact{Nulls: -1}
		}
		field := s.Schema().Fields[i]
		if s.isPartition(field.Name) {
			if v, err := PartitionValue(f, field, 1); err == nil {
				return Exact{Nulls: -1, Constant: v}
			}
			return Exact{Nulls: -1}
		}
		nulls, low, high := stats.Exact([]string{field.Name}, field.Type, ours)
		return Exact{Nulls: nulls, Min: low, Max: high}
	}
}
