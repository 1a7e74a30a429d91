package bind

import (
	"strconv"
	"strings"

	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// over binds a call with OVER to a placeholder.
func (b *Binder) over(e *ast.Call, name string, v *env) (bound, bool) {
	if v.inAgg {
		b.fail(e.Span, "_LEGACY_ERROR_TEMP_1031", "It is not allowed to use a window function inside an aggregate function. Please use the inner window function in a sub-query.")
		return bound{}, false
	}
	if !v.win && v.clause == "JOIN" {
		b.fail(e.Span, "UNSUPPORTED_EXPR_FOR_OPERATOR", "A query operator contains one or more unsupported expressions: a join condition takes no window functions.")
		return bound{}, false
	}
	if !v.win {
		b.fail(e.Span, "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE", "It is not allowed to use window functions inside the %s clause.", v.clause)
		return bound{}, false
	}
	spec, ok := b.windowSpec(e.Over, v)
	if !ok {
		return bound{}, false
	}
	w := &winExpr{At: b.at(e.Span)}
	w.call.At = w.At
	var txt string
	// first_value and the like are window functions of their own only when
	// they are no aggregates.
	if fn := lookupWindow(name); fn != nil && lookupAggregate(name) == nil {
		txt, ok = b.rankCall(e, name, fn, w, v)
	} else if agg := lookupAggregate(name); agg != nil {
		txt, ok = b.overAggregate(e, name, agg, w, v)
	} else {
		if lookupScalar(name) == nil && specialForm(name) == nil && generatorOf(name) == nil && b.userFunction(strings.Split(name, ".")) == nil {
			b.unknownRoutine(e, name)
			return bound{}, false
		}
		if len(e.WithinGroup) > 0 && lookupScalar(name) != nil {
			b.withinGroup(e, name)
			return bound{}, false
		}
		b.fail(e.Span, "UNSUPPORTED_EXPR_FOR_WINDOW", "Expression %q not supported within a window function.", name)
		return bound{}, false
	}
	within := w.order
	w.order = nil
	if !ok || !b.windowParts(e, spec, w, v) {
		return bound{}, false
	}
	if len(within) > 0 || orderedSet[name] || name == "median" {
		if all := (logical.Frame{End: logical.FrameBound{Kind: logical.UnboundedFollowing}}); len(w.order) > 0 || w.call.Frame != all {
			b.fail(e.Span, "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC", "Cannot specify ORDER BY or a window frame for %q.", txt)
			return bound{}, false
		}
		w.order = within // the whole partition in the order of WITHIN GROUP
	}
	return bound{e: w, text: txt + " OVER (" + b.windowText(w) + ")"}, true
}

// windowSpec resolves OVER name and OVER (name ...).
func (b *Binder) windowSpec(w *ast.Window, v *env) (*ast.Window, bool) {
	seen := 0
	for w.Ref.Name != "" {
		named := v.windows[strings.ToLower(w.Ref.Name)]
		if named == nil || seen > len(v.windows) {
			b.fail(w.Ref.Span, "MISSING_WINDOW_SPECIFICATION", "Window specification is not defined in the WINDOW clause for `%s`.", w.Ref.Name)
			return nil, false
		}
		if !w.Bare && (w.PartitionBy != nil || w.OrderBy != nil || w.Frame != nil) {
			b.fail(w.Span, "PARSE_SYNTAX_ERROR", "A window that extends a named window is not supported.")
			return nil, false
		}
		w = named
		seen++
	}
	return w, true
}

// rankCall binds a ranking or offset function.
func (b *Binder) rankCall(e *ast.Call, name string, fn *funcs.WindowFunction, w *winExpr, v *env) (string, bool) {
	if e.Nulls == ast.IgnoreNulls && name != "lag" && name != "lead" && name != "nth_value" {
		b.noNullTreatment(e, name)
		return "", false
	}
	inner := *v
	inner.inWin = true
	args, ok := b.exprs(e.Args, &inner)
	if !ok {
		return "", false
	}
	fargs := make([]funcs.Arg, len(args))
	for i, a := range args {
		fargs[i] = b.arg(a)
	}
	bd, err := fn.Bind(b.session, fargs)
	if err != nil {
		b.failErr(e.Span, err)
		return "", false
	}
	if bd.Fn == nil {
		named := *bd
		named.Fn = fn
		bd = &named
	}
	w.call.Fn, w.call.IgnoreNulls = bd, e.Nulls == ast.IgnoreNulls
	for i, t := range bd.Args {
		x, ok := b.cast(e.Span, args[i].e, t)
		if !ok {
			return "", false
		}
		w.call.Args = append(w.call.Args, x)
	}
	if len(bd.Args) == 0 {
		args = nil
	}
	if upperWindow[name] {
		name = strings.ToUpper(name)
	}
	txt := printCall(name, b.rankTexts(name, args))
	if w.call.IgnoreNulls && name == "nth_value" {
		txt += " ignore nulls"
	}
	return txt, true
}

// rankTexts adds the defaults of lag and lead, which Spark prints.
func (b *Binder) rankTexts(name string, args []bound) []string {
	texts := textsOf(args)
	if name == "ntile" && len(texts) == 0 {
		texts = append(texts, "1")
	}
	if name == "lag" || name == "lead" {
		if len(texts) == 1 {
			texts = append(texts, "1")
		}
		if len(texts) == 2 {
			texts = append(texts, "NULL")
		}
	}
	return texts
}

// overAggregate binds an aggregate used as a window function.
func (b *Binder) overAggregate(e *ast.Call, name string, agg *funcs.Aggregate, w *winExpr, v *env) (string, bool) {
	if e.Distinct && (orderedSet[name] || name == "mode") {
		return "", b.withinGroup(e, name)
	}
	if e.Distinct {
		b.fail(e.Span, "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED", "Distinct window functions are not supported: %s.", ast.String(e))
		return "", false
	}
	inner := *v
	inner.inWin = true
	call, txt, ok := b.aggCall(e, name, agg, &inner)
	if !ok {
		return "", false
	}
	w.order = call.OrderBy
	w.call.Agg, w.call.Args, w.call.Filter = call.Fn, call.Args, call.Filter
	return txt, true
}

// windowParts binds partitioning, ordering and frame.
func (b *Binder) windowParts(e *ast.Call, spec *ast.Window, w *winExpr, v *env) bool {
	inner := *v
	inner.inWin = true
	parts, ok := b.exprs(spec.PartitionBy, &inner)
	w.partition, w.partTexts = exprsOf(parts), textsOf(parts)
	for _, it := range spec.OrderBy {
		k, x, good := b.sortKey(it, &inner)
		ok = ok && good
		w.order, w.keyTexts = append(w.order, k), append(w.keyTexts, keyText(k, x.text))
	}
	if !ok {
		return false
	}
	if fn := w.call.Fn; fn != nil && fn.Kind <= funcs.Lead && len(w.order) == 0 {
		b.fail(e.Span, "WINDOW_FUNCTION_FRAME_NOT_ORDERED", "Window function %s requires window to be ordered, please add ORDER BY clause.", fn.Fn.Name)
		return false
	}
	return b.frame(e, spec, w, v)
}

// frame fills in the frame: the written one or the default.
func (b *Binder) frame(e *ast.Call, spec *ast.Window, w *winExpr, v *env) bool {
	fr := &w.call.Frame
	if spec.Frame == nil {
		*fr = defaultFrame(w)
		return true
	}
	if fn := w.call.Fn; fn != nil && fn.FixedFrame {
		if fn.Kind != funcs.Lag && fn.Kind != funcs.Lead && fn.Kind != funcs.CumeDist && runningRows(spec.Frame) {
			*fr = defaultFrame(w)
			return true
		}
		b.fail(spec.Frame.Span, "_LEGACY_ERROR_TEMP_1036", "The frame of the window function %s must not be specified.", w.call.Fn.Fn.Name)
		return false
	}
	if spec.Frame.Unit == ast.RangeUnit {
		fr.Unit = logical.Range
	}
	end := ast.Bound{Kind: ast.CurrentRow}
	if spec.Frame.End != nil {
		end = *spec.Frame.End
	}
	var ok, ok2 bool
	fr.Start, w.boundTexts[0], ok = b.frameBound(spec.Frame.Start, fr.Unit, w)
	fr.End, w.boundTexts[1], ok2 = b.frameBound(end, fr.Unit, w)
	if !ok || !ok2 {
		return false
	}
	if fr.Start.Kind == logical.UnboundedFollowing || fr.End.Kind == logical.UnboundedPreceding {
		b.fail(spec.Frame.Span, "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_INVALID_BOUND",
			"Window frame upper bound %q does not follow the lower bound %q.", b.boundText(fr.End), b.boundText(fr.Start))
		return false
	}
	if fr.Start.Kind > fr.End.Kind && (fr.Start.Offset != nil && fr.End.Offset != nil) || aboveEnd(fr) {
		b.fail(spec.Frame.Span, "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON",
			"The lower bound of a window frame must be less than or equal to the upper bound.")
		return false
	}
	if s, e := fr.Start.Offset, fr.End.Offset; s != nil && e != nil && !s.Type().SameShape(e.Type()) {
		b.fail(spec.Frame.Span, "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_DIFF_TYPES",
			"Window frame bounds must have the same type, but they are %q and %q.", s.Type().SQL(), e.Type().SQL())
		return false
	}
	return true
}

// aboveEnd reports a frame whose offsets are the wrong way round.
func aboveEnd(fr *logical.Frame) bool {
	a, ok := signedOffset(fr.Start)
	z, ok2 := signedOffset(fr.End)
	return ok && ok2 && a > z
}

// signedOffset is a bound with an integer offset relative to the row.
func signedOffset(f logical.FrameBound) (int64, bool) {
	l, ok := f.Offset.(*logical.Literal)
	if !ok {
		return 0, false
	}
	var n int64
	switch v := column.At(l.Value, 0).(type) {
	case int8:
		n = int64(v)
	case int16:
		n = int64(v)
	case int32:
		n = int64(v)
	case int64:
		n = v
	default:
		return 0, false
	}
	if f.Kind == logical.Preceding {
		n = -n
	}
	return n, true
}

// runningRows is whether a frame is the one that the ranking functions have.
func runningRows(f *ast.Frame) bool {
	return f.Unit == ast.Rows && f.Start.Kind == ast.UnboundedPreceding && (f.End == nil || f.End.Kind == ast.CurrentRow)
}

func defaultFrame(w *winExpr) logical.Frame {
	all := logical.Frame{Start: logical.FrameBound{Kind: logical.UnboundedPreceding}, End: logical.FrameBound{Kind: logical.UnboundedFollowing}}
	if w.call.Fn != nil && w.call.Fn.FixedFrame {
		all.End.Kind = logical.CurrentRow
		return all
	}
	if len(w.order) == 0 {
		return all
	}
	all.Unit, all.End.Kind = logical.Range, logical.CurrentRow
	return all
}

// frameBound binds one end, with its printed form. Offsets are constants; for
// RANGE they have a type that can be added to the ordering key.
func (b *Binder) frameBound(x ast.Bound, unit logical.FrameUnit, w *winExpr) (logical.FrameBound, string, bool) {
	out := logical.FrameBound{Kind: logical.BoundKind(x.Kind)}
	if x.Kind != ast.Preceding && x.Kind != ast.Following {
		return out, "", true
	}
	y, ok := b.expr(x.X, plain(&scope{}, "frame"))
	if !ok {
		return out, "", false
	}
	val, isConst := b.constant(y.e)
	if !isConst || val.IsNull(0) {
		b.fail(x.X.Range(), "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WITHOUT_FOLDABLE", "Window frame bound %q is not a constant.", y.text)
		return out, "", false
	}
	want, text := schema.Of(schema.Int32), ""
	if unit == logical.Range {
		if want, ok = b.rangeType(x, y, w); !ok {
			return out, "", false
		}
		text = rangeBoundText(x.Kind, y, want)
	} else if y.typ().Kind != schema.Int32 {
		b.fail(x.X.Range(), "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE",
			`The data type "%s" of a ROWS bound is not "INT".`, y.typ().SQL())
		return out, "", false
	}
	c, ok := b.cast(x.X.Range(), y.e, want)
	if !ok {
		return out, "", false
	}
	val, ferr := fold(c, b.session)
	switch {
	case ferr != nil:
		b.failErr(x.X.Range(), ferr)
		return out, "", false
	case val.IsNull(0):
		b.fail(x.X.Range(), "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WITHOUT_FOLDABLE", "Window frame bound %q is not a constant.", y.text)
		return out, "", false
	}
	out.Offset = &logical.Literal{At: b.at(x.X.Range()), Value: val}
	return out, text, true
}

// rangeBoundText prints an offset of a RANGE frame: one that had to be cast
// shows how Spark keeps PRECEDING.
func rangeBoundText(kind ast.BoundKind, y bound, want schema.Type) string {
	switch {
	case kind == ast.Following:
		return y.text + " FOLLOWING"
	case y.typ().Kind != want.Kind:
		return "(- " + y.text + ") FOLLOWING"
	}
	return y.text + " PRECEDING"
}

// rangeType is the type that an offset of a RANGE frame must have.
func (b *Binder) rangeType(x ast.Bound, y bound, w *winExpr) (schema.Type, bool) {
	r := x.X.Range()
	switch {
	case len(w.order) == 0:
		b.fail(r, "DATATYPE_MISMATCH.RANGE_FRAME_WITHOUT_ORDER", "A range window frame cannot be used in an unordered window specification.")
		return schema.Type{}, false
	case len(w.order) > 1:
		b.fail(r, "DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER", "A range window frame with value boundaries cannot be used in a window specification with multiple order by expressions.")
		return schema.Type{}, false
	}
	k, o := w.order[0].Expr.Type(), y.typ()
	switch {
	case k.IsNumeric() && o.IsNumeric():
		return k, true
	case k.Kind == schema.Date && (o.Kind == schema.Int32 || o.Kind == schema.DayTimeInterval && o.To == schema.Day || o.Kind == schema.YearMonthInterval):
		return o, true
	case (k.Kind == schema.Timestamp || k.Kind == schema.TimestampNTZ) && isIntervalType(o):
		return o, true
	case k.Kind == o.Kind && isIntervalType(o):
		return k, true
	case k.IsNumeric() && o.Kind == schema.String:
		return k, true
	case (k.IsInteger() || k.Kind == schema.Decimal) && (o.Kind == schema.DayTimeInterval || o.Kind == schema.YearMonthInterval) && o.From == o.To:
		return k, true // a number of the interval's only unit
	case o.IsNumeric() && k.Kind != schema.String && k.Kind != schema.Boolean || isIntervalType(o):
		b.fail(r, "DATATYPE_MISMATCH.RANGE_FRAME_INVALID_TYPE",
			`The data type "%s" used in the order specification does not support the data type "%s" which is used in the range frame.`, k.SQL(), o.SQL())
		return k, false
	}
	b.fail(r, "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE",
		`The data type of the window frame bound is expected to fit "%s", but it is "%s".`, k.SQL(), o.SQL())
	return k, false
}

func isIntervalType(t schema.Type) bool {
	return t.Kind == schema.DayTimeInterval || t.Kind == schema.YearMonthInterval || t.Kind == schema.CalendarInterval
}

// windowText prints the specification as Spark does.
func (b *Binder) windowText(w *winExpr) string {
	var parts []string
	if len(w.partTexts) > 0 {
		parts = append(parts, "PARTITION BY "+strings.Join(w.partTexts, ", "))
	}
	if len(w.keyTexts) > 0 {
		parts = append(parts, "ORDER BY "+strings.Join(w.keyTexts, ", "))
	}
	fr := w.call.Frame
	if fn := w.call.Fn; fn != nil && (fn.Kind == funcs.Lag || fn.Kind == funcs.Lead) {
		at := b.offsetText(w)
		return strings.Join(append(parts, "ROWS BETWEEN "+at+" FOLLOWING AND "+at+" FOLLOWING"), " ")
	}
	unit := "ROWS"
	if fr.Unit == logical.Range || w.call.Fn != nil && w.call.Fn.Kind == funcs.CumeDist {
		unit = "RANGE"
	}
	ends := [2]string{b.boundText(fr.Start), b.boundText(fr.End)}
	for i, t := range w.boundTexts {
		if t != "" {
			ends[i] = t
		}
	}
	parts = append(parts, unit+" BETWEEN "+ends[0]+" AND "+ends[1])
	return strings.Join(parts, " ")
}

// offsetText is the offset of lag and lead as a row number ahead.
func (b *Binder) offsetText(w *winExpr) string {
	n := int64(1)
	if len(w.call.Args) > 1 {
		if v, ok := b.constant(w.call.Args[1]); ok && !v.IsNull(0) {
			n, _ = signedOffset(logical.FrameBound{Kind: logical.Following, Offset: &logical.Literal{Value: v}})
		}
	}
	if w.call.Fn.Kind == funcs.Lag {
		n = -n
	}
	return strconv.FormatInt(n, 10)
}

func (b *Binder) boundText(f logical.FrameBound) string {
	switch f.Kind {
	case logical.UnboundedPreceding:
		return "UNBOUNDED PRECEDING"
	case logical.UnboundedFollowing:
		return "UNBOUNDED FOLLOWING"
	case logical.CurrentRow:
		return "CURRENT ROW"
	}
	word := " PRECEDING"
	if f.Kind == logical.Following {
		word = " FOLLOWING"
	}
	return b.literalText(f.Offset.(*logical.Literal).Value) + word
}
