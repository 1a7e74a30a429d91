package bind

import (
	"strings"

	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// The automatic name of a column is the text that Spark prints for its
// expression. Where that is not name(arg, arg), it stands here by rule; the
// integration test compares it with a Spark.

// upperPrinted are functions whose names print in capitals.
var upperPrinted = wordSet(`sqrt exp cbrt power log log10 log2 log1p expm1 sin cos tan cot sec csc asin acos atan atan2
	sinh cosh tanh asinh acosh atanh degrees radians hypot signum e pi regexp regexp_like rlike spark_partition_id`)

// upperWindow are the ranks that print in capitals.
var upperWindow = wordSet("rank dense_rank percent_rank")

func wordSet(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// printedDefaults are arguments that print although they were left out: for
// each function those from its first optional one on, after the number of
// arguments that it needs.
var printedDefaults = map[string]struct {
	needs int
	rest  []string
}{
	"unix_timestamp":     {1, []string{"yyyy-MM-dd HH:mm:ss"}},
	"to_unix_timestamp":  {1, []string{"yyyy-MM-dd HH:mm:ss"}},
	"from_unixtime":      {1, []string{"yyyy-MM-dd HH:mm:ss"}},
	"months_between":     {2, []string{"true"}},
	"regexp_replace":     {3, []string{"1"}},
	"regexp_extract":     {2, []string{"1"}},
	"regexp_extract_all": {2, []string{"1"}},
	"regexp_instr":       {2, []string{"0"}},
	"substring":          {2, []string{"2147483647"}},
	"substr":             {2, []string{"2147483647"}},
	"lpad":               {2, []string{" "}},
	"rpad":               {2, []string{" "}},
	"replace":            {2, []string{""}},
	"split":              {2, []string{"-1"}},
	"position":           {2, []string{"1"}},
	"locate":             {2, []string{"1"}},
	"overlay":            {3, []string{"-1"}},
	"percentile":         {2, []string{"1"}},
	"percentile_approx":  {2, []string{"10000"}},
	"approx_percentile":  {2, []string{"10000"}},
	"listagg":            {1, []string{"NULL"}},
	"string_agg":         {1, []string{"NULL"}},
	"make_dt_interval":   {0, []string{"0", "0", "0", "0.000000"}},
	"make_interval":      {0, []string{"0", "0", "0", "0", "0", "0", "0.000000"}},
	"mask":               {1, []string{"X", "x", "n", "NULL"}},
	"sentences":          {1, []string{"", ""}},
}

func withDefaults(name string, args []string) []string {
	d, ok := printedDefaults[name]
	if n := len(args) - d.needs; ok && n >= 0 && n < len(d.rest) {
		return append(append([]string(nil), args...), d.rest[n:]...)
	}
	return args
}

// printedName gives functions that print under another name.
var printedName = map[string]string{"current_database": "current_schema", "random": "rand", "negative": "negative"}

// trimWords are the forms of trim with the characters to cut.
var trimWords = map[string]string{"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}

// printSpecial prints a call of a function whose printed form has a rule; ok
// is false for the others. types are the arguments' types.
func printSpecial(name string, args []string, types []schema.Type) (string, bool) {
	n := len(args)
	switch {
	case n == 2 && (name == "+" || name == "-" || name == "*"):
		return printTimeArithmetic(name, args, types)
	case n == 2 && (name == "mod" || strings.HasPrefix(name, "shift")):
		return printCall(name, args), true
	case name == "ceiling":
		return printCall(name, args), true
	case n == 2 && trimWords[name] != "":
		return "TRIM(" + trimWords[name] + " " + args[0] + " FROM " + args[1] + ")", true
	case n == 2 && (name == "datepart" || name == "extract"):
		return name + "(" + args[0] + " FROM " + args[1] + ")", true
	case n == 2 && (name == "to_char" || name == "to_varchar"):
		return printToChar(name, args, types[0].Kind)
	case n == 1 && name == "assert_true":
		return "assert_true(" + args[0] + ", '" + args[0] + "' is not true!)", true
	case n == 1 && name == "raise_error":
		return "raise_error(USER_RAISED_EXCEPTION, map(errorMessage, " + args[0] + "))", true
	case n == 0 && name == "curdate":
		return "current_date()", true
	case n == 0 && name == "unix_timestamp":
		return "unix_timestamp(current_timestamp(), yyyy-MM-dd HH:mm:ss)", true
	case n == 2 && (name == "lpad" || name == "rpad") && types[0].Kind == schema.Binary:
		return printCall(name, append(args[:2:2], "X'00'")), true
	case n == 1 && name == "log":
		return "LOG(E(), " + args[0] + ")", true
	case n == 2 && name == "dateadd":
		return printCall("date_add", args), true
	case upperPrinted[name]:
		return printCall(strings.ToUpper(name), args), true
	case printedName[name] != "":
		return printCall(printedName[name], args), true
	}
	if more := withDefaults(name, args); len(more) > n {
		return printCall(name, more), true
	}
	return "", false
}

// printTimeArithmetic prints dates, timestamps and intervals in arithmetic.
func printTimeArithmetic(op string, a []string, types []schema.Type) (string, bool) {
	l, r := types[0], types[1]
	time := func(t schema.Type) bool {
		return t.Kind == schema.Date || t.Kind == schema.Timestamp || t.Kind == schema.TimestampNTZ
	}
	switch {
	case op == "*" && isIntervalType(r) && !isIntervalType(l):
		return "(" + a[1] + " * " + a[0] + ")", true
	case op == "+" && isIntervalType(l) && (time(r) || r.Kind == schema.String), op == "+" && l.Kind == schema.Void && time(r):
		return printTimeArithmetic(op, []string{a[1], a[0]}, []schema.Type{r, l})
	case op != "*" && l.Kind == schema.Date && r.Kind == schema.DayTimeInterval && r.From == schema.Day && r.To == schema.Day:
		days := "extractansiintervaldays(" + a[1] + ")"
		if op == "-" {
			days = "(- " + days + ")"
		}
		return "date_add(" + a[0] + ", " + days + ")", true
	case op != "*" && (time(l) || l.Kind == schema.String) && isIntervalType(r), op == "+" && time(l) && r.Kind == schema.Void:
		return a[0] + " " + op + " " + a[1], true
	case op == "+" && l.IsInteger() && r.Kind == schema.Date:
		return printCall("date_add", []string{a[1], a[0]}), true
	case op != "*" && l.Kind == schema.Date && r.IsInteger():
		return printCall(map[string]string{"+": "date_add", "-": "date_sub"}[op], a), true
	}
	return "", false
}

// printToChar prints to_char and to_varchar as the functions that they are
// replaced by.
func printToChar(name string, args []string, k schema.Kind) (string, bool) {
	switch {
	case k == schema.Date || k == schema.Timestamp || k == schema.TimestampNTZ:
		return printCall("date_format", args), true
	case k != schema.Binary:
		return printCall("to_char", args), true
	case name == "to_varchar":
		return printCall(name, args[:1]), true
	}
	switch f := strings.ToLower(args[1]); f {
	case "base64", "hex":
		return printCall(f, args[:1]), true
	}
	return printCall("decode", args), true
}

// formText prints the calls with words between their arguments as the
// functions behind them.
func formText(form ast.CallForm, args []argument, printed string) string {
	switch {
	case form == ast.ExtractCall && len(args) == 2:
		return "extract(" + args[0].text + " FROM " + args[1].text + ")"
	case form == ast.SubstringCall && strings.HasPrefix(printed, "substr("):
		return "substring" + printed[len("substr"):]
	case form == ast.PositionCall && strings.HasPrefix(printed, "position("):
		return "locate" + printed[len("position"):]
	}
	return printed
}

// aggText prints a call of an aggregate; keys are the printed keys of WITHIN
// GROUP, which the functions of a percentage print by inverseText.
func aggText(e *ast.Call, name string, texts []string, call *logical.AggCall, keys []string) string {
	switch {
	case call.Fn.Print != nil:
		return call.Fn.Print(texts, e.Distinct)
	case picksValue[name]:
		texts = texts[:1] // whether nulls count does not print
		if e.Nulls != ast.DefaultNulls && name != "any_value" {
			name = strings.TrimSuffix(name, "_value")
		}
	case name == "array_agg":
		name = "collect_list"
	case name == "approx_count_distinct":
		texts = texts[:1]
	case name == "mode" && len(texts) == 2 && texts[1] == "true":
		return inverseText(name, "", texts[0], true)
	case name == "mode":
		texts = texts[:1]
	case name == "string_agg" && len(call.OrderBy) > 0:
		name = "listagg"
	}
	args := strings.Join(withDefaults(name, texts), ", ")
	if e.Distinct {
		args = "DISTINCT " + args
	}
	txt := name + "(" + args + ")"
	if len(call.OrderBy) == 0 {
		return txt
	}
	order := make([]string, len(keys))
	for i, k := range call.OrderBy {
		order[i] = keyText(k, keys[i])
	}
	return txt + " WITHIN GROUP (ORDER BY " + strings.Join(order, ", ") + ")"
}

// inverseText prints name(arg) WITHIN GROUP (ORDER BY key).
func inverseText(name, arg, key string, desc bool) string {
	if desc {
		key += " DESC"
	}
	return name + "(" + arg + ") WITHIN GROUP (ORDER BY " + key + ")"
}
