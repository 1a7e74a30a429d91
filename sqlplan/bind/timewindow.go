package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// timeWindows collects window(...) and session_window(...) of one SELECT: they
// become a node below it and are columns from then on.
type timeWindows struct {
	in      *scope
	key     string // of the one that there is
	attr    logical.Attr
	node    func(in logical.Node) logical.Node
	session bool
}

// maxWindowsPerRow bounds duration / slide: each row is copied so often.
const maxWindowsPerRow = 100_000

func (t *timeWindows) has(id logical.ColumnID) bool { return t.node != nil && t.attr.ID == id }

func (t *timeWindows) stack(n logical.Node) logical.Node {
	if t.node == nil {
		return n
	}
	return t.node(n)
}

// named resolves the names window and session_window to the column.
func (t *timeWindows) named(b *Binder, r diag.Range, parts []ast.Ident) (bound, bool) {
	if t.node == nil || !strings.EqualFold(parts[0].Name, t.attr.Name) {
		return bound{}, false
	}
	x := bound{e: &logical.Column{At: b.at(r), Attr: t.attr}, text: parts[0].Name, name: parts[0].Name}
	for _, p := range parts[1:] {
		var ok bool
		if x, ok = b.access(r, x, p); !ok {
			return bound{}, true
		}
	}
	return x, true
}

// windowCall binds window(time, size[, slide[, start]]) and
// session_window(time, gap).
func (b *Binder) windowCall(e *ast.Call, name string, v *env) (bound, bool) {
	hi := 4
	if name == "session_window" {
		hi = 2
	}
	if !b.count(e, name, 2, hi) {
		return bound{}, false
	}
	if v.times == nil {
		b.fail(e.Span, "UNSUPPORTED_EXPR_FOR_OPERATOR", "The function `%s` is not allowed in %s.", name, v.clause)
		return bound{}, false
	}
	inner := *v
	inner.agg, inner.win = false, false
	xs, ok := b.exprs(e.Args, &inner)
	if !ok {
		return bound{}, false
	}
	txt := printCall(name, textsOf(xs))
	tm, ok := b.eventTime(e, xs[0], txt)
	if !ok {
		return bound{}, false
	}
	k := key(tm)
	for _, x := range xs[1:] {
		k += "|" + key(x.e)
	}
	t := v.times
	if t.node != nil {
		if t.key == name+k {
			return bound{e: &logical.Column{At: b.at(e.Span), Attr: t.attr}, text: name}, true
		}
		b.fail(e.Span, "_LEGACY_ERROR_TEMP_1039", "Multiple time/session window expressions would result in a cartesian product of rows, therefore they are currently not supported.")
		return bound{}, false
	}
	end := tm.Type()
	st := schema.StructOf(schema.Field{Name: "start", Type: end, Nullable: true}, schema.Field{Name: "end", Type: end, Nullable: true})
	a := b.attr(name, st, false)
	a.Watermark = watermarkOf(tm)
	var node func(in logical.Node) logical.Node
	if name == "session_window" {
		node, ok = b.sessionNode(e, tm, xs[1], a)
	} else {
		node, ok = b.windowNode(e, tm, xs[1:], a, txt)
	}
	if !ok {
		return bound{}, false
	}
	t.key, t.attr, t.node, t.session = name+k, a, node, name == "session_window"
	return bound{e: &logical.Column{At: b.at(e.Span), Attr: a}, text: name}, true
}

// eventTime makes the time argument a timestamp: a window stands for its last
// microsecond, text and dates are cast.
func (b *Binder) eventTime(e *ast.Call, x bound, txt string) (logical.Expr, bool) {
	switch t := x.typ(); t.Kind {
	case schema.Timestamp, schema.TimestampNTZ:
		return x.e, true
	case schema.Date, schema.String, schema.Void:
		return b.cast(e.Args[0].Range(), x.e, schema.Of(schema.Timestamp))
	case schema.Struct:
		if len(t.Fields) == 2 && t.Fields[0].Name == "start" && t.Fields[1].Name == "end" {
			y, ok := b.windowTime(e.Span, x)
			return y.e, ok
		}
	}
	b.fail(e.Args[0].Range(), "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
		`Cannot resolve "%s" due to data type mismatch: The first parameter requires the ("TIMESTAMP" or "TIMESTAMP WITHOUT TIME ZONE") type, however "%s" has the type "%s".`,
		txt, x.text, x.typ().SQL())
	return nil, false
}

// duration reads a constant duration: text or a number of microseconds.
func (b *Binder) duration(r diag.Range, x bound) (int64, bool) {
	v, ok := b.constant(x.e)
	if !ok || v.IsNull(0) || !(v.Type.Kind == schema.String || v.Type.IsInteger()) {
		b.fail(r, "_LEGACY_ERROR_TEMP_1207", "The duration and time inputs to window() must be an integer, long or string literal.")
		return 0, false
	}
	switch n := column.At(v, 0).(type) {
	case int8:
		return int64(n), true
	case int16:
		return int64(n), true
	case int32:
		return int64(n), true
	case int64:
		return n, true
	}
	iv, st := text.ParseInterval(v.Str(0))
	if st != text.IntervalOK {
		b.fail(r, "CANNOT_PARSE_INTERVAL", "Unable to parse %q as an interval. Please ensure that the value provided is in a valid format.", string(v.Str(0)))
		return 0, false
	}
	if iv.Months != 0 {
		b.fail(r, "_LEGACY_ERROR_TEMP_3231", "Intervals greater than a month is not supported (%s).", string(v.Str(0)))
		return 0, false
	}
	return int64(iv.Days)*86_400_000_000 + iv.Micros, true
}

// windowNode checks the durations and makes the node of window().
func (b *Binder) windowNode(e *ast.Call, tm logical.Expr, xs []bound, a logical.Attr, txt string) (func(logical.Node) logical.Node, bool) {
	vals := []int64{0, 0, 0}
	for i, x := range xs {
		d, ok := b.duration(e.Args[i+1].Range(), x)
		if !ok {
			return nil, false
		}
		vals[i] = d
	}
	size, slide, start := vals[0], vals[1], vals[2]
	if len(xs) == 1 {
		slide = size
	}
	fail := func(sub diag.Code, why string) (func(logical.Node) logical.Node, bool) {
		b.fail(e.Span, "DATATYPE_MISMATCH."+sub, `Cannot resolve "%s" due to data type mismatch: %s`, txt, why)
		return nil, false
	}
	switch {
	case size <= 0:
		return fail("VALUE_OUT_OF_RANGE", "The `window_duration` must be between (0, 9223372036854775807].")
	case slide <= 0:
		return fail("VALUE_OUT_OF_RANGE", "The `slide_duration` must be between (0, 9223372036854775807].")
	case slide > size:
		return fail("PARAMETER_CONSTRAINT_VIOLATION", "The `slide_duration` must be less than or equal to the `window_duration`.")
	case max(start, -start) >= slide:
		return fail("PARAMETER_CONSTRAINT_VIOLATION", "The `abs(start_time)` must be less than the `slide_duration`.")
	case size/slide > maxWindowsPerRow:
		return fail("PARAMETER_CONSTRAINT_VIOLATION", "Each row would fall into more than 100000 windows.")
	}
	return func(in logical.Node) logical.Node {
		return &logical.TimeWindow{Input: in, Time: tm, Size: size, Slide: slide, Start: start, Column: a}
	}, true
}

// sessionNode makes the node of session_window(). A constant gap is an
// interval literal; others are cast row by row.
func (b *Binder) sessionNode(e *ast.Call, tm logical.Expr, gap bound, a logical.Attr) (func(logical.Node) logical.Node, bool) {
	g := gap.e
	switch t := gap.typ(); {
	case t.Kind == schema.String:
		var ok bool
		if g, ok = b.castInterval(e, gap); !ok {
			return nil, false
		}
	case t.Kind == schema.CalendarInterval || t.Kind == schema.DayTimeInterval || t.Kind == schema.YearMonthInterval:
	default:
		b.fail(e.Args[1].Range(), "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
			`Cannot resolve "session_window" due to data type mismatch: The second parameter requires the "INTERVAL" type, however "%s" has the type "%s".`, gap.text, t.SQL())
		return nil, false
	}
	return func(in logical.Node) logical.Node {
		return &logical.SessionWindow{Input: in, Time: tm, Gap: g, Column: a}
	}, true
}

func (b *Binder) castInterval(e *ast.Call, gap bound) (logical.Expr, bool) {
	at := b.at(e.Args[1].Range())
	if v, ok := b.constant(gap.e); ok && !v.IsNull(0) {
		iv, st := text.ParseInterval(v.Str(0))
		if st != text.IntervalOK {
			b.fail(e.Args[1].Range(), "CANNOT_PARSE_INTERVAL", "Unable to parse %q as an interval.", string(v.Str(0)))
			return nil, false
		}
		t := schema.Of(schema.CalendarInterval)
		return &logical.Literal{At: at, Value: column.Constant(t, 1, column.Interval{Months: iv.Months, Days: iv.Days, Micros: iv.Micros})}, true
	}
	y, ok := b.castTo(e.Args[1].Range(), gap, schema.Of(schema.CalendarInterval), logical.CastANSI)
	return y.e, ok
}

// windowTimeCall binds window_time(window): the last microsecond of a window,
// which carries the window's event time.
func (b *Binder) windowTimeCall(e *ast.Call, name string, v *env) (bound, bool) {
	if !b.count(e, name, 1, 1) {
		return bound{}, false
	}
	x, ok := b.expr(e.Args[0], v)
	if !ok {
		return x, false
	}
	if !isWindowStruct(x.typ()) {
		b.fail(e.Span, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
			`Cannot resolve "window_time(%s)" due to data type mismatch: The first parameter requires the window type, however "%s" has the type "%s".`, x.text, x.text, x.typ().SQL())
		return bound{}, false
	}
	if _, byName := ast.Unparen(e.Args[0]).(*ast.Column); byName && v.times != nil && v.times.node != nil {
		if c, ok := x.e.(*logical.Column); ok && c.Attr.ID == v.times.attr.ID {
			w := c.Attr.Name
			b.failHint(e.Span, "MISSING_AGGREGATION", "call window_time in a query around this one: SELECT window_time("+w+") FROM (SELECT "+w+", ... GROUP BY "+w+"(...))",
				`The non-aggregating expression "window_time(`+w+`)" is based on columns which are not participating in the GROUP BY clause.`)
			return bound{}, false
		}
	}
	y, ok := b.windowTime(e.Span, x)
	y.text = printCall(name, []string{x.text})
	return y, ok
}

// windowTime is end - 1 microsecond.
func (b *Binder) windowTime(r diag.Range, x bound) (bound, bool) {
	at := b.at(r)
	end := bound{e: &logical.FieldAccess{At: at, Input: x.e, Index: 1}, text: x.text + ".end"}
	t := schema.Of(schema.DayTimeInterval)
	one := bound{e: &logical.Literal{At: at, Value: column.Constant(t, 1, int64(1))}, text: "INTERVAL"}
	return b.function(r, "-", []bound{end, one})
}
