package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// ValueColumn holds one replaceable value a group. Values stand in segments that
// are filled one after another and never grow by copying all there is; what
// was replaced is cleaned up a few segments at a time.
type ValueColumn struct {
	typ    schema.Type
	at     []int32 // group -> segment and row of it, -1 for null
	segs   []valueSegment
	filled int   // the segment that new values go to
	spare  []int // segments that are empty
	live   int   // groups that have a value
	rows   int   // rows of all segments
	bytes  int64 // of all segments but the one that is filled
	seen   int   // keeps Touch from being left out
}

// valueSegment holds up to segmentRows values and about segmentBytes of text.
type valueSegment struct {
	values *column.Vector // append-only; nil in a spare segment
	live   int            // rows that are a group's value
	bytes  int64          // when it was full
}

const (
	segmentBits  = 14
	segmentRows  = 1 << segmentBits
	segmentBytes = 1 << 20
	// cleanSegments are cleaned up at once.
	cleanSegments = 32
)

func newValueColumn(t schema.Type) *ValueColumn { return &ValueColumn{typ: t, filled: -1} }

// place says where a value stands.
func place(at int32) (segment, row int) { return int(at) >> segmentBits, int(at) & (segmentRows - 1) }

// Value returns where the value of a group is, row -1 for null.
func (v *ValueColumn) Value(group int32) (*column.Vector, int) {
	at := v.at[group]
	if at < 0 {
		return nil, -1
	}
	s, r := place(at)
	return v.segs[s].values, r
}

// IsNull reports whether the group has no value.
func (v *ValueColumn) IsNull(group int32) bool { return v.at[group] < 0 }

// SetNull takes the group's value away.
func (v *ValueColumn) SetNull(group int32) {
	if at := v.at[group]; at >= 0 {
		v.live--
		v.at[group] = -1
		v.drop(at)
	}
}

// drop notes that the value at a place is nobody's.
func (v *ValueColumn) drop(at int32) {
	i, _ := place(at)
	s := &v.segs[i]
	if s.live--; s.live == 0 && i != v.filled {
		v.free(i)
	}
}

func (v *ValueColumn) free(i int) {
	s := &v.segs[i]
	v.rows -= s.values.Len
	v.bytes -= s.bytes
	*s = valueSegment{}
	v.spare = append(v.spare, i)
}

// Set replaces the group's value by row of src; a null row takes it away.
func (v *ValueColumn) Set(group int32, src *column.Vector, row int) {
	if src.IsNull(row) {
		v.SetNull(group)
		return
	}
	if at := v.at[group]; at < 0 {
		v.live++
	} else {
		if v.overwrite(at, src, row) {
			return
		}
		v.at[group] = -1
		v.drop(at)
	}
	if v.rows > 2*v.live+1024 {
		v.clean()
	}
	v.at[group] = v.add(src, row)
}

// add appends a value and returns its place.
func (v *ValueColumn) add(src *column.Vector, row int) int32 {
	if v.filled < 0 || full(v.segs[v.filled].values) {
		v.begin()
	}
	s := &v.segs[v.filled]
	column.AppendRow(s.values, src, row)
	s.live++
	v.rows++
	return int32(v.filled<<segmentBits | (s.values.Len - 1))
}

func full(s *column.Vector) bool {
	return s.Len == segmentRows || len(s.Bytes) >= segmentBytes || len(s.Children) > 0 && s.Len > 0 && largeChild(s)
}

// largeChild says whether the values inside of lists and structs are many.
func largeChild(s *column.Vector) bool {
	for _, c := range s.Children {
		if c.Len >= segmentBytes/8 || len(c.Bytes) >= segmentBytes || largeChild(c) {
			return true
		}
	}
	return false
}

// begin makes an empty segment the one that is filled. The first grows as
// needed, those after it are as large as the one before from the start.
func (v *ValueColumn) begin() {
	fresh := column.New(v.typ)
	if v.filled >= 0 {
		old := &v.segs[v.filled]
		old.bytes = vectorBytes(old.values)
		v.bytes += old.bytes
		roomLike(fresh, old.values)
		if old.live == 0 {
			v.free(v.filled)
		}
	}
	if n := len(v.spare); n > 0 {
		v.filled, v.spare = v.spare[n-1], v.spare[:n-1]
	} else {
		if len(v.segs) == 1<<(31-segmentBits) {
			panic("bug: funcs: a state column holds more values than can be numbered")
		}
		v.filled = len(v.segs)
		v.segs = append(v.segs, valueSegment{})
	}
	v.segs[v.filled] = valueSegment{values: fresh}
}

// roomLike gives an empty flat vector the room that another of the type has needed.
func roomLike(v, like *column.Vector) {
	v.Bool, v.I8, v.I16 = make([]bool, 0, len(like.Bool)), make([]int8, 0, len(like.I8)), make([]int16, 0, len(like.I16))
	v.I32, v.I64, v.I128 = make([]int32, 0, len(like.I32)), make([]int64, 0, len(like.I64)), make([]column.Int128, 0, len(like.I128))
	v.F32, v.F64 = make([]float32, 0, len(like.F32)), make([]float64, 0, len(like.F64))
	if len(like.Offsets) > 0 && len(like.Children) == 0 {
		v.Offsets = append(make([]int32, 0, len(like.Offsets)), 0)
		v.Bytes = make([]byte, 0, len(like.Bytes))
	}
}

// overwrite replaces fixed-width values in place, and texts of one length.
func (v *ValueColumn) overwrite(place32 int32, src *column.Vector, row int) bool {
	if src.Dict != nil {
		src, row = src.Dict, int(src.Index[row])
	}
	i, r := place(place32)
	values := v.segs[i].values
	switch column.PhysicalOf(v.typ) {
	case column.PhysNone, column.PhysList, column.PhysStruct:
		return false
	case column.PhysBytes:
		at := values.Offsets[r:]
		text := src.Str(row)
		if int(at[1]-at[0]) != len(text) {
			return false
		}
		copy(values.Bytes[at[0]:at[1]], text)
		return true
	}
	loadFixed(values, r, src, row)
	return true
}

// clean moves the values out of some segments, those with the least left in
// them, so that they can be filled again.
func (v *ValueColumn) clean() {
	victims := make([]bool, len(v.segs))
	any := false
	for n := 0; n < cleanSegments; n++ {
		best := -1
		for i := range v.segs {
			s := &v.segs[i]
			if s.values == nil || victims[i] || s.live*2 > s.values.Len {
				continue
			}
			if best < 0 || s.live*v.segs[best].values.Len < v.segs[best].live*s.values.Len {
				best = i
			}
		}
		if best < 0 {
			break
		}
		victims[best], any = true, true
	}
	if !any {
		return
	}
	if v.filled >= 0 && victims[v.filled] {
		v.begin()
	}
	for g, at := range v.at {
		if at < 0 {
			continue
		}
		i, r := place(at)
		if i < len(victims) && victims[i] && v.segs[i].values != nil && i != v.filled {
			v.at[g] = v.add(v.segs[i].values, r)
			v.drop(at)
		}
	}
}

// Touch brings the values of some groups, which lie anywhere, into the cache all
// at once.
func (v *ValueColumn) Touch(groups []int32) {
	if len(v.segs) <= 1 {
		return
	}
	text := column.PhysicalOf(v.typ) == column.PhysBytes
	var places [touchAhead]int32
	for len(groups) > 0 {
		n := min(len(groups), touchAhead)
		x := 0
		for k, g := range groups[:n] {
			places[k] = v.at[g]
		}
		if text {
			var texts [touchAhead]*byte
			for k, at := range places[:n] {
				if at >= 0 {
					s, r := place(at)
					vec := v.segs[s].values
					if from := vec.Offsets[r]; int(from) < len(vec.Bytes) {
						texts[k] = &vec.Bytes[from]
					}
				}
			}
			for _, b := range texts[:n] {
				if b != nil {
					x += int(*b)
				}
			}
		}
		v.seen += x
		groups = groups[n:]
	}
}

// touchAhead is how many places are brought into the cache at once.
const touchAhead = 64

// held is about how much memory the values take.
func (v *ValueColumn) held() int64 {
	n := v.bytes + 4*int64(len(v.at))
	if v.filled >= 0 {
		n += vectorBytes(v.segs[v.filled].values)
	}
	return n
}
