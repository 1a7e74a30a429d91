package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// CastMode says what a cast does with a value that does not fit; the values
// are those of logical.CastMode.
type CastMode uint8

// The modes: CastANSI fails the row, CastLegacy gives null or wraps as Spark
// does with ANSI off, CastTry gives null.
const (
	CastANSI CastMode = iota
	CastLegacy
	CastTry
)

// castFunction stands for CAST in bound calls and messages.
var castFunction = &Function{Name: "cast", Group: "conversion", Usage: "cast(expr AS type)", Doc: "Converts a value to another type."}

// BindCast resolves the cast of a value to another type. CHAR(n) and VARCHAR(n)
// count as STRING, as in Spark. The error is DATATYPE_MISMATCH.CAST_….
func BindCast(s *Session, arg Arg, to schema.Type, mode CastMode) (*Bound, error) {
	from := arg.Type
	if to.Kind == schema.String {
		to = tString
	}
	k := castKernel(s, from, to, mode)
	if k == nil {
		return nil, errCast(arg, to, mode)
	}
	fails, fn := castFails(from, to), castFunction
	if clock := clockCast(s, arg, to); clock != nil {
		k, fn = clock, castClockFunction
	}
	return &Bound{
		Fn: fn, Args: []schema.Type{from}, Result: to,
		Nullable: arg.Nullable || fails && mode != CastANSI || from.IsFloat() && to.Kind == schema.Decimal || from.Kind == schema.Variant ||
			to.Kind == schema.CalendarInterval || from.Kind == schema.Date && mode == CastLegacy,
		CanFail: fails && (mode == CastANSI || mode == CastLegacy && alwaysStrict(from, to)), Kernel: k,
		Print: func(args []string) string { return castText(args[0], to, mode) },
	}, nil
}

func castText(arg string, to schema.Type, mode CastMode) string {
	if mode == CastTry {
		return "TRY_CAST(" + arg + " AS " + to.SQL() + ")"
	}
	return "CAST(" + arg + " AS " + to.SQL() + ")"
}

func errCast(arg Arg, to schema.Type, mode CastMode) *Error {
	from, call := arg.Type, castText(arg.Text, to, mode)
	params := map[string]string{"srcType": quoteType(from), "targetType": quoteType(to)}
	base := "cannot cast " + quoteType(from) + " to " + quoteType(to)
	switch {
	case mode == CastLegacy: // no setting and no function would help
	case from.IsNumeric() && to.Kind == schema.Date,
		from.Kind == schema.Date && to.IsNumeric():
		name := "`DATE_FROM_UNIX_DATE`"
		if from.Kind == schema.Date {
			name = "`UNIX_DATE`"
		}
		params["functionNames"] = name
		return errMismatch("CAST_WITH_FUNC_SUGGESTION", call, base+". To convert values from "+quoteType(from)+" to "+quoteType(to)+
			", you can use the functions "+name+" instead.", params)
	case from.IsInteger() && to.Kind == schema.Binary,
		from.Kind == schema.Boolean && to.Kind == schema.Timestamp,
		from.Kind == schema.Date && to.Kind == schema.Boolean,
		from.Kind == schema.Timestamp && to.Kind == schema.Boolean:
		params["config"], params["configVal"] = ansiConfig, "'false'"
		return errMismatch("CAST_WITH_CONF_SUGGESTION", call, base+` with ANSI mode on. If you have to cast `+quoteType(from)+" to "+
			quoteType(to)+", you can set "+ansiConfig+" as 'false'.", params)
	}
	return errMismatch("CAST_WITHOUT_SUGGESTION", call, base+".", params)
}

// castFails reports whether values of from may not fit into to.
func castFails(from, to schema.Type) bool {
	switch {
	case from.SameShape(to), from.Kind == schema.Void, to.Kind == schema.String || to.Kind == schema.Boolean && from.IsNumeric():
		return false
	case to.Kind == schema.Variant:
		return true
	case from.IsNested():
		return nestedFails(from, to)
	case from.IsInteger() && to.IsInteger():
		return to.Kind < from.Kind
	case to.IsFloat():
		return from.Kind == schema.String
	case from.Kind == schema.Boolean:
		return to.Kind == schema.Decimal
	case isTemporal(from) && isTemporal(to):
		return false
	case to.Kind == schema.Decimal && from.Kind == schema.Decimal:
		return to.Precision-to.Scale <= from.Precision-from.Scale
	case to.Kind == schema.Decimal && from.IsInteger():
		return to.Precision-to.Scale < decimalFor(from).Precision
	case to.Kind == schema.Binary:
		return false
	}
	return true
}

func nestedFails(from, to schema.Type) bool {
	switch from.Kind {
	case schema.Array:
		return castFails(*from.Elem, *to.Elem)
	case schema.Map:
		return castFails(*from.Key, *to.Key) || castFails(*from.Elem, *to.Elem)
	case schema.Struct:
		for i := range from.Fields {
			if castFails(from.Fields[i].Type, to.Fields[i].Type) {
				return true
			}
		}
	}
	return false
}

// castKernel returns the kernel of a cast, or nil when there is none.
func castKernel(s *Session, from, to schema.Type, mode CastMode) Kernel {
	k := castStrict(s, from, to, mode)
	if k == nil || mode == CastANSI || mode == CastLegacy && alwaysStrict(from, to) {
		return k
	}
	return tryKernel(k)
}

// alwaysStrict reports casts that fail with ANSI mode off too, as Spark's do:
// those to and from year-month and day-time intervals.
func alwaysStrict(from, to schema.Type) bool {
	interval := func(t schema.Type) bool {
		return t.Kind == schema.YearMonthInterval || t.Kind == schema.DayTimeInterval
	}
	switch {
	case from.Kind != to.Kind || !from.IsNested():
		return interval(to) || interval(from) && to.IsNumeric()
	case from.Kind == schema.Array:
		return alwaysStrict(*from.Elem, *to.Elem)
	case from.Kind == schema.Map:
		return alwaysStrict(*from.Key, *to.Key) || alwaysStrict(*from.Elem, *to.Elem)
	}
	for i := range min(len(from.Fields), len(to.Fields)) {
		if alwaysStrict(from.Fields[i].Type, to.Fields[i].Type) {
			return true
		}
	}
	return false
}

func castStrict(s *Session, from, to schema.Type, mode CastMode) Kernel {
	switch {
	case from.Kind == schema.Void:
		return func(*Ctx, []*vector, *vector) {}
	case from.SameShape(to) && !from.IsNested():
		return copyKernel
	case from.Kind == schema.Variant || to.Kind == schema.Variant:
		return castVariant(from, to)
	case to.Kind == schema.String:
		return castToString(s, from)
	case from.IsNested():
		return castNested(s, from, to, mode)
	}
	switch from.Kind {
	case schema.String:
		return castFromString(s, to, mode)
	case schema.Boolean:
		return castFromBool(to, mode)
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64, schema.Decimal:
		return castFromNumber(s, from, to, mode)
	case schema.Date, schema.Timestamp, schema.TimestampNTZ:
		return castFromTime(s, from, to, mode)
	case schema.YearMonthInterval, schema.DayTimeInterval:
		return castFromInterval(from, to)
	}
	return nil
}

// copyKernel copies its argument.
func copyKernel(c *Ctx, args []*vector, out *vector) {
	nulls := out.Nulls
	out.Resize(0)
	column.AppendRange(out, args[0], 0, c.Rows)
	if out.Nulls == nil && nulls != nil {
		out.Nulls = nulls
	}
}

// castNested casts arrays, maps and structs part by part.
func castNested(s *Session, from, to schema.Type, mode CastMode) Kernel {
	if from.Kind != to.Kind {
		return nil
	}
	var parts []Kernel
	switch from.Kind {
	case schema.Array:
		parts = []Kernel{castKernel(s, *from.Elem, *to.Elem, mode)}
	case schema.Map:
		parts = []Kernel{castKernel(s, *from.Key, *to.Key, mode), castKernel(s, *from.Elem, *to.Elem, mode)}
	case schema.Struct:
		if len(from.Fields) != len(to.Fields) {
			return nil
		}
		for i := range from.Fields {
			parts = append(parts, castKernel(s, from.Fields[i].Type, to.Fields[i].Type, mode))
		}
	}
	for _, p := range parts {
		if p == nil {
			return nil
		}
	}
	if from.Kind == schema.Struct {
		return func(c *Ctx, args []*vector, out *vector) { castStruct(c, parts, args[0], out) }
	}
	return func(c *Ctx, args []*vector, out *vector) { castList(c, parts, args[0], out) }
}

// castChild runs the cast of one child over all its rows.
func castChild(c *Ctx, k Kernel, in, out *vector) {
	inner := Ctx{Rows: in.Len, Pool: c.Pool, Session: c.Session, Now: c.Now}
	flat := column.Flatten(c.Pool, in)
	out.Resize(in.Len)
	if flat.Type.Kind == schema.Void {
		out.Resize(0)
		for range in.Len {
			out.AppendNull()
		}
	} else {
		if flat.Nulls != nil {
			copy(out.MakeNulls(in.Len), flat.Nulls)
		}
		k(&inner, []*vector{flat}, out)
	}
	flat.Release()
}

func castStruct(c *Ctx, parts []Kernel, in, out *vector) {
	for f, k := range parts {
		castChild(c, k, in.Children[f], out.Children[f])
		out.Children[f].Errs.Each(func(row int, err error) {
			if !in.Nulls.Get(row) && selected(c, row) {
				c.Fail(out, row, asError(err))
			}
		})
		out.Children[f].Errs = nil
	}
}

func castList(c *Ctx, parts []Kernel, in, out *vector) {
	out.Offsets = append(out.Offsets[:0], in.Offsets[:in.Len+1]...)
	out.Len = in.Len
	for f, k := range parts {
		child := out.Children[f]
		castChild(c, k, in.Children[f], child)
		if child.Errs.Any() {
			for i := range in.Len {
				from, to := in.List(i)
				for e := from; e < to; e++ {
					if err := child.Errs.At(e); err != nil && !in.Nulls.Get(i) && selected(c, i) {
						c.Fail(out, i, asError(err))
						break
					}
				}
			}
			child.Errs = nil
		}
	}
}

func asError(err error) *Error {
	e, ok := err.(*Error)
	if !ok {
		panic("bug: funcs: a row's error is no funcs.Error: " + err.Error())
	}
	return e
}

// selected reports whether row i is to be computed.
func selected(c *Ctx, i int) bool {
	if c.Sel == nil {
		return true
	}
	lo, hi := 0, len(c.Sel)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if int(c.Sel[m]) < i {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo < len(c.Sel) && int(c.Sel[lo]) == i
}
