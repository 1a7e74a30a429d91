package commitlog

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// FileStats are the statistics of a file, decoded as far as predicates need.
type FileStats struct {
	rows             int64 // -1: unknown
	low, high, nulls json.RawMessage
}

// DecodeStats reads statistics JSON. What is not understood is unknown.
func DecodeStats(stats string) FileStats {
	var j struct {
		Rows  *int64          `json:"numRecords"`
		Low   json.RawMessage `json:"minValues"`
		High  json.RawMessage `json:"maxValues"`
		Nulls json.RawMessage `json:"nullCount"`
	}
	out := FileStats{rows: -1}
	if json.Unmarshal([]byte(stats), &j) != nil {
		return out
	}
	if j.Rows != nil {
		out.rows = *j.Rows
	}
	out.low, out.high, out.nulls = j.Low, j.High, j.Nulls
	return out
}

// at returns the value under a path of names, or nil.
func at(raw json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		var m map[string]json.RawMessage
		if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &m) != nil {
			return nil
		}
		raw = m[name]
	}
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// Resolve finds a leaf by path, ignoring case: its names as the schema spells
// them, and its type.
func Resolve(s schema.Schema, path []string) ([]string, schema.Type, bool) {
	t := s.Type()
	out := make([]string, len(path))
	for i, name := range path {
		if t.Kind != schema.Struct {
			return nil, t, false
		}
		k := schema.Schema{Fields: t.Fields}.Index(name)
		if k < 0 {
			return nil, t, false
		}
		out[i], t = t.Fields[k].Name, t.Fields[k].Type
	}
	return out, t, len(path) > 0
}

// MayMatch reports whether the file may have a row for which the term holds.
// The path is spelt as in the schema, t is the leaf's type.
func (s *FileStats) MayMatch(path []string, t schema.Type, term *format.Term) bool {
	if s.rows == 0 {
		return false
	}
	var nulls int64
	known := json.Unmarshal(at(s.nulls, path), &nulls) == nil
	allNull := known && s.rows > 0 && nulls == s.rows
	switch term.Op {
	case format.IsNull:
		return !known || nulls > 0
	case format.IsNotNull:
		return !allNull
	}
	if allNull {
		return false
	}
	if term.Value == nil || term.Value.Len == 0 || term.Value.IsNull(0) || !term.Value.Type.SameShape(t) {
		return true
	}
	low, high := decodeBound(at(s.low, path), t, false), decodeBound(at(s.high, path), t, true)
	if t.IsFloat() && term.Op != format.Equal {
		high = nil // NaN is the greatest value, and some writers leave it out
	}
	if t.IsFloat() && isNaN(term.Value) {
		return true
	}
	return Between(low, high, term)
}

// Exact returns what the statistics say exactly of a leaf: the number of nulls
// (-1: unknown), and the least and greatest value (nil: unknown). Floating-point
// bounds leave NaN out, timestamps may be cut to milliseconds, and strings to
// their first characters unless whole says that short ones are not: they have
// none.
func (s *FileStats) Exact(path []string, t schema.Type, whole bool) (nulls int64, low, high *column.Vector) {
	if json.Unmarshal(at(s.nulls, path), &nulls) != nil || nulls < 0 {
		nulls = -1
	}
	switch t.Kind {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Date:
	case schema.Decimal:
		if t.Precision > 18 {
			return nulls, nil, nil
		}
	case schema.String:
		if !whole {
			return nulls, nil, nil
		}
	default:
		return nulls, nil, nil
	}
	low, high = decodeBound(at(s.low, path), t, false), decodeBound(at(s.high, path), t, true)
	for _, v := range []*column.Vector{low, high} {
		if v != nil && t.Kind == schema.String && utf8.RuneCount(v.Str(0)) >= statsPrefix {
			return nulls, nil, nil
		}
	}
	return nulls, low, high
}

// Between reports whether the term may hold for a value from low to high; nil
// is unknown.
func Between(low, high *column.Vector, term *format.Term) bool {
	below := func() int { return column.Compare(low, 0, term.Value, 0) }
	above := func() int { return column.Compare(high, 0, term.Value, 0) }
	switch term.Op {
	case format.Equal:
		return (low == nil || below() <= 0) && (high == nil || above() >= 0)
	case format.Less:
		return low == nil || below() < 0
	case format.LessEqual:
		return low == nil || below() <= 0
	case format.Greater:
		return high == nil || above() > 0
	case format.GreaterEqual:
		return high == nil || above() >= 0
	}
	return true
}

func isNaN(v *column.Vector) bool {
	flat, i := flatRow(v, 0)
	if v.Type.Kind == schema.Float32 {
		return math.IsNaN(float64(flat.F32[i]))
	}
	return math.IsNaN(flat.F64[i])
}

// decodeBound reads a bound of a leaf, or returns nil if it has none to rely
// on: decimals that went through a double are not exact, timestamps may be cut
// to milliseconds, which the upper bound makes up for.
func decodeBound(raw json.RawMessage, t schema.Type, upper bool) *column.Vector {
	if len(raw) == 0 {
		return nil
	}
	var s string
	if raw[0] == '"' {
		if json.Unmarshal(raw, &s) != nil {
			return nil
		}
	} else {
		s = string(raw)
	}
	switch t.Kind {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64, schema.String, schema.Date:
		if (t.Kind == schema.String || t.Kind == schema.Date) != (raw[0] == '"') {
			return nil // NaN as text, for one
		}
	case schema.Decimal:
		if raw[0] == '"' || !exactDecimal(s) {
			return nil
		}
	case schema.Timestamp, schema.TimestampNTZ:
		if raw[0] != '"' {
			return nil
		}
	default:
		return nil
	}
	v := column.New(t)
	if parseValue(v, s) != nil {
		return nil
	}
	if upper && (t.Kind == schema.Timestamp || t.Kind == schema.TimestampNTZ) && shortFraction(s) && v.I64[0] < math.MaxInt64-999 {
		v.I64[0] += 999
	}
	return v
}

// exactDecimal reports that a number is not one that a double was printed as.
func exactDecimal(s string) bool {
	digits := 0
	for _, c := range []byte(s) {
		switch {
		case c >= '1' && c <= '9' || c == '0' && digits > 0:
			digits++
		case c != '-' && c != '.' && c != '0':
			return false // an exponent
		}
	}
	return digits <= 15 || digits > 17
}

// shortFraction reports that a timestamp has at most three digits after the
// point.
func shortFraction(s string) bool {
	_, frac, ok := strings.Cut(s, ".")
	if !ok {
		return true
	}
	n := 0
	for n < len(frac) && frac[n] >= '0' && frac[n] <= '9' {
		n++
	}
	return n <= 3
}
