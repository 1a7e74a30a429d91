package commitlog

import (
	"bytes"
	"fmt"
	"strconv"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// flatRow finds the vector and the row that hold the value of row i.
func flatRow(v *column.Vector, i int) (*column.Vector, int) {
	if v.Dict != nil {
		return v.Dict, int(v.Index[i])
	}
	return v, v.Row(i)
}

// appendValue appends the text of a scalar that is not null: as partition
// values have it, and statistics too where they hold text.
func appendValue(dst []byte, v *column.Vector, i int) []byte {
	v, i = flatRow(v, i)
	switch v.Type.Kind {
	case schema.Boolean:
		return text.AppendBool(dst, v.Bool[i])
	case schema.Int8:
		return text.AppendInt(dst, int64(v.I8[i]))
	case schema.Int16:
		return text.AppendInt(dst, int64(v.I16[i]))
	case schema.Int32:
		return text.AppendInt(dst, int64(v.I32[i]))
	case schema.Int64:
		return text.AppendInt(dst, v.I64[i])
	case schema.Float32:
		return text.AppendFloat(dst, v.F32[i])
	case schema.Float64:
		return text.AppendDouble(dst, v.F64[i])
	case schema.Decimal:
		if v.Type.Precision > column.MaxDecimal64 {
			return text.AppendDecimal(dst, v.I128[i], v.Type.Scale)
		}
		return text.AppendDecimal64(dst, v.I64[i], v.Type.Scale)
	case schema.String:
		return append(dst, v.Str(i)...)
	case schema.Date:
		return text.AppendDate(dst, v.I32[i])
	case schema.Timestamp:
		return append(appendMicros(dst, v.I64[i], 'T'), 'Z')
	case schema.TimestampNTZ:
		return appendMicros(dst, v.I64[i], ' ')
	}
	panic("bug: commitlog: no text for a value of type " + v.Type.String())
}

// appendMicros appends a local timestamp with all six digits.
func appendMicros(dst []byte, micros int64, sep byte) []byte {
	frac := micros % text.MicrosPerSecond
	if frac < 0 {
		frac += text.MicrosPerSecond
	}
	start := len(dst)
	dst = text.AppendTimestampNTZ(dst, micros-frac)
	if i := bytes.IndexByte(dst[start:], ' '); i >= 0 {
		dst[start+i] = sep
	}
	dst = append(dst, '.')
	digits := strconv.AppendInt(nil, text.MicrosPerSecond+frac, 10)
	return append(dst, digits[1:]...)
}

// parseValue appends the value of a text to a flat vector: the reverse of
// appendValue, in the forms of other writers too.
func parseValue(v *column.Vector, s string) error {
	b := []byte(s)
	ok := true
	switch v.Type.Kind {
	case schema.Boolean:
		var x bool
		x, ok = text.ParseBool(b)
		v.Bool = append(v.Bool, x)
	case schema.Int8:
		var x int64
		x, ok = text.ParseInt(b, 8)
		v.I8 = append(v.I8, int8(x))
	case schema.Int16:
		var x int64
		x, ok = text.ParseInt(b, 16)
		v.I16 = append(v.I16, int16(x))
	case schema.Int32:
		var x int64
		x, ok = text.ParseInt(b, 32)
		v.I32 = append(v.I32, int32(x))
	case schema.Int64:
		var x int64
		x, ok = text.ParseInt64(b)
		v.I64 = append(v.I64, x)
	case schema.Float32:
		var x float32
		x, ok = text.ParseFloat(b)
		v.F32 = append(v.F32, x)
	case schema.Float64:
		var x float64
		x, ok = text.ParseDouble(b)
		v.F64 = append(v.F64, x)
	case schema.Decimal:
		ok = parseDecimal(v, b)
	case schema.String, schema.Binary:
		v.AppendStr(b)
		return nil
	case schema.Date:
		var x int32
		x, ok = text.ParseDate(b)
		v.I32 = append(v.I32, x)
	case schema.Timestamp:
		var x int64
		x, ok = text.ParseTimestamp(b, text.UTC)
		v.I64 = append(v.I64, x)
	case schema.TimestampNTZ:
		var x int64
		x, ok = text.ParseTimestampNTZ(b, false)
		v.I64 = append(v.I64, x)
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("%q is not a value of type %s", s, v.Type.SQL())
	}
	v.Len++
	return nil
}

func parseDecimal(v *column.Vector, b []byte) bool {
	x, status := text.ParseDecimal(b, v.Type.Precision, v.Type.Scale)
	if v.Type.Precision > column.MaxDecimal64 {
		v.I128 = append(v.I128, x)
		return status == text.DecimalOK
	}
	small, fits := x.Int64()
	v.I64 = append(v.I64, small)
	return status == text.DecimalOK && fits
}
