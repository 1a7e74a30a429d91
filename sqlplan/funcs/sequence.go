package funcs

import (
	"strconv"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

var sequenceFunctions = []*Function{
	custom("sequence", "array", "sequence(start, stop[, step])", "The values from start to stop, both included: integers, dates or timestamps.", bindSequence).
		example("SELECT sequence(1, 5)", "[1,2,3,4,5]"),
}

func bindSequence(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("sequence", 2, 3, len(args)); err != nil {
		return nil, err
	}
	b := &Bound{CanFail: true}
	for _, a := range args {
		b.Nullable = b.Nullable || a.Nullable
	}
	t, ok := CommonType(s, args[0].Type, args[1].Type)
	switch {
	case ok && (t.IsInteger() || t.Kind == schema.Void):
		if t.Kind == schema.Void {
			t = tInt
		}
		if len(args) == 3 {
			t, ok = CommonType(s, t, args[2].Type)
		}
		if ok && t.IsInteger() {
			b.Args, b.Result, b.Kernel = repeatType(t, len(args)), schema.ArrayOf(t, false), sequenceInts
			return b, nil
		}
	case ok && isTemporal(t):
		b.Args, b.Result, b.Kernel = []schema.Type{t, t}, schema.ArrayOf(t, false), sequenceTimes
		if len(args) == 2 {
			return b, nil
		}
		step := args[2].Type
		if step.Kind == schema.Void {
			step = typ(schema.DayTimeInterval)
		}
		if isInterval(step) {
			b.Args = append(b.Args, step)
			return b, nil
		}
	}
	return nil, errMismatch("SEQUENCE_WRONG_INPUT_TYPES", callText("sequence", args),
		"`sequence` uses the wrong parameter type. The parameter type must conform to: 1. The start and stop expressions must resolve to the same type. "+
			`2. If start and stop expressions resolve to the ("TIMESTAMP" or "TIMESTAMP_NTZ" or "DATE") type, then the step expression must resolve to the `+
			`("INTERVAL" or "INTERVAL YEAR TO MONTH" or "INTERVAL DAY TO SECOND") type. 3. Otherwise, if start and stop expressions resolve to the "INTEGRAL" type, `+
			"then the step expression must resolve to the same type.", map[string]string{"functionName": "`sequence`"})
}

func errSequence(start, stop, step string) *Error {
	return NewError("ILLEGAL_ARGUMENT", "Illegal sequence boundaries: "+start+" to "+stop+" by "+step+".", nil)
}

func sequenceInts(c *Ctx, args []*vector, out *vector) {
	dst := out.Children[0]
	c.appendLists(out, func(i int) {
		start, stop := intAt(args[0], i), intAt(args[1], i)
		step := int64(1)
		if len(args) > 2 {
			step = intAt(args[2], i)
		} else if start > stop {
			step = -1
		}
		if !(step > 0 && start <= stop || step < 0 && start >= stop || step == 0 && start == stop) {
			c.Fail(out, i, errSequence(strconv.FormatInt(start, 10), strconv.FormatInt(stop, 10), strconv.FormatInt(step, 10)))
			return
		}
		more := uint64(0) // elements behind the first
		switch {
		case step > 0:
			more = (uint64(stop) - uint64(start)) / uint64(step)
		case step < 0:
			more = (uint64(start) - uint64(stop)) / (-uint64(step))
		}
		if more >= maxElements || int64(dst.Len)+int64(more) >= maxElements {
			c.Fail(out, i, errTooManyElements("sequence", int64(min(more, 1<<62))+1))
			return
		}
		x := start
		for range more + 1 {
			appendInt(dst, x)
			x += step
		}
	})
}

// appendInt appends one row to a vector of integers.
func appendInt(v *vector, x int64) {
	switch column.PhysicalOf(v.Type) {
	case column.PhysI8:
		v.I8 = append(v.I8, int8(x))
	case column.PhysI16:
		v.I16 = append(v.I16, int16(x))
	case column.PhysI32:
		v.I32 = append(v.I32, int32(x))
	default:
		v.I64 = append(v.I64, x)
	}
	v.Len++
}

// span is an interval in its three independent parts.
type span struct{ months, days, micros int64 }

// spanAt reads an interval of any kind.
func spanAt(v *vector, i int) span {
	r := v.Row(i)
	switch v.Type.Kind {
	case schema.YearMonthInterval:
		return span{months: int64(v.I32[r])}
	case schema.DayTimeInterval:
		return span{days: v.I64[r] / text.MicrosPerDay, micros: v.I64[r] % text.MicrosPerDay}
	}
	iv := calendarAt(v, r)
	return span{int64(iv.Months), int64(iv.Days), iv.Micros}
}

// sign tells whether the span goes forward (1), backward (-1) or, zero or
// both ways, neither (0).
func (s span) sign() int {
	switch {
	case s == span{} || (s.months > 0 || s.days > 0 || s.micros > 0) && (s.months < 0 || s.days < 0 || s.micros < 0):
		return 0
	case s.months < 0 || s.days < 0 || s.micros < 0:
		return -1
	}
	return 1
}

// sequenceGuess is about how many elements a sequence of times has.
func sequenceGuess(start, stop int64, step span) int64 {
	const month = 30.0 * text.MicrosPerDay
	size := float64(step.months)*float64(month) + float64(step.days)*float64(text.MicrosPerDay) + float64(step.micros)
	if size == 0 {
		return 1
	}
	return int64(min(max((float64(stop)-float64(start))/size, 0), 1<<62))
}

// after returns the wall clock n spans after local, without the micros.
func (s span) after(local, n int64) int64 {
	day, ofDay := text.SplitMicros(local)
	return (text.AddMonths(day, s.months*n)+s.days*n)*text.MicrosPerDay + ofDay
}

func sequenceTimes(c *Ctx, args []*vector, out *vector) {
	dst := out.Children[0]
	kind := dst.Type.Kind
	zone := c.Session.zone()
	at := func(v *vector, i int) int64 {
		if kind == schema.Date {
			return int64(v.I32[v.Row(i)]) * text.MicrosPerDay
		}
		return v.I64[v.Row(i)]
	}
	c.appendLists(out, func(i int) {
		start, stop := at(args[0], i), at(args[1], i)
		step := span{days: 1}
		if len(args) > 2 {
			step = spanAt(args[2], i)
		} else if start > stop {
			step.days = -1
		}
		if kind == schema.Date && step.micros != 0 {
			c.Fail(out, i, NewError("ILLEGAL_ARGUMENT", "sequence step must be a day interval if start and end values are dates", nil))
			return
		}
		sign := step.sign()
		if sign == 0 && start != stop || sign > 0 && start > stop || sign < 0 && start < stop {
			c.Fail(out, i, errSequence(strconv.FormatInt(start, 10), strconv.FormatInt(stop, 10),
				string(text.AppendInterval(nil, text.Interval{Months: int32(step.months), Days: int32(step.days), Micros: step.micros}))))
			return
		}
		if n := sequenceGuess(start, stop, step); n > 2*maxElements {
			c.Fail(out, i, errTooManyElements("sequence", n))
			return
		}
		local := start
		if kind == schema.Timestamp {
			local = zone.ToLocal(start)
		}
		x := start
		for n := int64(1); sign >= 0 && x <= stop || sign < 0 && x >= stop; n++ {
			if dst.Len >= maxElements {
				dst.Truncate(int(out.Offsets[len(out.Offsets)-1]))
				c.Fail(out, i, errTooManyElements("sequence", n))
				return
			}
			if kind == schema.Date {
				dst.I32 = append(dst.I32, int32(x/text.MicrosPerDay))
			} else {
				dst.I64 = append(dst.I64, x)
			}
			dst.Len++
			if sign == 0 {
				return
			}
			switch {
			case step.months == 0 && step.days == 0:
				x = start + n*step.micros
			case kind == schema.Timestamp:
				x = zone.ToInstant(step.after(local, n)) + n*step.micros
			default:
				x = step.after(local, n) + n*step.micros
			}
		}
	})
}
