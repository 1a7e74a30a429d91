package funcs

import (
	"slices"
	"strconv"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

type vector = column.Vector

// signed are the integer payloads.
type signedInt interface {
	~int8 | ~int16 | ~int32 | ~int64
}

type floating interface{ ~float32 | ~float64 }

// slice gives the payload of a vector.
type slice[T any] func(v *vector) []T

func bools(v *vector) []bool          { return v.Bool }
func i8s(v *vector) []int8            { return v.I8 }
func i16s(v *vector) []int16          { return v.I16 }
func i32s(v *vector) []int32          { return v.I32 }
func i64s(v *vector) []int64          { return v.I64 }
func i128s(v *vector) []column.Int128 { return v.I128 }
func f32s(v *vector) []float32        { return v.F32 }
func f64s(v *vector) []float64        { return v.F64 }

// live calls f for each row to compute that is not null so far in out.
func (c *Ctx) live(out *vector, f func(i int)) {
	switch {
	case c.Sel == nil && out.Nulls == nil:
		for i := range c.Rows {
			f(i)
		}
	case c.Sel == nil:
		for i := range c.Rows {
			if !out.Nulls.Get(i) {
				f(i)
			}
		}
	default:
		for _, i := range c.Sel {
			if !out.Nulls.Get(int(i)) {
				f(int(i))
			}
		}
	}
}

// Limits of texts: the bytes of one value, and of a column of one batch, whose
// offsets hold 31 bits.
const (
	maxText  = 1 << 28
	maxTexts = 1 << 30
)

// textRoom is how many bytes a function may still append for a row that begins
// at start; what it appends beyond fails the row in appendRows.
func textRoom(b []byte, start int) int { return min(maxText-(len(b)-start), maxTexts-len(b)) + 1 }

// repeatText appends s n times, or fails the row when that is too much.
func (c *Ctx) repeatText(out *vector, i int, b, s []byte, n int64) []byte {
	if len(s) == 0 || n <= 0 {
		return b
	}
	if n > int64(maxText/len(s)) {
		c.Fail(out, i, errTextSize(n))
		return b
	}
	b = slices.Grow(b, int(n)*len(s))
	for range n {
		b = append(b, s...)
	}
	return b
}

func errTextSize(n int64) *Error {
	return NewError("COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION", "Can't create a text of "+strconv.FormatInt(n, 10)+" bytes or more: the limit is "+
		strconv.Itoa(maxText)+" bytes for a value, and "+strconv.Itoa(maxTexts)+" for the values of a batch.", map[string]string{"numberOfElements": strconv.FormatInt(n, 10)})
}

// appendRows fills a string or binary vector: f appends the bytes of one row
// to b and returns it. Rows outside the selection and null rows stay empty.
//
// A text that is too large, by itself or with the others of the batch, fails
// its row.
func (c *Ctx) appendRows(out *vector, f func(i int, b []byte) []byte) {
	out.Offsets, out.Bytes = out.Offsets[:1], out.Bytes[:0]
	add := func(i int) {
		start := len(out.Bytes)
		out.Bytes = f(i, out.Bytes)
		if n := len(out.Bytes); n > maxTexts || n-start > maxText {
			out.Bytes = out.Bytes[:start]
			c.Fail(out, i, errTextSize(int64(n-start)))
		}
	}
	if c.Sel == nil {
		for i := range c.Rows {
			if out.Nulls == nil || !out.Nulls.Get(i) {
				add(i)
			}
			out.Offsets = append(out.Offsets, int32(len(out.Bytes)))
		}
	} else {
		at := int32(0)
		for _, i := range c.Sel {
			for ; at < i; at++ {
				out.Offsets = append(out.Offsets, int32(len(out.Bytes)))
			}
			if !out.Nulls.Get(int(i)) {
				add(int(i))
			}
			out.Offsets = append(out.Offsets, int32(len(out.Bytes)))
			at = i + 1
		}
		for ; int(at) < c.Rows; at++ {
			out.Offsets = append(out.Offsets, int32(len(out.Bytes)))
		}
	}
	out.Len = c.Rows
}

// appendLists fills an array or map vector: f appends the elements of one row
// to the children. Rows outside the selection and null rows stay empty.
func (c *Ctx) appendLists(out *vector, f func(i int)) {
	out.Offsets = out.Offsets[:1]
	end := func() { out.Offsets = append(out.Offsets, int32(out.Children[0].Len)) }
	if c.Sel == nil {
		for i := range c.Rows {
			if !out.Nulls.Get(i) {
				f(i)
			}
			end()
		}
	} else {
		at := int32(0)
		for _, i := range c.Sel {
			for ; at < i; at++ {
				end()
			}
			if !out.Nulls.Get(int(i)) {
				f(int(i))
			}
			end()
			at = i + 1
		}
		for ; int(at) < c.Rows; at++ {
			end()
		}
	}
	out.Len = c.Rows
}

// intAt reads an integer of any width.
func intAt(v *vector, i int) int64 {
	i = v.Row(i)
	switch column.PhysicalOf(v.Type) {
	case column.PhysI8:
		return int64(v.I8[i])
	case column.PhysI16:
		return int64(v.I16[i])
	case column.PhysI32:
		return int64(v.I32[i])
	case column.PhysI64:
		return v.I64[i]
	}
	panic("bug: funcs: no integer: " + v.Type.String())
}

// constString returns the value of a constant string argument.
func constString(a Arg) (string, bool) {
	if a.Const == nil || a.Const.IsNull(0) || a.Type.Kind != schema.String {
		return "", false
	}
	return string(a.Const.Str(0)), true
}

// castConst is a constant argument as a value of another type, under the
// session's mode; nil where there is no such cast.
func castConst(s *Session, a Arg, to schema.Type) (*vector, error) {
	if a.Type.Equal(to) {
		return a.Const, nil
	}
	out := column.New(to)
	if a.Const.IsNull(0) {
		out.AppendNull()
		return out, nil
	}
	mode := CastLegacy
	if s.ANSI {
		mode = CastANSI
	}
	k := castKernel(s, a.Type, to, mode)
	if k == nil {
		return nil, nil
	}
	one := column.New(a.Type)
	column.AppendRow(one, a.Const, 0)
	castChild(&Ctx{Pool: column.NewPool(), Session: s}, k, one, out)
	if err := out.Errs.At(0); err != nil {
		return nil, asError(err)
	}
	return out, nil
}

// constInt returns the value of a constant integer argument.
func constInt(a Arg) (int64, bool) {
	if a.Const == nil || a.Const.IsNull(0) || !a.Type.IsInteger() {
		return 0, false
	}
	return intAt(a.Const, 0), true
}
