package funcs

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"pipelines/tables/schema"
)

// StoreAssignable reports whether a value of type from may be put into a
// column of type to under Spark's ANSI store assignment.
func StoreAssignable(from, to schema.Type) bool {
	switch {
	case from.Kind == schema.Void, from.SameShape(to) && !from.IsNested(), from.IsNumeric() && to.IsNumeric():
		return true
	case to.Kind == schema.String:
		return !from.IsNested()
	case isTemporal(from) && isTemporal(to):
		return true
	case from.Kind != to.Kind:
		return false
	}
	switch to.Kind {
	case schema.YearMonthInterval, schema.DayTimeInterval:
		return true
	case schema.Array:
		return StoreAssignable(*from.Elem, *to.Elem)
	case schema.Map:
		return StoreAssignable(*from.Key, *to.Key) && StoreAssignable(*from.Elem, *to.Elem)
	case schema.Struct:
		if len(from.Fields) != len(to.Fields) {
			return false
		}
		for i := range from.Fields {
			if !StoreAssignable(from.Fields[i].Type, to.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	return false
}

// BindStore is the cast of a value into a table's column: ANSI whatever the
// session says, and a value that does not fit names the insert.
func BindStore(s *Session, arg Arg, to schema.Type) (*Bound, error) {
	b, err := BindCast(s, arg, to, CastANSI)
	if err != nil {
		return nil, err
	}
	if to.Kind == schema.String && to.Length > 0 && arg.Type.Kind != schema.Void {
		b.CanFail, b.Kernel = true, limited(arg.Type, to, b.Kernel)
	}
	cast := b.Kernel
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		cast(c, args, out)
		if !out.Errs.Any() {
			return
		}
		found := out.Errs
		out.Errs = nil
		found.Each(func(row int, err error) { c.Fail(out, row, storeError(asError(err), arg.Type, to)) })
	}
	return b, nil
}

// limited keeps texts within the length of a CHAR(n) or VARCHAR(n) column:
// blanks behind it are cut, other characters are an error. CHAR(n) is filled up
// with blanks.
func limited(from, to schema.Type, cast Kernel) Kernel {
	n := to.Length
	if from.Kind != schema.String { // a number or a date has no blanks to cut; FitQuery makes it a text for CHAR
		return func(c *Ctx, args []*vector, out *vector) {
			cast(c, args, out)
			c.live(out, func(i int) {
				if utf8.RuneCount(out.Str(i)) > n {
					c.Fail(out, i, lengthError(n))
				}
			})
		}
	}
	return func(c *Ctx, args []*vector, out *vector) {
		c.appendRows(out, func(i int, b []byte) []byte {
			s := args[0].Str(i)
			more := utf8.RuneCount(s) - n
			if more > 0 {
				for ; more > 0 && s[len(s)-1] == ' '; more-- {
					s = s[:len(s)-1]
				}
				if more > 0 {
					c.Fail(out, i, lengthError(n))
					return b
				}
			}
			b = append(b, s...)
			for ; to.Char && more < 0; more++ {
				b = append(b, ' ')
			}
			return b
		})
	}
}

func lengthError(n int) *Error {
	limit := strconv.Itoa(n)
	return NewError("EXCEED_LIMIT_LENGTH", "Exceeds char/varchar type length limitation: "+limit+".", map[string]string{"limit": limit})
}

// storeError is what a failed cast means in an insert.
func storeError(e *Error, from, to schema.Type) *Error {
	if e.Class != "CAST_OVERFLOW" && !strings.HasPrefix(e.Class, "NUMERIC_VALUE_OUT_OF_RANGE") {
		return e
	}
	return NewError("CAST_OVERFLOW_IN_TABLE_INSERT", "Fail to assign a value of "+quoteType(from)+" type to a column of the "+quoteType(to)+
		" type due to an overflow. Use `try_cast` on the input value to tolerate overflow and return NULL instead.",
		map[string]string{"sourceType": quoteType(from), "targetType": quoteType(to)})
}
