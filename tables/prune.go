package tables

import (
	"pipelines/tables/commitlog"
	"pipelines/tables/format"
)

// MayMatch reports whether a file of the table may have a row for which all
// terms hold, by its partition values and its statistics. Where they do not
// tell, it may.
func (s *Snapshot) MayMatch(f *File, terms []format.Term) bool {
	if len(terms) == 0 {
		return true
	}
	var stats *commitlog.FileStats
	for i := range terms {
		term := &terms[i]
		path, t, ok := commitlog.Resolve(s.Schema(), term.Path)
		if !ok {
			continue
		}
		if len(path) == 1 && s.isPartition(path[0]) {
			if !s.partitionMatches(f, path[0], term) {
				return false
			}
			continue
		}
		if stats == nil {
			d := commitlog.DecodeStats(f.Stats)
			stats = &d
		}
		if !stats.MayMatch(path, t, term) {
			return false
		}
	}
	return true
}

// partitionMatches decides a term on a partition column, whose value is that
// of all rows of the file.
func (s *Snapshot) partitionMatches(f *File, name string, term *format.Term) bool {
	field := s.Schema().Fields[s.Schema().Index(name)]
	v, err := PartitionValue(f, field, 1)
	if err != nil {
		return true // the reader will say what is wrong
	}
	switch isNull := v.IsNull(0); {
	case term.Op == format.IsNull:
		return isNull
	case term.Op == format.IsNotNull:
		return !isNull
	case isNull:
		return false
	case term.Value == nil || term.Value.Len == 0 || term.Value.IsNull(0) || !term.Value.Type.SameShape(field.Type) || field.Type.IsFloat():
		return true
	}
	return commitlog.Between(v, v, term)
}
