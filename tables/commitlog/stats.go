package commitlog

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// statsPrefix is how many characters of a string its bounds keep.
const statsPrefix = 32

// Stats returns the statistics JSON of a data file: numRecords always, the
// bounds where there are any, the number of nulls by leaf column.
func Stats(s format.FileStats) string {
	low, high, nulls := &node{}, &node{}, &node{}
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.NullCount >= 0 {
			nulls.set(c.Path, strconv.FormatInt(c.NullCount, 10))
		}
		if c.Min == nil || c.Max == nil || c.Min.Len != 1 || c.Max.Len != 1 || c.Min.IsNull(0) || c.Max.IsNull(0) {
			continue
		}
		if a, b := bound(c.Min, false), bound(c.Max, true); a != "" && b != "" {
			low.set(c.Path, a)
			high.set(c.Path, b)
		}
	}
	var b bytes.Buffer
	b.WriteString(`{"numRecords":` + strconv.FormatInt(s.Rows, 10))
	for _, part := range []struct {
		name string
		tree *node
	}{{"minValues", low}, {"maxValues", high}, {"nullCount", nulls}} {
		b.WriteString(`,"` + part.name + `":`)
		part.tree.write(&b)
	}
	b.WriteByte('}')
	return b.String()
}

// node is a JSON object in the making, or a leaf.
type node struct {
	names []string
	kids  []*node
	leaf  string
}

func (n *node) set(path []string, value string) {
	for _, name := range path {
		n = n.child(name)
	}
	n.leaf = value
}

func (n *node) child(name string) *node {
	for i := len(n.names) - 1; i >= 0; i-- {
		if n.names[i] == name {
			return n.kids[i]
		}
	}
	k := &node{}
	n.names, n.kids = append(n.names, name), append(n.kids, k)
	return k
}

func (n *node) write(b *bytes.Buffer) {
	if n.leaf != "" {
		b.WriteString(n.leaf)
		return
	}
	b.WriteByte('{')
	for i, name := range n.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(schema.QuoteJSON(name) + ":")
		n.kids[i].write(b)
	}
	b.WriteByte('}')
}

// bound returns the JSON of a bound, or "" if it has none: no order, or not to
// be written in JSON.
func bound(v *column.Vector, upper bool) string {
	flat, i := flatRow(v, 0)
	switch v.Type.Kind {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Decimal:
		return string(appendValue(nil, v, 0))
	case schema.Float32:
		return floatBound(float64(flat.F32[i]), 32, upper)
	case schema.Float64:
		return floatBound(flat.F64[i], 64, upper)
	case schema.String:
		return stringBound(flat.Str(i), upper)
	case schema.Date, schema.Timestamp, schema.TimestampNTZ:
		s := appendValue(nil, v, 0)
		if c := s[0]; c < '0' || c > '9' || s[4] != '-' { // a year that is not 0000 to 9999
			return ""
		}
		if v.Type.Kind == schema.TimestampNTZ {
			s[10] = 'T'
		}
		return `"` + string(s) + `"`
	}
	return ""
}

// floatBound writes zeros so that they bound both zeros.
func floatBound(f float64, bits int, upper bool) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	if f == 0 {
		if upper {
			return "0.0"
		}
		return "-0.0"
	}
	s := strconv.AppendFloat(nil, f, 'g', -1, bits)
	if !bytes.ContainsAny(s, ".e") {
		s = append(s, ".0"...)
	}
	return string(s)
}

// stringBound cuts long strings; a cut upper bound gets a last character that
// is greater than what was cut off.
func stringBound(s []byte, upper bool) string {
	if !utf8.Valid(s) {
		return ""
	}
	cut := 0
	for range statsPrefix {
		if cut >= len(s) {
			return schema.QuoteJSON(string(s))
		}
		_, n := utf8.DecodeRune(s[cut:])
		cut += n
	}
	if cut == len(s) {
		return schema.QuoteJSON(string(s))
	}
	out := string(s[:cut])
	if upper {
		next, _ := utf8.DecodeRune(s[cut:])
		switch {
		case next < 0x7f:
			out += "\u007f"
		case next < utf8.MaxRune:
			out += string(utf8.MaxRune)
		default:
			return ""
		}
	}
	return schema.QuoteJSON(out)
}

// NumRecords reads the number of rows from statistics, if they say it.
func NumRecords(stats string) (int64, bool) {
	const lead = `{"numRecords":`
	if len(stats) > len(lead) && stats[:len(lead)] == lead { // as everybody writes it
		end := len(lead)
		for end < len(stats) && stats[end] >= '0' && stats[end] <= '9' {
			end++
		}
		if n, err := strconv.ParseInt(stats[len(lead):end], 10, 64); err == nil && end < len(stats) && (stats[end] == ',' || stats[end] == '}') {
			return n, true
		}
	}
	var j struct {
		NumRecords *int64 `json:"numRecords"`
	}
	if json.Unmarshal([]byte(stats), &j) != nil || j.NumRecords == nil {
		return 0, false
	}
	return *j.NumRecords, true
}
