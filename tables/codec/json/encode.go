package json

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"

	"pipelines/tables/codec/variant"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Encoder prints values as JSON text by the rules of to_json and the JSON
// writer.
type Encoder struct {
	// Variant appends the JSON of a VARIANT value; NewEncoder sets it to the
	// usual form in the options' zone.
	Variant func(dst, value, metadata []byte) []byte

	opts Options
	fmt  text.Formats
	root *shape
}

// shape is what is known of a type before the rows.
type shape struct {
	typ    schema.Type
	fields []*shape
	names  [][]byte // quoted, with the colon
	order  []int    // of the fields
	key    *shape
	elem   *shape
}

// NewEncoder plans printing values of type t.
func NewEncoder(t schema.Type, o Options) (*Encoder, error) {
	e := &Encoder{opts: o}
	e.Variant = func(dst, value, metadata []byte) []byte { return variant.AppendJSON(dst, value, metadata, o.Zone) }
	var err error
	e.fmt, err = o.Formats(false)
	e.root = e.shape(t)
	return e, err
}

func (e *Encoder) shape(t schema.Type) *shape {
	s := &shape{typ: t}
	for i, f := range t.Fields {
		s.fields = append(s.fields, e.shape(f.Type))
		s.names = append(s.names, append(text.AppendJSONString(nil, []byte(f.Name)), ':'))
		s.order = append(s.order, i)
	}
	if e.opts.SortKeys {
		slices.SortStableFunc(s.order, func(a, b int) int { return strings.Compare(t.Fields[a].Name, t.Fields[b].Name) })
	}
	if t.Elem != nil {
		s.elem = e.shape(*t.Elem)
	}
	if t.Key != nil {
		s.key = e.shape(*t.Key)
	}
	return s
}

// place resolves constant and dictionary vectors.
func place(v *column.Vector, i int) (*column.Vector, int, bool) {
	if v.IsNull(i) {
		return v, i, true
	}
	if v.Dict != nil {
		v, i = v.Dict, int(v.Index[i])
		return v, i, v.IsNull(i)
	}
	return v, v.Row(i), false
}

// Append appends row i of v, which is of the encoder's type; a null is null.
func (e *Encoder) Append(dst []byte, v *column.Vector, i int) []byte {
	return e.value(dst, e.root, v, i)
}

// AppendRow appends row i of the columns as an object; the encoder's type is
// their struct.
func (e *Encoder) AppendRow(dst []byte, cols []*column.Vector, i int) []byte {
	return e.object(dst, e.root, cols, i)
}

func (e *Encoder) object(dst []byte, s *shape, cols []*column.Vector, i int) []byte {
	dst = append(dst, '{')
	first := true
	for _, k := range s.order {
		if !e.opts.KeepNullFields && isNull(cols[k], i) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, s.names[k]...)
		dst = e.value(dst, s.fields[k], cols[k], i)
	}
	return append(dst, '}')
}

func isNull(v *column.Vector, i int) bool {
	_, _, null := place(v, i)
	return null
}

// value appends row i of v.
//
//tidy:allow-long a flat switch over the types
func (e *Encoder) value(dst []byte, s *shape, v *column.Vector, i int) []byte {
	v, i, null := place(v, i)
	if null {
		return append(dst, "null"...)
	}
	switch s.typ.Kind {
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
		return quoteSpecial(dst, float64(v.F32[i]), 32)
	case schema.Float64:
		return quoteSpecial(dst, v.F64[i], 64)
	case schema.Decimal:
		if v.Type.Precision > column.MaxDecimal64 {
			return text.AppendDecimalJava(dst, v.I128[i], v.Type.Scale)
		}
		return text.AppendDecimalJava(dst, column.FromInt64(v.I64[i]), v.Type.Scale)
	case schema.String:
		return text.AppendJSONString(dst, v.Str(i))
	case schema.Binary:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), v.Str(i))
	case schema.Date:
		dst = e.fmt.AppendDate(append(dst, '"'), v.I32[i])
	case schema.Timestamp:
		dst = e.fmt.AppendTimestamp(append(dst, '"'), v.I64[i])
	case schema.TimestampNTZ:
		dst = e.fmt.AppendNTZ(append(dst, '"'), v.I64[i])
	case schema.YearMonthInterval:
		dst = text.AppendYearMonth(append(dst, '"'), v.I32[i], s.typ.From, s.typ.To)
	case schema.DayTimeInterval:
		dst = text.AppendDayTime(append(dst, '"'), v.I64[i], s.typ.From, s.typ.To)
	case schema.CalendarInterval:
		c := v.Children
		dst = text.AppendInterval(append(dst, '"'), text.Interval{Months: c[0].I32[i], Days: c[1].I32[i], Micros: c[2].I64[i]})
	case schema.Struct:
		return e.object(dst, s, v.Children, i)
	case schema.Array:
		return e.list(dst, s, v, i, (*Encoder).value)
	case schema.Map:
		return e.entries(dst, s, v, i)
	case schema.Variant:
		return e.Variant(dst, v.Children[0].Str(i), v.Children[1].Str(i))
	default:
		return append(dst, "null"...)
	}
	return append(dst, '"')
}

// list appends row i of an array, each element by one.
func (e *Encoder) list(dst []byte, s *shape, v *column.Vector, i int, one func(*Encoder, []byte, *shape, *column.Vector, int) []byte) []byte {
	dst = append(dst, '[')
	from, to := v.List(i)
	for k := from; k < to; k++ {
		if k > from {
			dst = append(dst, ',')
		}
		dst = one(e, dst, s.elem, v.Children[0], k)
	}
	return append(dst, ']')
}

func quoteSpecial(dst []byte, f float64, bits int) []byte {
	special := math.IsNaN(f) || math.IsInf(f, 0)
	if special {
		dst = append(dst, '"')
	}
	if bits == 32 {
		dst = text.AppendFloat(dst, float32(f))
	} else {
		dst = text.AppendDouble(dst, f)
	}
	if special {
		dst = append(dst, '"')
	}
	return dst
}

// entries appends a map as an object.
func (e *Encoder) entries(dst []byte, s *shape, v *column.Vector, i int) []byte {
	dst = append(dst, '{')
	from, to := v.List(i)
	order := make([]int, 0, 16)
	for k := from; k < to; k++ {
		order = append(order, k)
	}
	if e.opts.SortKeys {
		slices.SortStableFunc(order, func(a, b int) int {
			return strings.Compare(string(e.keyText(nil, s.key, v.Children[0], a)), string(e.keyText(nil, s.key, v.Children[0], b)))
		})
	}
	var buf [64]byte
	for n, k := range order {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(text.AppendJSONString(dst, e.keyText(buf[:0], s.key, v.Children[0], k)), ':')
		dst = e.value(dst, s.elem, v.Children[1], k)
	}
	return append(dst, '}')
}

// keyText appends a map key as Spark prints it: the stored form, so a date is
// its day number and a timestamp its microseconds.
func (e *Encoder) keyText(dst []byte, s *shape, v *column.Vector, i int) []byte {
	v, i, null := place(v, i)
	if null {
		return append(dst, "null"...)
	}
	switch s.typ.Kind {
	case schema.String, schema.Binary:
		return append(dst, v.Str(i)...)
	case schema.Date:
		return text.AppendInt(dst, int64(v.I32[i]))
	case schema.Timestamp, schema.TimestampNTZ:
		return text.AppendInt(dst, v.I64[i])
	case schema.Float32:
		return text.AppendFloat(dst, v.F32[i])
	case schema.Float64:
		return text.AppendDouble(dst, v.F64[i])
	case schema.YearMonthInterval:
		return text.AppendYearMonth(dst, v.I32[i], s.typ.From, s.typ.To)
	case schema.DayTimeInterval:
		return text.AppendDayTime(dst, v.I64[i], s.typ.From, s.typ.To)
	case schema.Struct:
		dst = append(dst, '[')
		for k, f := range s.fields {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = e.keyText(dst, f, v.Children[k], i)
		}
		return append(dst, ']')
	case schema.Array:
		return e.list(dst, s, v, i, (*Encoder).keyText)
	}
	return e.value(dst, s, v, i)
}
