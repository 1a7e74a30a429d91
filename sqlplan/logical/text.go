package logical

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

func attrText(a Attr) string { return a.Name + "#" + strconv.Itoa(int(a.ID)) }

func attrList(as []Attr) string {
	parts := make([]string, len(as))
	for i, a := range as {
		parts[i] = attrText(a)
		if a.Watermark >= 0 {
			parts[i] += "~" + micros(a.Watermark)
		}
	}
	return strings.Join(parts, ", ")
}

func exprList(es []Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = Text(e)
	}
	return strings.Join(parts, ", ")
}

func aliasList(as []Alias) string {
	parts := make([]string, len(as))
	for i, a := range as {
		if c, ok := a.Expr.(*Column); ok && c.Attr.ID == a.Attr.ID && c.Attr.Name == a.Attr.Name {
			parts[i] = Text(a.Expr)
		} else {
			parts[i] = Text(a.Expr) + " AS " + attrText(a.Attr)
		}
		if a.Attr.Watermark >= 0 {
			parts[i] += "~" + micros(a.Attr.Watermark)
		}
	}
	return strings.Join(parts, ", ")
}

func keyList(ks []SortKey) string {
	parts := make([]string, len(ks))
	for i, k := range ks {
		parts[i] = Text(k.Expr)
		if k.Descending {
			parts[i] += " DESC"
		}
		if k.NullsLast != k.Descending {
			if k.NullsLast {
				parts[i] += " NULLS LAST"
			} else {
				parts[i] += " NULLS FIRST"
			}
		}
	}
	return strings.Join(parts, ", ")
}

func aggText(a AggCall) string {
	s := a.Fn.Fn.Name + "("
	if a.Distinct {
		s += "DISTINCT "
	}
	s += exprList(a.Args) + ")"
	if len(a.OrderBy) > 0 {
		s += " within group [" + keyList(a.OrderBy) + "]"
	}
	if a.Filter != nil {
		s += " filter " + Text(a.Filter)
	}
	return s + " AS " + attrText(a.Attr)
}

func windowCallText(c WindowCall) string {
	name := ""
	if c.Fn != nil {
		name = c.Fn.Fn.Name
	} else {
		name = c.Agg.Fn.Name
	}
	s := name + "("
	if c.Distinct {
		s += "DISTINCT "
	}
	s += exprList(c.Args) + ")"
	if c.IgnoreNulls {
		s += " ignore nulls"
	}
	if c.Filter != nil {
		s += " filter " + Text(c.Filter)
	}
	unit := "rows"
	if c.Frame.Unit == Range {
		unit = "range"
	}
	return s + " " + unit + " " + boundText(c.Frame.Start) + " to " + boundText(c.Frame.End) + " AS " + attrText(c.Attr)
}

func boundText(b FrameBound) string {
	switch b.Kind {
	case UnboundedPreceding:
		return "unbounded preceding"
	case Preceding:
		return Text(b.Offset) + " preceding"
	case Following:
		return Text(b.Offset) + " following"
	case UnboundedFollowing:
		return "unbounded following"
	}
	return "current row"
}

// Text prints an expression for explain and error messages of plans. Columns
// carry their id.
//
//tidy:allow-long one case an expression kind
func Text(e Expr) string {
	switch e := e.(type) {
	case nil:
		return ""
	case *Column:
		return attrText(e.Attr)
	case *Literal:
		return LiteralText(e.Value)
	case *Call:
		return callText(e)
	case *Cast:
		name := "cast"
		switch {
		case e.Mode == CastTry:
			name = "try_cast"
		case e.Mode == CastLegacy:
			name = "legacy_cast"
		}
		return name + "(" + Text(e.Input) + " AS " + e.To.String() + ")"
	case *FieldAccess:
		return Text(e.Input) + "." + e.Input.Type().Fields[e.Index].Name
	case *And:
		return joinArgs(e.Args, " AND ")
	case *Or:
		return joinArgs(e.Args, " OR ")
	case *Case:
		s := "CASE"
		for _, b := range e.Branches {
			s += " WHEN " + Text(b.When) + " THEN " + Text(b.Then)
		}
		if e.Else != nil {
			s += " ELSE " + Text(e.Else)
		}
		return s + " END"
	case *Coalesce:
		return "coalesce(" + exprList(e.Args) + ")"
	case *Common:
		return "common" + strconv.Itoa(e.Number) + "(" + Text(e.Input) + ")"
	case *Lambda:
		return "(" + attrList(e.Params) + ") -> " + Text(e.Body)
	case *Subquery:
		switch e.Kind {
		case ExistsSubquery:
			return "EXISTS(subquery)"
		case InSubquery:
			return "(" + exprList(e.Left) + " IN (subquery))"
		}
		return "scalar(subquery)"
	}
	// The binder's placeholders print themselves.
	if s, ok := e.(fmt.Stringer); ok {
		return s.String()
	}
	panic(fmt.Sprintf("bug: logical: no text of %T", e))
}

func joinArgs(args []Expr, sep string) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = Text(a)
	}
	return "(" + strings.Join(parts, sep) + ")"
}

func callText(e *Call) string {
	name := "?"
	if e.Fn.Fn != nil {
		name = e.Fn.Fn.Name
	}
	if symbolic := name != "" && strings.IndexFunc(name, isLetter) < 0; symbolic {
		switch len(e.Args) {
		case 1:
			return "(" + name + Text(e.Args[0]) + ")"
		case 2:
			return "(" + Text(e.Args[0]) + " " + name + " " + Text(e.Args[1]) + ")"
		}
	}
	return name + "(" + exprList(e.Args) + ")"
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// LiteralText prints a one-row constant.
func LiteralText(v *column.Vector) string { return valueText(v, 0) }

func valueText(v *column.Vector, i int) string {
	if v.IsNull(i) {
		return "null"
	}
	i = v.Row(i)
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		return strconv.FormatBool(v.Bool[i])
	case column.PhysI8:
		return strconv.Itoa(int(v.I8[i]))
	case column.PhysI16:
		return strconv.Itoa(int(v.I16[i]))
	case column.PhysI32:
		return int32Text(v.Type, v.I32[i])
	case column.PhysI64:
		return int64Text(v.Type, v.I64[i])
	case column.PhysI128:
		return decimalText(int128Text(v.I128[i]), v.Type.Scale)
	case column.PhysF32:
		return strconv.FormatFloat(float64(v.F32[i]), 'g', -1, 32) + "F"
	case column.PhysF64:
		return strconv.FormatFloat(v.F64[i], 'g', -1, 64) + "D"
	case column.PhysBytes:
		if v.Type.Kind == schema.Binary {
			return "X'" + strings.ToUpper(hex.EncodeToString(v.Str(i))) + "'"
		}
		return strconv.Quote(string(v.Str(i)))
	case column.PhysList:
		return listText(v, i)
	case column.PhysStruct:
		parts := make([]string, len(v.Children))
		for k, c := range v.Children {
			parts[k] = valueText(c, i)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "null"
}

func listText(v *column.Vector, i int) string {
	from, to := v.List(i)
	var parts []string
	for r := from; r < to; r++ {
		s := valueText(v.Children[0], r)
		if v.Type.Kind == schema.Map {
			s += ": " + valueText(v.Children[1], r)
		}
		parts = append(parts, s)
	}
	if v.Type.Kind == schema.Map {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func int32Text(t schema.Type, n int32) string {
	switch t.Kind {
	case schema.Date:
		return "date'" + time.Unix(int64(n)*86400, 0).UTC().Format("2006-01-02") + "'"
	case schema.YearMonthInterval:
		return "interval'" + strconv.Itoa(int(n)) + " months'"
	}
	return strconv.Itoa(int(n))
}

func int64Text(t schema.Type, n int64) string {
	switch t.Kind {
	case schema.Timestamp:
		return "timestamp'" + time.UnixMicro(n).UTC().Format("2006-01-02 15:04:05.999999") + "'"
	case schema.TimestampNTZ:
		return "timestamp_ntz'" + time.UnixMicro(n).UTC().Format("2006-01-02 15:04:05.999999") + "'"
	case schema.DayTimeInterval:
		return "interval'" + micros(n) + "'"
	case schema.Decimal:
		return decimalText(strconv.FormatInt(n, 10), t.Scale)
	case schema.Int64:
		return strconv.FormatInt(n, 10) + "L"
	}
	return strconv.FormatInt(n, 10)
}

func int128Text(v column.Int128) string {
	hi, lo, neg := uint64(v.Hi), v.Lo, v.Hi < 0
	if neg {
		lo = ^lo + 1
		hi = ^hi
		if lo == 0 {
			hi++
		}
	}
	var digits []byte
	for hi != 0 || lo != 0 {
		var rem uint64
		hi, lo, rem = divTen(hi, lo)
		digits = append(digits, byte('0'+rem))
	}
	if len(digits) == 0 {
		digits = []byte{'0'}
	}
	if neg {
		digits = append(digits, '-')
	}
	for i, j := 0, len(digits)-1; i < j; i, j = i+1, j-1 {
		digits[i], digits[j] = digits[j], digits[i]
	}
	return string(digits)
}

func decimalText(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}
