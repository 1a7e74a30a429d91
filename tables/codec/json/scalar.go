package json

import (
	"encoding/base64"
	"math"

	"pipelines/tables/codec/record"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// appendText appends a scanned string to the text vector of nd.
func (d *Decoder) appendText(nd *node, r int, sp span) {
	nd.seek(r)
	v := nd.v
	if sp.escaped {
		v.Bytes = unescape(v.Bytes, d.b[sp.from:sp.to])
	} else {
		v.Bytes = append(v.Bytes, d.b[sp.from:sp.to]...)
	}
	v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	nd.n = r + 1
}

// textValue stores a string by the type of nd.
//
//tidy:allow-long a flat switch over the types
func (d *Decoder) textValue(nd *node, r int, sp span) bool {
	if nd.typ.Kind == schema.String {
		d.appendText(nd, r, sp)
		return true
	}
	s := d.b[sp.from:sp.to]
	if sp.escaped {
		d.scratch = unescape(d.scratch[:0], s)
		s = d.scratch
	}
	if len(s) == 0 && nd.typ.Kind != schema.Binary {
		return false
	}
	switch nd.typ.Kind {
	case schema.Timestamp:
		us, ok := d.fmt.ParseTimestamp(s)
		return ok && d.putI64(nd, r, us)
	case schema.TimestampNTZ:
		us, ok := d.fmt.ParseNTZ(s)
		return ok && d.putI64(nd, r, us)
	case schema.Date:
		days, ok := parseDate(&d.fmt, s)
		return ok && d.putI32(nd, r, days)
	case schema.Float32:
		f, ok := d.specialFloat(s)
		if ok {
			nd.seek(r)
			nd.v.F32 = append(nd.v.F32, float32(f))
			nd.n = r + 1
		}
		return ok
	case schema.Float64:
		f, ok := d.specialFloat(s)
		if ok {
			nd.seek(r)
			nd.v.F64 = append(nd.v.F64, f)
			nd.n = r + 1
		}
		return ok
	case schema.Decimal:
		return d.decimalValue(nd, r, record.WithoutCommas(s, &d.commas))
	case schema.Binary:
		return d.binaryValue(nd, r, s)
	case schema.YearMonthInterval:
		m, st := text.ParseYearMonth(s, nd.typ.From, nd.typ.To)
		return st == text.IntervalOK && d.putI32(nd, r, m)
	case schema.DayTimeInterval:
		us, st := text.ParseDayTime(s, nd.typ.From, nd.typ.To)
		return st == text.IntervalOK && d.putI64(nd, r, us)
	case schema.CalendarInterval:
		iv, st := text.ParseInterval(s)
		if st != text.IntervalOK {
			return false
		}
		nd.seek(r)
		c := nd.v.Children
		c[0].I32, c[1].I32, c[2].I64 = append(c[0].I32, iv.Months), append(c[1].I32, iv.Days), append(c[2].I64, iv.Micros)
		nd.n = r + 1
		return true
	case schema.Void:
		return true
	}
	return false
}

// parseDate reads a date by the pattern, or by the rules of casts with the old
// day numbers as a last resort.
func parseDate(f *text.Formats, s []byte) (int32, bool) {
	if days, ok := f.ParseDate(s); ok || f.Date != nil {
		return days, ok
	}
	const gregorian = -141427 // older day numbers were of the Julian calendar
	n, ok := text.ParseInt(s, 32)
	return int32(n), ok && n >= gregorian && s[0] > ' ' && s[len(s)-1] > ' '
}

// specialFloat reads the quoted forms of NaN and the infinities.
func (d *Decoder) specialFloat(s []byte) (float64, bool) {
	if !d.opts.AllowNonNumericNumbers {
		return 0, false
	}
	switch string(s) {
	case "NaN":
		return math.NaN(), true
	case "+INF", "Infinity", "+Infinity":
		return math.Inf(1), true
	case "-INF", "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

func (d *Decoder) putI64(nd *node, r int, v int64) bool {
	if nd.n != r {
		nd.seek(r)
	}
	nd.v.I64 = append(nd.v.I64, v)
	nd.n = r + 1
	return true
}

func (d *Decoder) putI32(nd *node, r int, v int32) bool {
	if nd.n != r {
		nd.seek(r)
	}
	nd.v.I32 = append(nd.v.I32, v)
	nd.n = r + 1
	return true
}

func (d *Decoder) decimalValue(nd *node, r int, s []byte) bool {
	v, st := text.ParseDecimalExact(s, nd.typ.Precision, nd.typ.Scale)
	if st != text.DecimalOK {
		return false
	}
	if nd.typ.Precision <= 18 {
		return d.putI64(nd, r, int64(v.Lo))
	}
	nd.seek(r)
	nd.v.I128 = append(nd.v.I128, v)
	nd.n = r + 1
	return true
}

func (d *Decoder) binaryValue(nd *node, r int, s []byte) bool {
	nd.seek(r)
	v := nd.v
	out, err := base64.StdEncoding.AppendDecode(v.Bytes, s)
	if err != nil {
		return false
	}
	v.Bytes = out
	v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	nd.n = r + 1
	return true
}

func (d *Decoder) boolValue(nd *node, r int, b bool) bool {
	switch nd.typ.Kind {
	case schema.Boolean:
		nd.seek(r)
		nd.v.Bool = append(nd.v.Bool, b)
	case schema.String:
		nd.seek(r)
		nd.v.Bytes = text.AppendBool(nd.v.Bytes, b)
		nd.v.Offsets = append(nd.v.Offsets, int32(len(nd.v.Bytes)))
	default:
		return nd.typ.Kind == schema.Void
	}
	nd.n = r + 1
	return true
}

// numberValue scans a number and stores it by the type of nd.
func (d *Decoder) numberValue(nd *node, r, i int) (int, bool) {
	n, next := d.num(i)
	if next < 0 {
		return -1, false
	}
	s := d.b[n.from:n.to]
	switch kind := nd.typ.Kind; kind {
	case schema.Int64:
		v, ok := wholeNumber(s, n)
		return next, ok && d.putI64(nd, r, v)
	case schema.Int32:
		v, ok := wholeNumber(s, n)
		return next, ok && v == int64(int32(v)) && d.putI32(nd, r, int32(v))
	case schema.Timestamp:
		v, ok := wholeNumber(s, n)
		return next, ok && d.putI64(nd, r, v*text.MicrosPerSecond)
	case schema.Float64:
		f, ok := floatNumber(s, n)
		if ok {
			nd.seek(r)
			nd.v.F64 = append(nd.v.F64, f)
			nd.n = r + 1
		}
		return next, ok
	case schema.Decimal:
		return next, n.word == 0 && d.decimalValue(nd, r, s)
	case schema.String:
		nd.seek(r)
		if d.opts.RawText {
			nd.v.Bytes = append(nd.v.Bytes, s...)
		} else {
			nd.v.Bytes = appendNumberText(nd.v.Bytes, s, n)
		}
		nd.v.Offsets = append(nd.v.Offsets, int32(len(nd.v.Bytes)))
		nd.n = r + 1
		return next, true
	}
	return next, d.smallNumber(nd, r, s, n)
}

// smallNumber stores a number in the less usual types.
func (d *Decoder) smallNumber(nd *node, r int, s []byte, n number) bool {
	switch nd.typ.Kind {
	case schema.Int16:
		v, ok := wholeNumber(s, n)
		if !ok || v != int64(int16(v)) {
			return false
		}
		nd.seek(r)
		nd.v.I16 = append(nd.v.I16, int16(v))
	case schema.Int8:
		v, ok := wholeNumber(s, n)
		if !ok || v < math.MinInt8 || v > math.MaxUint8 { // 128 to 255 wrap, as in Jackson
			return false
		}
		nd.seek(r)
		nd.v.I8 = append(nd.v.I8, int8(v))
	case schema.Float32:
		var f float32
		ok := true
		if n.word != 0 {
			f = float32(wordFloat(n))
		} else {
			f, ok = text.ParseFloat(s)
		}
		if !ok {
			return false
		}
		nd.seek(r)
		nd.v.F32 = append(nd.v.F32, f)
	case schema.Void:
		return true
	default:
		return false
	}
	nd.n = r + 1
	return true
}

// wholeNumber reads an integer token; ok is false for others and beyond 64
// bits.
func wholeNumber(s []byte, n number) (v int64, ok bool) {
	if !n.whole {
		return 0, false
	}
	if len(s) > 18 {
		return text.ParseInt64(s)
	}
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	for _, c := range s {
		v = v*10 + int64(c-'0')
	}
	if neg {
		v = -v
	}
	return v, true
}

func wordFloat(n number) float64 {
	switch n.word {
	case 'N':
		return math.NaN()
	case '-':
		return math.Inf(-1)
	}
	return math.Inf(1)
}

func floatNumber(s []byte, n number) (float64, bool) {
	if n.word != 0 {
		return wordFloat(n), true
	}
	return text.ParseNumber(s)
}

// appendNumberText prints a number again: whole ones as they are, others as a
// double, NaN and infinities quoted.
func appendNumberText(dst, s []byte, n number) []byte {
	switch {
	case n.word != 0:
		dst = append(dst, '"')
		dst = text.AppendDouble(dst, wordFloat(n))
		return append(dst, '"')
	case n.whole:
		neg := s[0] == '-'
		if neg {
			s = s[1:]
		}
		for len(s) > 1 && s[0] == '0' {
			s = s[1:]
		}
		if neg && s[0] != '0' {
			dst = append(dst, '-')
		}
		return append(dst, s...)
	}
	f, _ := text.ParseNumber(s)
	if math.IsInf(f, 0) {
		dst = append(dst, '"')
		dst = text.AppendDouble(dst, f)
		return append(dst, '"')
	}
	return text.AppendDouble(dst, f)
}

// other handles an object or array where the type wants something else: its
// text for STRING, a misfit else.
func (d *Decoder) other(nd *node, r, i int) (int, bool) {
	if nd.typ.Kind == schema.String {
		nd.seek(r)
		var out []byte
		var next int
		if d.opts.RawText {
			if next = d.skip(i); next >= 0 {
				out = append(nd.v.Bytes, d.b[i:next]...)
			}
		} else {
			out, next = d.reprint(nd.v.Bytes, i)
		}
		if next < 0 {
			return -1, false
		}
		nd.v.Bytes = out
		nd.v.Offsets = append(nd.v.Offsets, int32(len(nd.v.Bytes)))
		nd.n = r + 1
		return next, true
	}
	next := d.skip(i)
	return next, nd.typ.Kind == schema.Void
}
