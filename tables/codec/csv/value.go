package csv

import (
	"bytes"
	"math"

	"pipelines/tables/codec/record"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// col is a wanted column and its vector.
type col struct {
	typ   schema.Type
	phys  column.Physical
	token int // its place among the values, -1: the corrupt column
	place int // among the declared columns
	// absent: the file has no such column
	absent bool
	v      *column.Vector
}

// appendNull appends a null as row r.
func (c *col) appendNull(r int) {
	v := c.v
	switch c.phys {
	case column.PhysBool:
		v.Bool = append(v.Bool, false)
	case column.PhysI8:
		v.I8 = append(v.I8, 0)
	case column.PhysI16:
		v.I16 = append(v.I16, 0)
	case column.PhysI32:
		v.I32 = append(v.I32, 0)
	case column.PhysI64:
		v.I64 = append(v.I64, 0)
	case column.PhysI128:
		v.I128 = append(v.I128, column.Int128{})
	case column.PhysF32:
		v.F32 = append(v.F32, 0)
	case column.PhysF64:
		v.F64 = append(v.F64, 0)
	case column.PhysBytes:
		v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	case column.PhysStruct:
		c.appendInterval(text.Interval{})
	case column.PhysNone:
		return
	}
	v.SetNull(r)
}

func (c *col) appendInterval(iv text.Interval) {
	k := c.v.Children
	k[0].I32, k[1].I32, k[2].I64 = append(k[0].I32, iv.Months), append(k[1].I32, iv.Days), append(k[2].I64, iv.Micros)
}

// finish sets the length.
func (c *col) finish(rows int) {
	v := c.v
	v.Len = rows
	if v.Nulls != nil {
		v.Nulls = v.Nulls.Grow(rows)
	}
	if c.phys == column.PhysStruct {
		for _, f := range v.Children {
			f.Len = rows
		}
	}
}

// append converts s by the column's type; false leaves the vector as it was.
//
//tidy:allow-long a flat switch over the types
func (d *Decoder) append(c *col, s []byte) bool {
	v := c.v
	switch c.typ.Kind {
	case schema.String, schema.Binary:
		v.Bytes = append(v.Bytes, s...)
		v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
		return true
	case schema.Int64:
		n, ok := whole(s, 64)
		if ok {
			v.I64 = append(v.I64, n)
		}
		return ok
	case schema.Int32:
		n, ok := whole(s, 32)
		if ok {
			v.I32 = append(v.I32, int32(n))
		}
		return ok
	case schema.Int16:
		n, ok := whole(s, 16)
		if ok {
			v.I16 = append(v.I16, int16(n))
		}
		return ok
	case schema.Int8:
		n, ok := whole(s, 8)
		if ok {
			v.I8 = append(v.I8, int8(n))
		}
		return ok
	case schema.Float64:
		f, ok := d.float(s)
		if ok {
			v.F64 = append(v.F64, f)
		}
		return ok
	case schema.Float32:
		f, ok := d.float(s)
		if ok {
			if g, plain := text.ParseFloat(s); plain {
				v.F32 = append(v.F32, g)
			} else {
				v.F32 = append(v.F32, float32(f))
			}
		}
		return ok
	case schema.Boolean:
		b, ok := boolean(s)
		if ok {
			v.Bool = append(v.Bool, b)
		}
		return ok
	case schema.Decimal:
		n, st := text.ParseDecimalExact(record.WithoutCommas(s, &d.commas), c.typ.Precision, c.typ.Scale)
		switch {
		case st != text.DecimalOK:
			return false
		case c.phys == column.PhysI64:
			v.I64 = append(v.I64, int64(n.Lo))
		default:
			v.I128 = append(v.I128, n)
		}
		return true
	case schema.Date:
		n, ok := d.fmt.ParseDate(s)
		if ok {
			v.I32 = append(v.I32, n)
		}
		return ok
	case schema.Timestamp:
		n, ok := d.fmt.ParseTimestamp(s)
		if ok {
			v.I64 = append(v.I64, n)
		}
		return ok
	case schema.TimestampNTZ:
		n, ok := d.fmt.ParseNTZ(s)
		if ok {
			v.I64 = append(v.I64, n)
		}
		return ok
	}
	return c.appendOther(s)
}

// appendOther converts the less usual types.
func (c *col) appendOther(s []byte) bool {
	switch c.typ.Kind {
	case schema.YearMonthInterval:
		n, st := text.ParseYearMonth(s, c.typ.From, c.typ.To)
		if st == text.IntervalOK {
			c.v.I32 = append(c.v.I32, n)
		}
		return st == text.IntervalOK
	case schema.DayTimeInterval:
		n, st := text.ParseDayTime(s, c.typ.From, c.typ.To)
		if st == text.IntervalOK {
			c.v.I64 = append(c.v.I64, n)
		}
		return st == text.IntervalOK
	case schema.CalendarInterval:
		iv, st := text.ParseInterval(s)
		if st == text.IntervalOK {
			c.appendInterval(iv)
		}
		return st == text.IntervalOK
	}
	return c.typ.Kind == schema.Void
}

// whole reads an integer without blanks around.
func whole(s []byte, bits uint) (int64, bool) {
	if len(s) == 0 || s[0] <= ' ' || s[len(s)-1] <= ' ' {
		return 0, false
	}
	return text.ParseInt(s, bits)
}

func boolean(s []byte) (v, ok bool) {
	switch {
	case bytes.EqualFold(s, []byte("true")):
		return true, true
	case bytes.EqualFold(s, []byte("false")):
		return false, true
	}
	return false, false
}

// float reads the option's words and what Java's parser takes.
func (d *Decoder) float(s []byte) (float64, bool) {
	switch string(s) {
	case d.opts.NaN:
		return math.NaN(), true
	case d.opts.PositiveInf:
		return math.Inf(1), true
	case d.opts.NegativeInf:
		return math.Inf(-1), true
	}
	f, ok := text.ParseDouble(s)
	if ok && (math.IsNaN(f) || math.IsInf(f, 0)) { // the words only as Java spells them
		switch string(bytes.TrimLeft(text.Trim(s), "+-")) {
		case "NaN", "Infinity":
		default:
			_, ok = text.ParseNumber(text.Trim(s))
		}
	}
	return f, ok
}
