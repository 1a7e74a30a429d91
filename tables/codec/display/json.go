package display

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// resolve maps a row to the vector and place that hold its value.
func resolve(v *column.Vector, i int) (*column.Vector, int) {
	if v.Dict != nil {
		return v.Dict, int(v.Index[i])
	}
	return v, v.Row(i)
}

// AppendJSON appends row i as natural JSON: numbers, booleans, null; decimals
// as strings with their scale; timestamps yyyy-MM-ddTHH:mm:ss.SSSZ (six digits
// when there are microseconds), without Z for TIMESTAMP_NTZ; maps and structs
// as objects; binary as base64; NaN and infinities as strings.
func AppendJSON(dst []byte, v *column.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, "null"...)
	}
	v, i = resolve(v, i)
	switch v.Type.Kind {
	case schema.Boolean:
		return strconv.AppendBool(dst, v.Bool[i])
	case schema.Int8:
		return strconv.AppendInt(dst, int64(v.I8[i]), 10)
	case schema.Int16:
		return strconv.AppendInt(dst, int64(v.I16[i]), 10)
	case schema.Int32:
		return strconv.AppendInt(dst, int64(v.I32[i]), 10)
	case schema.Int64:
		return strconv.AppendInt(dst, v.I64[i], 10)
	case schema.Float32:
		return appendFloat(dst, float64(v.F32[i]), 32)
	case schema.Float64:
		return appendFloat(dst, v.F64[i], 64)
	case schema.String:
		return AppendString(dst, v.Str(i))
	case schema.Binary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Str(i))
		return append(dst, '"')
	case schema.Array:
		return appendArray(dst, v, i)
	case schema.Map:
		return appendMap(dst, v, i)
	case schema.Struct:
		return appendStruct(dst, v, i)
	case schema.Timestamp:
		return append(appendISO(append(dst, '"'), v.I64[i]), `Z"`...)
	case schema.TimestampNTZ:
		return append(appendISO(append(dst, '"'), v.I64[i]), '"')
	case schema.Date: // with its sign, unlike the shell
		return append(text.AppendDate(append(dst, '"'), v.I32[i]), '"')
	case schema.Variant:
		return appendVariant(dst, v, i, nil)
	}
	return append(appendScalar(append(dst, '"'), v, i), '"')
}

func appendISO(dst []byte, micros int64) []byte {
	dst = text.AppendISOLocal(dst, micros)
	if us := ((micros % 1000) + 1000) % 1000; us != 0 {
		dst = append(dst, byte('0'+us/100), byte('0'+us/10%10), byte('0'+us%10))
	}
	return dst
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	if bits == 32 {
		return text.AppendFloat(dst, float32(f))
	}
	return text.AppendDouble(dst, f)
}

// AppendString appends s as a JSON string; bytes that are not UTF-8 become the
// replacement character.
func AppendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for len(s) > 0 {
		c := s[0]
		if c < utf8.RuneSelf {
			s = s[1:]
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, `\n`...)
			case c == '\t':
				dst = append(dst, `\t`...)
			case c == '\r':
				dst = append(dst, `\r`...)
			case c < 0x20:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return append(dst, '"')
}

func appendArray(dst []byte, v *column.Vector, i int) []byte {
	from, to := v.List(i)
	dst = append(dst, '[')
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		dst = AppendJSON(dst, v.Children[0], k)
	}
	return append(dst, ']')
}

func appendMap(dst []byte, v *column.Vector, i int) []byte {
	from, to := v.List(i)
	dst = append(dst, '{')
	var key []byte
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		key = AppendShell(key[:0], v.Children[0], k)
		dst = append(AppendString(dst, key), ':')
		dst = AppendJSON(dst, v.Children[1], k)
	}
	return append(dst, '}')
}

func appendStruct(dst []byte, v *column.Vector, i int) []byte {
	dst = append(dst, '{')
	for c, f := range v.Type.Fields {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, []byte(f.Name)), ':')
		dst = AppendJSON(dst, v.Children[c], i)
	}
	return append(dst, '}')
}
