package display

import (
	"slices"
	"strconv"
	"strings"

	"pipelines/tables/codec/variant"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Shell writes values as Spark's SQL shell prints them: in one time zone, the
// entries of maps in the order of their texts.
type Shell struct {
	Zone   *text.Zone
	Binary text.BinaryStyle
}

// WithBinary returns s with the style of bytes by its name, whose case does not
// matter.
func (s Shell) WithBinary(style string) Shell {
	s.Binary = text.BinaryStyle(strings.ToUpper(style))
	return s
}

// AppendShell is Shell.Append in UTC.
func AppendShell(dst []byte, v *column.Vector, i int) []byte {
	return Shell{}.Append(dst, v, i)
}

// Append appends row i, which must not be null: nested values in their
// JSON-like form.
func (s Shell) Append(dst []byte, v *column.Vector, i int) []byte {
	v, i = resolve(v, i)
	switch v.Type.Kind {
	case schema.Array:
		from, to := v.List(i)
		dst = append(dst, '[')
		for k := from; k < to; k++ {
			if k > from {
				dst = append(dst, ',')
			}
			dst = s.nested(dst, v.Children[0], k)
		}
		return append(dst, ']')
	case schema.Map:
		return s.entries(dst, v, i)
	case schema.Struct:
		dst = append(dst, '{')
		for c, f := range v.Type.Fields {
			if c > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, '"'), f.Name...), `":`...)
			dst = s.nested(dst, v.Children[c], i)
		}
		return append(dst, '}')
	case schema.Timestamp:
		if s.Zone != nil {
			return text.AppendShellTimestamp(dst, v.I64[i]+shellOffset(s.Zone, floorSeconds(v.I64[i]))*1_000_000)
		}
		return text.AppendShellTimestamp(dst, v.I64[i])
	case schema.Variant:
		return appendVariant(dst, v, i, s.Zone)
	case schema.Binary:
		return s.Binary.Append(dst, v.Str(i))
	}
	return appendScalar(dst, v, i)
}

// entries appends a map.
func (s Shell) entries(dst []byte, v *column.Vector, i int) []byte {
	from, to := v.List(i)
	texts := make([]string, 0, to-from)
	for k := from; k < to; k++ {
		text := append(s.nested(nil, v.Children[0], k), ':')
		texts = append(texts, string(s.nested(text, v.Children[1], k)))
	}
	slices.Sort(texts)
	dst = append(dst, '{')
	for k, t := range texts {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, t...)
	}
	return append(dst, '}')
}

// shellOffset is the offset that the shell shows an instant with: before 1900
// it knows no local mean time but the zone's standard offset of today.
func shellOffset(z *text.Zone, seconds int64) int64 {
	const (
		year1900 = -2_208_988_800
		january  = 1_704_067_200 // of 2024
		july     = 1_719_792_000
	)
	if seconds < year1900 {
		return min(z.Offset(january), z.Offset(july))
	}
	return z.Offset(seconds)
}

func floorSeconds(micros int64) int64 {
	q := micros / 1_000_000
	if micros%1_000_000 < 0 {
		q--
	}
	return q
}

// nested appends a value inside another: text quoted, nulls as null.
func (s Shell) nested(dst []byte, v *column.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, "null"...)
	}
	if v.Type.Kind == schema.String {
		return append(s.Append(append(dst, '"'), v, i), '"')
	}
	return s.Append(dst, v, i)
}

// appendScalar appends a value that has no parts and no zone.
func appendScalar(dst []byte, v *column.Vector, i int) []byte {
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
		return text.AppendFloat(dst, v.F32[i])
	case schema.Float64:
		return text.AppendDouble(dst, v.F64[i])
	case schema.Decimal:
		if v.Type.Precision > column.MaxDecimal64 {
			return text.AppendDecimal(dst, v.I128[i], v.Type.Scale)
		}
		return text.AppendDecimal64(dst, v.I64[i], v.Type.Scale)
	case schema.String, schema.Binary:
		return append(dst, v.Str(i)...)
	case schema.Date:
		return text.AppendShellDate(dst, v.I32[i])
	case schema.TimestampNTZ:
		return text.AppendTimestampNTZ(dst, v.I64[i])
	case schema.YearMonthInterval:
		return text.AppendYearMonthShell(dst, v.I32[i])
	case schema.DayTimeInterval:
		return text.AppendDayTimeShell(dst, v.I64[i])
	case schema.CalendarInterval:
		iv := text.Interval{Months: v.Children[0].I32[i], Days: v.Children[1].I32[i], Micros: v.Children[2].I64[i]}
		return text.AppendInterval(dst, iv)
	}
	panic("bug: display: no text for " + v.Type.String())
}

// appendVariant appends a variant as JSON.
func appendVariant(dst []byte, v *column.Vector, i int, zone *text.Zone) []byte {
	value, metadata := v.Children[0], v.Children[1]
	return variant.AppendJSON(dst, value.Str(i), metadata.Str(i), zone)
}
