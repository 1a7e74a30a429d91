package bind

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// literal binds a literal of any kind.
func (b *Binder) literal(e ast.Expr) (bound, bool) {
	at := b.at(e.Range())
	lit := func(k schema.Kind, v any, txt string) (bound, bool) {
		return bound{e: &logical.Literal{At: at, Value: column.Constant(schema.Of(k), 1, v)}, text: txt}, true
	}
	switch e := e.(type) {
	case *ast.NullLit:
		return bound{e: nullLiteral(at, schema.Of(schema.Void)), text: "NULL"}, true
	case *ast.BoolLit:
		return lit(schema.Boolean, e.Value, strconv.FormatBool(e.Value))
	case *ast.StringLit:
		return lit(schema.String, e.Value, e.Value)
	case *ast.BinaryLit:
		return lit(schema.Binary, e.Value, "X'"+strings.ToUpper(hex.EncodeToString(e.Value))+"'")
	case *ast.NumberLit:
		return b.number(e, at)
	case *ast.TypedLit:
		return b.typedLiteral(e, at)
	case *ast.IntervalLit:
		return b.interval(e, at)
	}
	return b.misplaced(e)
}

func (b *Binder) number(e *ast.NumberLit, at logical.At) (bound, bool) {
	lit := func(t schema.Type, v any, txt string) (bound, bool) {
		return bound{e: &logical.Literal{At: at, Value: column.Constant(t, 1, v)}, text: txt}, true
	}
	integer := func(k schema.Kind, bits int) (bound, bool) {
		n, err := strconv.ParseInt(e.Text, 10, bits)
		if err != nil {
			return b.badNumber(e)
		}
		return lit(schema.Of(k), n, strconv.FormatInt(n, 10))
	}
	switch e.Kind {
	case ast.TinyintNum:
		return integer(schema.Int8, 8)
	case ast.SmallintNum:
		return integer(schema.Int16, 16)
	case ast.BigintNum:
		return integer(schema.Int64, 64)
	case ast.Integer:
		n, err := strconv.ParseInt(e.Text, 10, 64)
		if err != nil {
			return b.decimalNumber(e, at)
		}
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			return lit(schema.Of(schema.Int32), n, strconv.FormatInt(n, 10))
		}
		return lit(schema.Of(schema.Int64), n, strconv.FormatInt(n, 10))
	case ast.Decimal, ast.BigDecimal:
		return b.decimalNumber(e, at)
	case ast.FloatNum:
		f, err := strconv.ParseFloat(e.Text, 32)
		if err != nil && math.IsInf(f, 0) {
			return b.badNumber(e)
		}
		return lit(schema.Of(schema.Float32), float32(f), string(text.AppendFloat(nil, float32(f))))
	}
	f, err := strconv.ParseFloat(e.Text, 64)
	if err != nil && math.IsInf(f, 0) {
		return b.badNumber(e)
	}
	return lit(schema.Of(schema.Float64), f, string(text.AppendDouble(nil, f)))
}

func (b *Binder) badNumber(e *ast.NumberLit) (bound, bool) {
	b.fail(e.Span, "INVALID_NUMERIC_LITERAL_RANGE", "Numeric literal %s is outside the valid range of its type.", e.Text)
	return bound{}, false
}

func (b *Binder) decimalNumber(e *ast.NumberLit, at logical.At) (bound, bool) {
	v, p, s, ok := text.ParseDecimalAny([]byte(e.Text))
	if !ok {
		b.fail(e.Span, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "Decimal precision exceeds max precision 38.")
		return bound{}, false
	}
	t := schema.DecimalOf(max(p, 1), s)
	return bound{e: &logical.Literal{At: at, Value: decimalConstant(t, v)}, text: string(text.AppendDecimalJava(nil, v, s))}, true
}

// decimalConstant makes a one-row constant of an unscaled value.
func decimalConstant(t schema.Type, v column.Int128) *column.Vector {
	if t.Precision > column.MaxDecimal64 {
		return column.Constant(t, 1, v)
	}
	return column.Constant(t, 1, int64(v.Lo))
}

// zone is the session's time zone.
func (b *Binder) zone() *text.Zone {
	if b.session.Location == nil {
		z, err := text.LoadZone("UTC")
		if err != nil {
			panic("bug: bind: no zone UTC: " + err.Error())
		}
		return z
	}
	return text.NewZone(b.session.Location)
}

func (b *Binder) typedLiteral(e *ast.TypedLit, at logical.At) (bound, bool) {
	lit := func(k schema.Kind, v int64, txt string) (bound, bool) {
		return bound{e: &logical.Literal{At: at, Value: column.Constant(schema.Of(k), 1, v)}, text: txt}, true
	}
	src := []byte(e.Value)
	switch e.Kind {
	case ast.DateLit:
		if d, ok := text.ParseDate(src); ok {
			return lit(schema.Date, int64(d), "DATE '"+string(text.AppendDate(nil, d))+"'")
		}
		if _, ok := text.SpecialDate(src, b.zone(), 0); ok {
			return b.special(e, schema.Date)
		}
		return b.badTyped(e, "DATE")
	case ast.TimeLit:
		b.fail(e.Span, "UNSUPPORTED_TIME_TYPE", "The data type TIME is not supported.")
		return bound{}, false
	case ast.TimestampNTZLit:
		if t, ok := text.ParseTimestampNTZ(src, true); ok { // a zone is left out
			return lit(schema.TimestampNTZ, t, "TIMESTAMP_NTZ '"+string(text.AppendTimestampNTZ(nil, t))+"'")
		}
		return b.badTyped(e, "TIMESTAMP_NTZ")
	case ast.TimestampLit:
		if strings.EqualFold(b.session.Conf["spark.sql.timestampType"], "TIMESTAMP_NTZ") {
			if t, ok := text.ParseTimestampNTZ(src, false); ok {
				return lit(schema.TimestampNTZ, t, "TIMESTAMP_NTZ '"+string(text.AppendTimestampNTZ(nil, t))+"'")
			}
		}
	}
	z := b.zone()
	if t, ok := text.ParseTimestamp(src, z); ok {
		return lit(schema.Timestamp, t, "TIMESTAMP '"+string(text.AppendTimestamp(nil, t, z))+"'")
	}
	if _, ok := text.SpecialTimestamp(src, z, 0); ok {
		return b.special(e, schema.Timestamp)
	}
	return b.badTyped(e, "TIMESTAMP")
}

// special binds DATE 'today' and the like, whose value is that of the run.
func (b *Binder) special(e *ast.TypedLit, k schema.Kind) (bound, bool) {
	at := b.at(e.Span)
	word := bound{e: &logical.Literal{At: at, Value: column.Constant(schema.Of(schema.String), 1, e.Value)}, text: e.Value}
	y, ok := b.castTo(e.Span, word, schema.Of(k), logical.CastANSI)
	y.text = schema.Of(k).SQL() + " '" + e.Value + "'"
	return y, ok
}

func (b *Binder) badTyped(e *ast.TypedLit, kind string) (bound, bool) {
	b.fail(e.Span, "INVALID_TYPED_LITERAL", `The value of the typed literal "%s" is invalid: '%s'.`, kind, e.Value)
	return bound{}, false
}

var intervalFields = map[ast.IntervalField]schema.IntervalField{
	ast.Year: schema.Year, ast.Month: schema.Month, ast.Day: schema.Day,
	ast.Hour: schema.Hour, ast.Minute: schema.Minute, ast.Second: schema.Second,
}

func (b *Binder) interval(e *ast.IntervalLit, at logical.At) (bound, bool) {
	if e.Start == ast.NoField {
		t := schema.Of(schema.CalendarInterval)
		v := column.Constant(t, 1, column.Interval{Months: e.Months, Days: e.Days, Micros: e.Micros})
		txt := string(text.AppendInterval(nil, text.Interval{Months: e.Months, Days: e.Days, Micros: e.Micros}))
		return bound{e: &logical.Literal{At: at, Value: v}, text: "INTERVAL '" + txt + "'"}, true
	}
	from, to := intervalFields[e.Start], intervalFields[e.End]
	if e.Start == ast.Year || e.Start == ast.Month {
		t := schema.Type{Kind: schema.YearMonthInterval, From: from, To: to}
		return bound{e: &logical.Literal{At: at, Value: column.Constant(t, 1, e.Months)}, text: string(text.AppendYearMonth(nil, e.Months, from, to))}, true
	}
	t := schema.Type{Kind: schema.DayTimeInterval, From: from, To: to}
	return bound{e: &logical.Literal{At: at, Value: column.Constant(t, 1, e.Micros)}, text: string(text.AppendDayTime(nil, e.Micros, from, to))}, true
}

// param binds :name or ?.
func (b *Binder) param(e *ast.Param) (bound, bool) {
	name := e.Name
	if name == "" {
		name = strconv.Itoa(e.Index)
	}
	l, ok := b.params[name]
	if !ok {
		known := make([]string, 0, len(b.params))
		for k := range b.params {
			known = append(known, k)
		}
		b.failHint(e.Span, "UNBOUND_SQL_PARAMETER", diag.DidYouMean(name, known), "Found the unbound parameter: "+name+".")
		return bound{}, false
	}
	return bound{e: &logical.Literal{At: b.at(e.Span), Value: l.Value}, text: b.literalText(l.Value)}, true
}

// literalText is Spark's printed form of a constant.
func (b *Binder) literalText(v *column.Vector) string {
	if v.IsNull(0) {
		return "NULL"
	}
	switch v.Type.Kind {
	case schema.String:
		return string(v.Str(0))
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		return strings.TrimRight(logical.LiteralText(v), "L")
	case schema.Float64:
		return string(text.AppendDouble(nil, v.F64[0]))
	case schema.Float32:
		return string(text.AppendFloat(nil, v.F32[0]))
	case schema.Decimal:
		x := column.Int128{}
		if v.Type.Precision > column.MaxDecimal64 {
			x = v.I128[0]
		} else {
			x = column.FromInt64(v.I64[0])
		}
		return string(text.AppendDecimalJava(nil, x, v.Type.Scale))
	case schema.Date:
		return "DATE '" + string(text.AppendDate(nil, v.I32[0])) + "'"
	case schema.Timestamp:
		return "TIMESTAMP '" + string(text.AppendTimestamp(nil, v.I64[0], b.zone())) + "'"
	case schema.YearMonthInterval:
		return string(text.AppendYearMonth(nil, v.I32[0], v.Type.From, v.Type.To))
	case schema.DayTimeInterval:
		return string(text.AppendDayTime(nil, v.I64[0], v.Type.From, v.Type.To))
	}
	return logical.LiteralText(v)
}

// ParseValue reads the text of a parameter as a literal of type t.
func ParseValue(s *funcs.Session, t schema.Type, value string) (*logical.Literal, error) {
	src := &logical.Literal{Value: column.Constant(schema.Of(schema.String), 1, value)}
	if t.Kind == schema.String {
		return src, nil
	}
	bd, err := funcs.BindCast(s, funcs.Arg{Type: src.Type(), Const: src.Value, Text: value}, t, funcs.CastMode(logical.CastANSI))
	if err != nil {
		return nil, err
	}
	v, ferr := fold(&logical.Cast{Input: src, To: t, Fn: bd}, s)
	if ferr != nil {
		return nil, ferr
	}
	return &logical.Literal{Value: v}, nil
}
