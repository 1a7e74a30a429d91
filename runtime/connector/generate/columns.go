package generate

import (
	"fmt"
	"strconv"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// CheckSchema refuses the types that the source cannot make.
func CheckSchema(s schema.Schema) error {
	for _, f := range s.Fields {
		switch f.Type.Kind {
		case schema.Boolean, schema.Int32, schema.Int64, schema.Float64, schema.String, schema.Date, schema.Timestamp, schema.TimestampNTZ:
		default:
			return fmt.Errorf("generate: column %s: %s cannot be generated; use BOOLEAN, INT, BIGINT, DOUBLE, STRING, DATE or TIMESTAMP", f.Name, f.Type.SQL())
		}
	}
	return nil
}

// isKey reports columns whose values repeat.
func isKey(name string) bool {
	n := strings.ToLower(name)
	return n == "k" || n == "key" || strings.HasSuffix(n, "_key") || strings.HasSuffix(n, "_id")
}

// mix is a fixed bijection on 64 bits (splitmix64's finaliser).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// number is the number that a column has in a row: the row number for the
// column named id or value, a key for key columns, a mixed number else.
func (r *reader) number(name string) func(row int64) int64 {
	switch n := strings.ToLower(name); {
	case n == "id" || n == "value":
		return func(row int64) int64 { return row }
	case isKey(name):
		keys, seed := uint64(r.o.Keys), uint64(r.o.Seed)
		if r.o.Keys <= 0 {
			keys = uint64(max(r.o.Rows, 1))
		}
		return func(row int64) int64 { return int64(mix(uint64(row)^seed) % keys) }
	default:
		seed := uint64(r.o.Seed) + uint64(len(n))
		return func(row int64) int64 { return int64(mix(uint64(row)*31+seed) >> 40) }
	}
}

// fill makes n rows of one column from row at on.
func (r *reader) fill(v *column.Vector, name string, at int64, n int) {
	v.Resize(n)
	var text []byte
	number := r.number(name)
	for i := range n {
		row := at + int64(i)
		switch v.Type.Kind {
		case schema.Boolean:
			v.Bool[i] = number(row)&1 == 1
		case schema.Int32:
			v.I32[i] = int32(number(row))
		case schema.Int64:
			v.I64[i] = number(row)
		case schema.Float64:
			v.F64[i] = float64(number(row)) / 16
		case schema.Date:
			v.I32[i] = int32((r.o.Start + row*r.o.Step) / 86_400_000_000)
		case schema.Timestamp, schema.TimestampNTZ:
			v.I64[i] = r.o.Start + row*r.o.Step
		case schema.String:
			text = strconv.AppendInt(append(text[:0], 's'), number(row), 10)
			v.AppendStr(text)
		}
	}
}
