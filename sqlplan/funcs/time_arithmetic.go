package funcs

import (
	"math"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// timeCall is a call of an operator that is being resolved.
type timeCall struct {
	s    *Session
	op   arithOp
	text string
	l, r Arg
}

func (t timeCall) swapped() timeCall {
	t.l, t.r = t.r, t.l
	return t
}

// bindTimeArithmetic resolves arithmetic with dates, timestamps and intervals;
// it returns nil and no error when the operands are neither.
func bindTimeArithmetic(s *Session, op arithOp, l, r Arg) (*Bound, error) {
	lt, rt := l.Type, r.Type
	t := timeCall{s, op, "(" + l.Text + " " + op.symbol + " " + r.Text + ")", l, r}
	b := &Bound{Nullable: l.Nullable || r.Nullable, CanFail: true}
	if op.name == "+" && isInterval(lt) && !isInterval(rt) && rt.Kind != schema.Void {
		inner, err := bindTimeArithmetic(s, op, r, l)
		return swapArgs(inner), err
	}
	if op.name == "+" && lt.Kind == schema.Void && isTemporal(rt) {
		inner, err := bindTimeArithmetic(s, op, r, l)
		return swapArgs(inner), err
	}
	switch {
	case op.name == "*" && isInterval(rt) && !isInterval(lt):
		if !scales(lt) {
			return nil, errInputType(t.text, 0, pNumeric.want, l)
		}
		return swapArgs(bindIntervalScale(op, b, r, l)), nil
	case op.name == "/" && lt.Kind == schema.Void && isInterval(rt):
		return nil, errDiffTypes(t.text, lt, rt)
	case (op.name == "*" || op.name == "/") && isInterval(lt):
		if !scales(rt) {
			return nil, errInputType(t.text, 1, pNumeric.want, r)
		}
		return bindIntervalScale(op, b, l, r), nil
	case op.name == "div" && isInterval(lt) && lt.Kind == rt.Kind:
		return bindIntervalDiv(s, op, b, lt, rt), nil
	case op.name != "+" && op.name != "-":
		return nil, nil
	case isInterval(lt) || isInterval(rt):
		return bindIntervalSum(t, b)
	case isTemporal(lt) && rt.Kind == schema.Void && op.name == "+":
		return bindTimePlusNull(b, lt), nil
	case lt.Kind == schema.Date && op.name == "+" && rt.Kind == schema.Date,
		lt.Kind == schema.Date && !isTemporal(rt) && op.name == "+":
		return bindDatePlus(t, b)
	case rt.Kind == schema.Date && op.name == "+" && lt.Kind != schema.String && !isTemporal(lt):
		inner, err := bindDatePlus(t.swapped(), b)
		return swapArgs(inner), err
	case rt.Kind == schema.Date && op.name == "+" && lt.Kind == schema.String:
		return nil, errInputType(t.text, 1, pDateInt.want, r)
	case lt.Kind == schema.Date && !isTemporal(rt) && rt.Kind != schema.String && rt.Kind != schema.Void:
		return bindDatePlus(t, b)
	case op.name == "-" && (isTemporal(lt) || isTemporal(rt)):
		return bindTimeDifference(t, b)
	}
	return nil, nil
}

// scales is whether an interval can be multiplied by values of the type.
func scales(t schema.Type) bool {
	return t.IsNumeric() || t.Kind == schema.String || t.Kind == schema.Void
}

// bindTimePlusNull is the unknown time that is an unknown interval away.
func bindTimePlusNull(b *Bound, t schema.Type) *Bound {
	if t.Kind == schema.Date {
		t = tTime
	}
	b.Args, b.Result, b.CanFail = []schema.Type{t, tVoid}, t, false
	b.Kernel = func(*Ctx, []*vector, *vector) {}
	return b
}

// swapArgs turns a bound call around.
func swapArgs(b *Bound) *Bound {
	if b == nil {
		return nil
	}
	k := b.Kernel
	b.Args = []schema.Type{b.Args[1], b.Args[0]}
	b.Kernel = func(c *Ctx, args []*vector, out *vector) { k(c, []*vector{args[1], args[0]}, out) }
	return b
}

// bindDatePlus is a date plus or minus days.
func bindDatePlus(t timeCall, b *Bound) (*Bound, error) {
	if _, ok := pDateInt.take(nil, t.r.Type); !ok || t.r.Type.Kind == schema.String {
		return nil, errInputType(t.text, 1, pDateInt.want, t.r)
	}
	sign := int32(1)
	if t.op.name == "-" {
		sign = -1
	}
	b.Args, b.Result = []schema.Type{tDate, tInt}, tDate
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		d, n := operand(c, args, 0, i32s), operand(c, args, 1, i32s)
		for i, x := range d {
			out.I32[i] = x + sign*n[i]
		}
	}
	b.CanFail = false
	return b, nil
}

// bindTimeDifference is the difference of dates or timestamps.
func bindTimeDifference(call timeCall, b *Bound) (*Bound, error) {
	lt, rt := call.l.Type, call.r.Type
	for k, t := range [2]*schema.Type{&lt, &rt} {
		if other := [2]schema.Type{rt, lt}[k]; t.Kind == schema.Void || t.Kind == schema.String && (call.s.ANSI || k == 0 && rt.Kind == schema.Date) {
			*t = other
		}
	}
	for k, a := range [2]Arg{call.l, call.r} {
		if t := [2]schema.Type{lt, rt}[k]; !isTemporal(t) {
			want := pInstant.want
			if lt.Kind == schema.Date || rt.Kind == schema.Date {
				want = pDate.want
			}
			return nil, errInputType(call.text, k, want, a)
		}
	}
	b.CanFail = false
	if lt.Kind == schema.Date && rt.Kind == schema.Date {
		b.Args = []schema.Type{tDate, tDate}
		b.Result = schema.Type{Kind: schema.DayTimeInterval, From: schema.Day, To: schema.Day}
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			x, y := operand(c, args, 0, i32s), operand(c, args, 1, i32s)
			for i, d := range x {
				out.I64[i] = (int64(d) - int64(y[i])) * text.MicrosPerDay
			}
		}
		return b, nil
	}
	t := tTime
	if lt.Kind == schema.TimestampNTZ && rt.Kind == schema.TimestampNTZ {
		t = tTimeNTZ
	}
	b.Args, b.Result = []schema.Type{t, t}, typ(schema.DayTimeInterval)
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		x, y := operand(c, args, 0, i64s), operand(c, args, 1, i64s)
		zone := c.Session.zone()
		utc := t.Kind == schema.TimestampNTZ || zone.IsUTC()
		c.live(out, func(i int) {
			if utc {
				out.I64[i] = x[i] - y[i]
			} else { // Spark subtracts the wall clocks
				out.I64[i] = zone.ToLocal(x[i]) - zone.ToLocal(y[i])
			}
		})
	}
	return b, nil
}

// wantInstant is what an interval may be added to.
const wantInstant = `"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)"`

// bindIntervalSum is interval ± interval, or a point in time ± interval.
func bindIntervalSum(t timeCall, b *Bound) (*Bound, error) {
	s, lt, rt := t.s, t.l.Type, t.r.Type
	if isInterval(lt) {
		if rt.Kind == schema.Void {
			rt = lt
		}
		return bindIntervals(t, b, lt, rt)
	}
	if lt.Kind == schema.Void {
		lt = rt
		return bindIntervals(t, b, lt, rt)
	}
	sign := int64(1)
	if t.op.name == "-" {
		sign = -1
	}
	result, at := lt, lt
	switch {
	case !isTemporal(lt) && rt.Kind == schema.YearMonthInterval:
		return nil, errDiffTypes(t.text, lt, rt)
	case lt.Kind == schema.String:
		at, result = tTime, tString
	case !isTemporal(lt):
		return nil, errInputType(t.text, 0, wantInstant, t.l)
	case lt.Kind == schema.Date && rt.Kind == schema.DayTimeInterval && rt.To != schema.Day:
		at, result = tTime, tTime
	}
	b.Args, b.Result = []schema.Type{at, rt}, result
	shift := shiftTime(s, at, rt, sign)
	if result.Kind != schema.String {
		b.Kernel = shift
		return b, nil
	}
	zone := s.zone()
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		mid := c.Pool.Vector(tTime)
		mid.Resize(c.Rows)
		shift(c, args, mid)
		mid.Errs.Each(out.Fail)
		c.appendRows(out, func(i int, b []byte) []byte { return text.AppendTimestamp(b, mid.I64[i], zone) })
		mid.Release()
	}
	return b, nil
}

// shiftTime adds an interval to a date or timestamp.
func shiftTime(s *Session, at, interval schema.Type, sign int64) Kernel {
	zone := s.zone()
	parts := func(v *vector, i int) (months, days, micros int64) {
		r := v.Row(i)
		switch interval.Kind {
		case schema.YearMonthInterval:
			return int64(v.I32[r]), 0, 0
		case schema.DayTimeInterval:
			return 0, v.I64[r] / text.MicrosPerDay, v.I64[r] % text.MicrosPerDay
		}
		iv := calendarAt(v, r)
		return int64(iv.Months), int64(iv.Days), iv.Micros
	}
	return func(c *Ctx, args []*vector, out *vector) {
		v := args[0]
		c.live(out, func(i int) {
			months, days, micros := parts(args[1], i)
			months, days, micros = sign*months, sign*days, sign*micros
			if at.Kind == schema.Date {
				d := text.AddMonths(int64(v.I32[v.Row(i)]), months) + days
				if micros != 0 {
					c.Fail(out, i, NewError("INVALID_INTERVAL_WITH_MICROSECONDS_ADDITION",
						"Cannot add an interval to a date because its microseconds part is not 0. If necessary set "+ansiConfig+` to "false" to bypass this error.`,
						map[string]string{"ansiConfig": ansiConfig}))
					return
				}
				out.I32[i] = int32(d)
				return
			}
			m := v.I64[v.Row(i)]
			if months != 0 || days != 0 {
				if at.Kind == schema.Timestamp {
					m = zone.ToLocal(m)
				}
				day, ofDay := text.SplitMicros(m)
				m = (text.AddMonths(day, months)+days)*text.MicrosPerDay + ofDay
				if at.Kind == schema.Timestamp {
					m = zone.ToInstant(m)
				}
			}
			sum := m + micros
			if (sum < m) != (micros < 0) {
				c.Fail(out, i, errDatetimeOverflow("add an interval to a timestamp"))
				return
			}
			out.I64[i] = sum
		})
	}
}

func bindIntervals(call timeCall, b *Bound, lt, rt schema.Type) (*Bound, error) {
	if lt.Kind != rt.Kind {
		switch {
		case rt.Kind == schema.DayTimeInterval || rt.Kind == schema.CalendarInterval:
			return nil, errInputType(call.text, 0, wantInstant, call.l)
		case call.op.name == "+" && lt.Kind != schema.YearMonthInterval:
			return nil, errInputType(call.text, 0, wantInstant, call.r)
		}
		return nil, errDiffTypes(call.text, lt, rt)
	}
	t := lt
	if lt.Kind != schema.CalendarInterval {
		t.From, t.To = min(lt.From, rt.From), max(lt.To, rt.To)
	}
	b.Args, b.Result = []schema.Type{t, t}, t
	try := call.op.try
	add := func(x, y int64) (int64, bool) {
		if call.op.name == "-" {
			d := x - y
			return d, (x^y)&(x^d) >= 0
		}
		d := x + y
		return d, (x^d)&(y^d) >= 0
	}
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		c.live(out, func(i int) {
			switch t.Kind {
			case schema.YearMonthInterval:
				v, _ := add(intAt(args[0], i), intAt(args[1], i))
				if v != int64(int32(v)) {
					c.Fail(out, i, errIntervalOverflow(try))
					return
				}
				out.I32[i] = int32(v)
			case schema.DayTimeInterval:
				v, ok := add(intAt(args[0], i), intAt(args[1], i))
				if !ok {
					c.Fail(out, i, errIntervalOverflow(try))
					return
				}
				out.I64[i] = v
			default:
				if !addCalendar(args, out, i, add) {
					c.Fail(out, i, errIntervalOverflow(try))
				}
			}
		})
	}
	return b, nil
}

func addCalendar(args []*vector, out *vector, i int, add func(x, y int64) (int64, bool)) bool {
	x, y := calendarAt(args[0], args[0].Row(i)), calendarAt(args[1], args[1].Row(i))
	months, _ := add(int64(x.Months), int64(y.Months))
	days, _ := add(int64(x.Days), int64(y.Days))
	micros, ok := add(x.Micros, y.Micros)
	if !ok || months != int64(int32(months)) || days != int64(int32(days)) {
		return false
	}
	out.Children[0].I32[i], out.Children[1].I32[i], out.Children[2].I64[i] = int32(months), int32(days), micros
	return true
}

// bindIntervalScale multiplies or divides an interval by a number.
func bindIntervalScale(op arithOp, b *Bound, l, r Arg) *Bound {
	rt := r.Type
	if !rt.IsNumeric() || rt.Kind == schema.Float32 {
		rt = tDouble
	}
	if rt.IsInteger() {
		rt = tBigint
	}
	t := typ(l.Type.Kind)
	b.Args, b.Result = []schema.Type{l.Type, rt}, t
	divide := op.name == "/"
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		n := args[1]
		c.live(out, func(i int) {
			r := n.Row(i)
			if divide && isZero(n, r) {
				c.Fail(out, i, errIntervalDividedByZero())
				return
			}
			if t.Kind == schema.CalendarInterval {
				if !scaleCalendar(args[0], out, i, numberAt(n, r), divide) {
					c.Fail(out, i, errIntervalOverflow(op.try))
				}
				return
			}
			v, ok := scaleInterval(intAt(args[0], i), n, r, divide)
			if !ok || t.Kind == schema.YearMonthInterval && v != int64(int32(v)) {
				c.Fail(out, i, errIntervalOverflow(op.try))
				return
			}
			setInt(out, i, v)
		})
	}
	return b
}

func numberAt(v *vector, r int) float64 {
	switch v.Type.Kind {
	case schema.Float64:
		return v.F64[r]
	case schema.Decimal:
		return text.DecimalToFloat(decimalAt(v, r), v.Type.Scale)
	}
	return float64(intAt(v, r))
}

// scaleInterval multiplies or divides exactly, rounding half up.
func scaleInterval(x int64, n *vector, r int, divide bool) (int64, bool) {
	var v column.Int128
	ok := false
	switch n.Type.Kind {
	case schema.Float64:
		f := float64(x) * n.F64[r]
		if divide {
			f = float64(x) / n.F64[r]
		}
		f = math.Round(f)
		return int64(f), f >= -9.223372036854775e18 && f <= 9.223372036854775e18
	case schema.Decimal:
		if divide {
			v, ok = text.DecimalDiv(column.FromInt64(x), decimalAt(n, r), n.Type.Scale)
		} else {
			v, ok = text.DecimalMul(column.FromInt64(x), decimalAt(n, r), n.Type.Scale)
		}
	default:
		if divide {
			v, ok = text.DecimalDiv(column.FromInt64(x), column.FromInt64(intAt(n, r)), 0)
		} else {
			v, ok = text.DecimalMul(column.FromInt64(x), column.FromInt64(intAt(n, r)), 0)
		}
	}
	w, fits := v.Int64()
	return w, ok && fits
}

// scaleCalendar multiplies or divides the parts of an interval; of the days
// what is left goes into the time.
func scaleCalendar(v, out *vector, i int, n float64, divide bool) bool {
	x := calendarAt(v, v.Row(i))
	scale := func(part float64) float64 {
		if divide {
			return part / n
		}
		return part * n
	}
	months, days := scale(float64(x.Months)), scale(float64(x.Days))
	micros := math.Round(scale(float64(x.Micros)) + (days-math.Trunc(days))*float64(text.MicrosPerDay))
	if !(math.Abs(months) < 1<<31) || !(math.Abs(days) < 1<<31) || !(math.Abs(micros) < 1<<63) {
		return false
	}
	out.Children[0].I32[i], out.Children[1].I32[i], out.Children[2].I64[i] = int32(months), int32(days), int64(micros)
	return true
}

func bindIntervalDiv(s *Session, op arithOp, b *Bound, lt, rt schema.Type) *Bound {
	b.Args, b.Result = []schema.Type{lt, rt}, tBigint
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		c.live(out, func(i int) {
			x, y := intAt(args[0], i), intAt(args[1], i)
			switch {
			case y == 0:
				zeroDivisor(s, c, op, out, i)
			case y == -1 && x == math.MinInt64:
				c.Fail(out, i, errOverflow("Overflow in integral divide", op.try))
			default:
				out.I64[i] = x / y
			}
		})
	}
	return b
}
