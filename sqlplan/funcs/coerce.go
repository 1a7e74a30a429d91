package funcs

import (
	"strings"

	"pipelines/tables/schema"
)

// typ is short for a type without parameters.
func typ(k schema.Kind) schema.Type { return schema.Of(k) }

var (
	tBool    = typ(schema.Boolean)
	tInt     = typ(schema.Int32)
	tBigint  = typ(schema.Int64)
	tDouble  = typ(schema.Float64)
	tString  = typ(schema.String)
	tBinary  = typ(schema.Binary)
	tDate    = typ(schema.Date)
	tTime    = typ(schema.Timestamp)
	tTimeNTZ = typ(schema.TimestampNTZ)
	tVoid    = typ(schema.Void)
)

const maxPrecision = 38

// boundedDecimal applies Spark's rule for results beyond 38 digits: digits
// after the point are given up first, but not below six.
func boundedDecimal(p, s int) schema.Type {
	if p <= maxPrecision {
		return schema.DecimalOf(p, s)
	}
	whole := p - s
	return schema.DecimalOf(maxPrecision, max(maxPrecision-whole, min(s, 6)))
}

// cappedDecimal applies Spark's rule for the results of sum and avg: the scale
// is kept, what does not fit is an overflow.
func cappedDecimal(p, s int) schema.Type {
	return schema.DecimalOf(min(p, maxPrecision), min(s, maxPrecision))
}

// widerDecimal is the decimal that holds both.
func widerDecimal(a, b schema.Type) schema.Type {
	s := max(a.Scale, b.Scale)
	p := max(a.Precision-a.Scale, b.Precision-b.Scale) + s
	if p > maxPrecision { // keep the whole digits
		s = max(0, s-(p-maxPrecision))
		p = maxPrecision
	}
	return schema.DecimalOf(p, s)
}

// decimalFor is the decimal that holds all values of an integer type.
func decimalFor(t schema.Type) schema.Type {
	switch t.Kind {
	case schema.Int8:
		return schema.DecimalOf(3, 0)
	case schema.Int16:
		return schema.DecimalOf(5, 0)
	case schema.Int32:
		return schema.DecimalOf(10, 0)
	case schema.Int64:
		return schema.DecimalOf(20, 0)
	}
	return t
}

// decimalForArg is decimalFor, where an integer literal counts with its own
// digits.
func decimalForArg(a Arg) schema.Type {
	if !a.Literal || a.Const == nil || a.Const.IsNull(0) || !a.Type.IsInteger() || a.Type.Kind == schema.Int8 { // Spark forgets TINYINT here
		return decimalFor(a.Type)
	}
	n, digits := intAt(a.Const, 0), 1
	for n /= 10; n != 0; n /= 10 {
		digits++
	}
	return schema.DecimalOf(digits, 0)
}

// CommonType is the type to which values of both types are brought when they
// meet (CASE, coalesce, UNION, IN, array, comparison), by the rules of the
// session's mode; ok is false when there is none.
func CommonType(s *Session, a, b schema.Type) (schema.Type, bool) {
	if t, ok := tightest(s, a, b); ok {
		return t, true
	}
	if a.Kind == schema.String || b.Kind == schema.String {
		if t, ok := promoteString(s, a, b); ok {
			return t, true
		}
	}
	return commonNested(s, a, b)
}

// CommonOf is CommonType over several types.
func CommonOf(s *Session, types []schema.Type) (schema.Type, bool) {
	t := tVoid
	for _, x := range types { // strings last, so that their order does not matter
		if x.Kind != schema.String {
			var ok bool
			if t, ok = CommonType(s, t, x); !ok {
				return t, false
			}
		}
	}
	for _, x := range types {
		if x.Kind == schema.String {
			var ok bool
			if t, ok = CommonType(s, t, x); !ok {
				return t, false
			}
		}
	}
	return t, true
}

// tightest finds a common type without strings turning into anything else.
func tightest(s *Session, a, b schema.Type) (schema.Type, bool) {
	switch {
	case a.Kind == schema.String && b.Kind == schema.String:
		return tString, true
	case a.Equal(b):
		return a, true
	case a.Kind == schema.Void:
		return b, true
	case b.Kind == schema.Void:
		return a, true
	case a.IsNumeric() && b.IsNumeric():
		return commonNumeric(s, a, b), true
	case a.Kind == b.Kind && (a.Kind == schema.DayTimeInterval || a.Kind == schema.YearMonthInterval):
		a.From, a.To = min(a.From, b.From), max(a.To, b.To)
		return a, true
	case isTemporal(a) && isTemporal(b):
		return typ(commonTemporal(a.Kind, b.Kind)), true
	}
	return schema.Type{}, false
}

func commonTemporal(a, b schema.Kind) schema.Kind {
	if a == schema.Timestamp || b == schema.Timestamp {
		return schema.Timestamp
	}
	return schema.TimestampNTZ // date with ntz; equal kinds never come here
}

func isTemporal(t schema.Type) bool {
	return t.Kind == schema.Date || t.Kind == schema.Timestamp || t.Kind == schema.TimestampNTZ
}

func isInterval(t schema.Type) bool {
	return t.Kind == schema.DayTimeInterval || t.Kind == schema.YearMonthInterval || t.Kind == schema.CalendarInterval
}

func commonNumeric(s *Session, a, b schema.Type) schema.Type {
	if a.Kind > b.Kind {
		a, b = b, a
	}
	switch {
	case b.Kind == schema.Decimal && a.Kind == schema.Decimal:
		return widerDecimal(a, b)
	case b.Kind == schema.Decimal && a.IsFloat():
		return tDouble
	case b.Kind == schema.Decimal:
		return widerDecimal(decimalFor(a), b)
	case b.Kind == schema.Float32 && s.ANSI && a.IsInteger():
		return tDouble
	}
	return b
}

// promoteString finds the common type of a string and something else.
func promoteString(s *Session, a, b schema.Type) (schema.Type, bool) {
	if a.Kind == schema.String {
		a = b
	}
	if a.IsNested() || isInterval(a) && s.ANSI { // which of the intervals is not known
		return schema.Type{}, false
	}
	if !s.ANSI {
		if a.Kind == schema.Boolean || a.Kind == schema.Binary {
			return schema.Type{}, false
		}
		return tString, true
	}
	switch {
	case a.IsInteger():
		return tBigint, true
	case a.IsNumeric():
		return tDouble, true
	}
	return a, true
}

func commonNested(s *Session, a, b schema.Type) (schema.Type, bool) {
	if a.Kind != b.Kind {
		return schema.Type{}, false
	}
	switch a.Kind {
	case schema.Array:
		e, ok := CommonType(s, *a.Elem, *b.Elem)
		return schema.ArrayOf(e, a.ElemNullable || b.ElemNullable), ok
	case schema.Map:
		k, ok := CommonType(s, *a.Key, *b.Key)
		if !ok || mayTurnNull(*a.Key, k) || mayTurnNull(*b.Key, k) {
			return schema.Type{}, false
		}
		v, ok := CommonType(s, *a.Elem, *b.Elem)
		return schema.MapOf(k, v, a.ElemNullable || b.ElemNullable), ok
	case schema.Struct:
		if len(a.Fields) != len(b.Fields) {
			return schema.Type{}, false
		}
		fields := make([]schema.Field, len(a.Fields))
		for i, f := range a.Fields {
			g := b.Fields[i]
			if !strings.EqualFold(f.Name, g.Name) {
				return schema.Type{}, false
			}
			t, ok := CommonType(s, f.Type, g.Type)
			if !ok {
				return schema.Type{}, false
			}
			fields[i] = schema.Field{Name: f.Name, Type: t, Nullable: f.Nullable || g.Nullable}
		}
		return schema.StructOf(fields...), true
	}
	return schema.Type{}, false
}

// mayTurnNull says that a cast makes NULL of some values where it does not fail,
// so that keys of maps are not cast so.
func mayTurnNull(from, to schema.Type) bool {
	switch {
	case from.SameShape(to):
		return false
	case from.Kind == schema.String:
		return to.Kind != schema.Binary
	case from.IsFloat():
		return to.IsInteger() || to.Kind == schema.Decimal || to.Kind == schema.Timestamp
	}
	return false
}

// Implicit reports whether an argument of type from may be given where type to
// is asked for, by an inserted cast.
func Implicit(s *Session, from, to schema.Type) bool {
	switch {
	case from.SameShape(to), from.Kind == schema.Void:
		return true
	case from.IsNested() || to.IsNested():
		return implicitNested(s, from, to)
	case from.Kind == schema.String:
		return to.Kind != schema.CalendarInterval && to.Kind != schema.Variant && (s.ANSI || to.Kind != schema.Boolean)
	case to.Kind == schema.String:
		return from.Kind != schema.CalendarInterval || s.ANSI
	case from.IsNumeric() && to.IsNumeric():
		return true
	case isTemporal(from) && isTemporal(to):
		return true
	case from.Kind == to.Kind:
		return from.Kind == schema.DayTimeInterval || from.Kind == schema.YearMonthInterval
	}
	return false
}

func implicitNested(s *Session, from, to schema.Type) bool {
	if from.Kind != to.Kind {
		return false
	}
	switch from.Kind {
	case schema.Array:
		return Implicit(s, *from.Elem, *to.Elem)
	case schema.Map:
		return Implicit(s, *from.Key, *to.Key) && Implicit(s, *from.Elem, *to.Elem)
	case schema.Struct:
		if len(from.Fields) != len(to.Fields) {
			return false
		}
		for i := range from.Fields {
			if !Implicit(s, from.Fields[i].Type, to.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	return false
}
