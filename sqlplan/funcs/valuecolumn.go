package funcs

import (
	"encoding/binary"
	"slices"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// ValueColumn holds one replaceable value a group. Values stand in segments that
// are filled one after another and never grow by copying all there is; what
// was replaced is cleaned up a few segments at a time.
//
// Texts stand in segments of bytes, each behind its length in four bytes; other
// values in vectors.
type ValueColumn struct {
	typ    schema.Type
	text   bool
	places [][]int64 // by groups, groupsAt of them: segment<<32 and row or byte in it, -1 for null
	groups int
	segs   []valueSegment
	filled int   // the segment that new values go to
	spare  []int // segments that are empty
	live   int   // rows, or bytes of text, that are a group's value
	rows   int   // rows, or bytes, of all segments
	bytes  int64 // of full segments of vectors
	seen   int   // keeps Touch from being left out
	view   *column.Vector
}

// valueSegment holds up to segmentRows values in a vector or about segmentBytes
// of text.
type valueSegment struct {
	values *column.Vector
	text   []byte
	live   int   // rows, or bytes, that are a group's value
	bytes  int64 // of a vector, when it was full
	used   bool  // not spare
}

const (
	groupBits    = 15
	groupsAt     = 1 << groupBits
	segmentRows  = 1 << 14
	segmentBytes = 1 << 20
	textHead     = 4
	// cleanSegments are cleaned up at once.
	cleanSegments = 32
)

func newValueColumn(t schema.Type) *ValueColumn {
	v := &ValueColumn{typ: t, text: column.PhysicalOf(t) == column.PhysBytes, filled: -1}
	if v.text {
		v.view = column.New(t)
		v.view.AppendStr(nil)
	}
	return v
}

// grow makes room for n groups.
func (v *ValueColumn) grow(n int) {
	for v.groups < n {
		last := len(v.places) - 1
		if last < 0 || len(v.places[last]) == groupsAt {
			var fresh []int64 // the first grows as needed
			if last >= 0 {
				fresh = make([]int64, 0, groupsAt)
			}
			v.places = append(v.places, fresh)
			last++
		}
		v.places[last] = growMinus(v.places[last], min(groupsAt, n-last*groupsAt))
		v.groups = last*groupsAt + len(v.places[last])
	}
}

// at is the place of a group's value.
func (v *ValueColumn) at(group int32) int64 {
	return v.places[group>>groupBits][group&(groupsAt-1)]
}

// put sets the place of a group's value.
func (v *ValueColumn) put(group int32, at int64) {
	v.places[group>>groupBits][group&(groupsAt-1)] = at
}

// place says where a value stands.
func place(at int64) (segment, in int) { return int(at >> 32), int(uint32(at)) }

// Value returns where the value of a group is, row -1 for null: valid until the
// next call of Value. What is written to a text through it stays.
func (v *ValueColumn) Value(group int32) (*column.Vector, int) {
	at := v.at(group)
	if at < 0 {
		return nil, -1
	}
	s, in := place(at)
	if !v.text {
		return v.segs[s].values, in
	}
	v.view.Bytes = textAt(v.segs[s].text, in)
	v.view.Offsets[1] = int32(len(v.view.Bytes))
	return v.view, 0
}

// textAt is the text whose length stands at a place of a segment.
func textAt(segment []byte, at int) []byte {
	from := at + textHead
	to := from + int(binary.LittleEndian.Uint32(segment[at:]))
	return segment[from:to:to]
}

// str is the text of a group that has one.
func (v *ValueColumn) str(group int32) []byte {
	s, in := place(v.at(group))
	return textAt(v.segs[s].text, in)
}

// Text is the value of a group that is not null, if it is a text.
func (v *ValueColumn) Text(group int32) ([]byte, bool) {
	if !v.text {
		return nil, false
	}
	return v.str(group), true
}

// IsNull reports whether the group has no value.
func (v *ValueColumn) IsNull(group int32) bool { return v.at(group) < 0 }

// SetNull takes the group's value away.
func (v *ValueColumn) SetNull(group int32) {
	if at := v.at(group); at >= 0 {
		v.put(group, -1)
		v.drop(at)
	}
}

// size is how much of its segment a value takes.
func (v *ValueColumn) size(at int64) int {
	if !v.text {
		return 1
	}
	s, in := place(at)
	return textHead + int(binary.LittleEndian.Uint32(v.segs[s].text[in:]))
}

// drop notes that the value at a place is nobody's.
func (v *ValueColumn) drop(at int64) {
	i, _ := place(at)
	s, n := &v.segs[i], v.size(at)
	v.live -= n
	if s.live -= n; s.live == 0 && i != v.filled {
		v.free(i)
	}
}

// held is the number of rows, or bytes, of a segment.
func (s *valueSegment) held() int {
	if s.values == nil {
		return len(s.text)
	}
	return s.values.Len
}

func (v *ValueColumn) free(i int) {
	s := &v.segs[i]
	v.rows -= s.held()
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
	if src.Dict != nil {
		src, row = src.Dict, int(src.Index[src.Row(row)])
	}
	if at := v.at(group); at >= 0 {
		if v.overwrite(at, src, row) {
			return
		}
		v.put(group, -1)
		v.drop(at)
	}
	if v.rows > 2*v.live+segmentRows {
		v.clean()
	}
	if v.text {
		v.put(group, v.addText(src.Str(row)))
	} else {
		v.put(group, v.add(src, row))
	}
}

// add appends a value that is no text and returns its place.
func (v *ValueColumn) add(src *column.Vector, row int) int64 {
	if v.filled < 0 || full(v.segs[v.filled].values) {
		v.begin(0)
	}
	s := &v.segs[v.filled]
	column.AppendRow(s.values, src, row)
	s.live++
	v.live++
	v.rows++
	return int64(v.filled)<<32 | int64(s.values.Len-1)
}

// addText appends a text and returns its place.
func (v *ValueColumn) addText(text []byte) int64 {
	n := textHead + len(text)
	if v.filled < 0 || len(v.segs[v.filled].text) > 0 && len(v.segs[v.filled].text)+n > segmentBytes {
		v.begin(n)
	}
	s := &v.segs[v.filled]
	at := len(s.text)
	s.text = append(binary.LittleEndian.AppendUint32(s.text, uint32(len(text))), text...)
	s.live += n
	v.live += n
	v.rows += n
	return int64(v.filled)<<32 | int64(at)
}

func full(s *column.Vector) bool {
	return s.Len == segmentRows || len(s.Children) > 0 && s.Len > 0 && largeChild(s)
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

// begin makes an empty segment, with room for n bytes of text, the one that is
// filled. The first grows as needed, those after it have their size from the
// start, as far as the values that there are may fill it.
func (v *ValueColumn) begin(n int) {
	fresh := valueSegment{used: true}
	if !v.text {
		fresh.values = column.New(v.typ)
	}
	if v.filled >= 0 {
		old := &v.segs[v.filled]
		if v.text {
			fresh.text = make([]byte, 0, max(n, min(segmentBytes, 2*v.live+segmentRows)))
		} else {
			old.bytes = old.values.Memory()
			v.bytes += old.bytes
			roomLike(fresh.values, old.values)
		}
		if old.live == 0 {
			v.free(v.filled)
		}
	}
	if k := len(v.spare); k > 0 {
		v.filled, v.spare = v.spare[k-1], v.spare[:k-1]
	} else {
		v.filled = len(v.segs)
		v.segs = append(v.segs, valueSegment{})
	}
	v.segs[v.filled] = fresh
}

// roomLike gives an empty flat vector the room that another of the type has needed.
func roomLike(v, like *column.Vector) {
	v.Bool, v.I8, v.I16 = make([]bool, 0, len(like.Bool)), make([]int8, 0, len(like.I8)), make([]int16, 0, len(like.I16))
	v.I32, v.I64, v.I128 = make([]int32, 0, len(like.I32)), make([]int64, 0, len(like.I64)), make([]column.Int128, 0, len(like.I128))
	v.F32, v.F64 = make([]float32, 0, len(like.F32)), make([]float64, 0, len(like.F64))
}

// overwrite replaces fixed-width values in place, and texts of one length.
func (v *ValueColumn) overwrite(at int64, src *column.Vector, row int) bool {
	i, in := place(at)
	if v.text {
		old, text := textAt(v.segs[i].text, in), src.Str(row)
		if len(old) != len(text) {
			return false
		}
		copy(old, text)
		return true
	}
	switch column.PhysicalOf(v.typ) {
	case column.PhysNone, column.PhysList, column.PhysStruct:
		return false
	}
	loadFixed(v.segs[i].values, in, src, row)
	return true
}

// clean moves the values out of some segments, those with the least left in
// them, so that they can be filled again.
func (v *ValueColumn) clean() {
	var order []int
	for i := range v.segs {
		if s := &v.segs[i]; s.used && s.live*2 <= s.held() {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return
	}
	slices.SortFunc(order, func(a, b int) int { return v.segs[a].live - v.segs[b].live })
	victims := make([]bool, len(v.segs))
	for _, i := range order[:min(len(order), cleanSegments)] {
		victims[i] = true
	}
	if victims[v.filled] {
		v.begin(0)
	}
	for _, places := range v.places {
		v.move(places, victims)
	}
}

// move moves the values at some places out of the victims.
func (v *ValueColumn) move(places []int64, victims []bool) {
	for k, at := range places {
		if at < 0 {
			continue
		}
		i, in := place(at)
		if i >= len(victims) || !victims[i] || i == v.filled {
			continue
		}
		if s := v.segs[i]; v.text {
			places[k] = v.addText(textAt(s.text, in))
		} else {
			places[k] = v.add(s.values, in)
		}
		v.drop(at)
	}
}

// Touch brings the values of some groups, which lie anywhere, into the cache all
// at once.
func (v *ValueColumn) Touch(groups []int32) {
	if len(v.segs) <= 1 {
		return
	}
	x := 0
	if !v.text {
		for _, g := range groups {
			x += int(v.at(g))
		}
		v.seen += x
		return
	}
	var places [touchAhead]int64
	for len(groups) > 0 {
		n := min(len(groups), touchAhead)
		for k, g := range groups[:n] {
			places[k] = v.at(g)
		}
		for _, at := range places[:n] {
			if at >= 0 {
				s, in := place(at)
				text := v.segs[s].text
				x += int(text[in]) + int(text[min(in+cacheLine, len(text)-1)])
			}
		}
		groups = groups[n:]
	}
	v.seen += x
}

// cacheLine is the size of what is loaded into the cache at once.
const cacheLine = 64

// touchAhead is how many places are brought into the cache at once.
const touchAhead = 64

// size is about how much memory the values take.
func (v *ValueColumn) memory() int64 {
	n := v.bytes + 8*int64(v.groups)
	switch {
	case v.text:
		n += int64(v.rows)
	case v.filled >= 0:
		n += v.segs[v.filled].values.Memory()
	}
	return n
}
