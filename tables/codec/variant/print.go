package variant

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"time"

	"pipelines/tables/column"
	"pipelines/tables/text"
)

// AppendJSON appends a value as JSON text, as casts to STRING, to_json and the
// shell show it. Points in time are shown in zone; nil is UTC.
func AppendJSON(dst, value, metadata []byte, zone *text.Zone) []byte {
	return Value{value, metadata}.AppendJSON(dst, zone)
}

var utc = text.NewZone(time.UTC)

// AppendJSON appends the value as JSON text.
func (v Value) AppendJSON(dst []byte, zone *text.Zone) []byte {
	if zone == nil {
		zone = utc
	}
	w := walk{left: len(v.value)}
	return w.appendJSON(dst, v, zone, 0)
}

func (w *walk) appendJSON(dst []byte, v Value, zone *text.Zone, depth int) []byte {
	kind := v.Kind()
	if !w.enter(depth) {
		kind = Invalid
	}
	switch kind {
	case Object:
		dst = append(dst, '{')
		l := v.layout()
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(text.AppendJSONString(dst, v.name(l, i)), ':')
			dst = w.appendJSON(dst, v.element(l, i), zone, depth+1)
		}
		return append(dst, '}')
	case Array:
		dst = append(dst, '[')
		l := v.layout()
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = w.appendJSON(dst, v.element(l, i), zone, depth+1)
		}
		return append(dst, ']')
	case String:
		return text.AppendJSONString(dst, v.Str())
	case Bool, Int, Decimal:
		return v.AppendText(dst, zone)
	case Double, Float:
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return v.AppendText(dst, zone)
		}
	case Binary:
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), v.Str())
		return append(dst, '"')
	case Date, Timestamp, TimestampNTZ, UUID:
	default:
		return append(dst, "null"...)
	}
	return append(v.AppendText(append(dst, '"'), zone), '"')
}

// AppendText appends a scalar without quotes.
func (v Value) AppendText(dst []byte, zone *text.Zone) []byte {
	switch v.Kind() {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return text.AppendBool(dst, v.Bool())
	case Int:
		return text.AppendInt(dst, v.Int())
	case Double:
		return text.AppendDouble(dst, v.Float())
	case Float:
		return text.AppendFloat(dst, float32(v.Float()))
	case Decimal:
		x, scale := v.Decimal()
		return appendPlain(dst, x, scale)
	case Date:
		return text.AppendDate(dst, int32(v.Int()))
	case Timestamp:
		m := v.Int()
		local := zone.ToLocal(m)
		return appendOffset(text.AppendTimestampNTZ(dst, local), (local-m)/text.MicrosPerSecond)
	case TimestampNTZ:
		return text.AppendTimestampNTZ(dst, v.Int())
	case String, Binary:
		return append(dst, v.Str()...)
	case UUID:
		u := v.Str()
		if len(u) != 16 {
			return dst
		}
		for k, n := 0, 0; n < 16; n++ {
			if k == 4 || k == 6 || k == 8 || k == 10 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, u[n:n+1])
			k++
		}
		return dst
	}
	return v.AppendJSON(dst, zone)
}

// appendPlain appends a decimal without the zeros at its end.
func appendPlain(dst []byte, x column.Int128, scale int) []byte {
	start := len(dst)
	dst = text.AppendDecimal(dst, x, scale)
	if scale == 0 {
		return dst
	}
	n := len(dst)
	for n > start && dst[n-1] == '0' {
		n--
	}
	if dst[n-1] == '.' {
		n--
	}
	return dst[:n]
}

func appendOffset(dst []byte, seconds int64) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	h, m := seconds/3600, seconds/60%60
	return append(dst, sign, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10))
}
