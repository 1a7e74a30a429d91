package text

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// AppendValue appends row i of v as CAST(… AS STRING) prints it: nested values
// as [a, b], {k -> v} and {a, b} with null for nulls. A null row appends null
// too; callers check it first. Constant and dictionary vectors are resolved.
//
//tidy:allow-long a flat switch over the types
func AppendValue(dst []byte, v *column.Vector, i int, z *Zone) []byte {
	if v.IsNull(i) {
		return append(dst, "null"...)
	}
	if v.Dict != nil {
		return AppendValue(dst, v.Dict, int(v.Index[i]), z)
	}
	i = v.Row(i)
	switch v.Type.Kind {
	case schema.Boolean:
		return AppendBool(dst, v.Bool[i])
	case schema.Int8:
		return AppendInt(dst, int64(v.I8[i]))
	case schema.Int16:
		return AppendInt(dst, int64(v.I16[i]))
	case schema.Int32:
		return AppendInt(dst, int64(v.I32[i]))
	case schema.Int64:
		return AppendInt(dst, v.I64[i])
	case schema.Float32:
		return AppendFloat(dst, v.F32[i])
	case schema.Float64:
		return AppendDouble(dst, v.F64[i])
	case schema.Decimal:
		if v.Type.Precision > column.MaxDecimal64 {
			return AppendDecimal(dst, v.I128[i], v.Type.Scale)
		}
		return AppendDecimal64(dst, v.I64[i], v.Type.Scale)
	case schema.String, schema.Binary:
		return append(dst, v.Str(i)...)
	case schema.Date:
		return AppendDate(dst, v.I32[i])
	case schema.Timestamp:
		return AppendTimestamp(dst, v.I64[i], z)
	case schema.TimestampNTZ:
		return AppendTimestampNTZ(dst, v.I64[i])
	case schema.YearMonthInterval:
		return AppendYearMonth(dst, v.I32[i], v.Type.From, v.Type.To)
	case schema.DayTimeInterval:
		return AppendDayTime(dst, v.I64[i], v.Type.From, v.Type.To)
	case schema.CalendarInterval:
		c := v.Children
		return AppendInterval(dst, Interval{Months: c[0].I32[c[0].Row(i)], Days: c[1].I32[c[1].Row(i)], Micros: c[2].I64[c[2].Row(i)]})
	case schema.Struct:
		dst = append(dst, '{')
		for k, c := range v.Children {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = AppendValue(dst, c, i, z)
		}
		return append(dst, '}')
	case schema.Array:
		from, to := v.List(i)
		dst = append(dst, '[')
		for k := from; k < to; k++ {
			if k > from {
				dst = append(dst, ", "...)
			}
			dst = AppendValue(dst, v.Children[0], k, z)
		}
		return append(dst, ']')
	case schema.Map:
		from, to := v.List(i)
		dst = append(dst, '{')
		for k := from; k < to; k++ {
			if k > from {
				dst = append(dst, ", "...)
			}
			dst = append(AppendValue(dst, v.Children[0], k, z), " -> "...)
			dst = AppendValue(dst, v.Children[1], k, z)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}
