package bind

import (
	"strings"

	"pipelines/sqlplan/ast"
	"pipelines/tables/schema"
)

// The automatic name of a column is the text that Spark prints for its
// expression. Where that is not name(arg, arg), it stands here by rule; the
// integration test compares it with a Spark.

// upperPrinted are functions whose names print in capitals.
var upperPrinted = wordSet(`sqrt exp cbrt power log log10 log2 log1p expm1 sin cos tan cot sec csc asin acos atan atan2
	sinh cosh tanh asinh acosh atanh degrees radians hypot signum e pi regexp_like spark_partition_id`)

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
}

func withDefaults(name string, args []string) []string {
	d, ok := printedDefaults[name]
	if n := len(args) - d.needs; ok && n >= 0 && n < len(d.rest) {
		return append(append([]string(nil), args...), d.rest[n:]...)
	}
	return args
}

// printedName gives functions that print under another name.
var printedName = map[string]string{"current_database": "current_schema", "negative": "negative"}

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
	case n == 1 && name == "log":
		return "LOG(E(), " + args[0] + ")", true
	case n == 2 && name == "dateadd":
		return printCall("date_add", args), true
	case n == 3 && name == "dateadd":
		return printCall("timestampadd", args), true
	case n == 3 && name == "datediff":
		return printCall("timestampdiff", args), true
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
	case op == "+" && isIntervalType(l) && time(r):
		return printTimeArithmetic(op, []string{a[1], a[0]}, []schema.Type{r, l})
	case op != "*" && l.Kind == schema.Date && r.Kind == schema.DayTimeInterval && r.From == schema.Day && r.To == schema.Day:
		days := "extractansiintervaldays(" + a[1] + ")"
		if op == "-" {
			days = "(- " + days + ")"
		}
		return "date_add(" + a[0] + ", " + days + ")", true
	case op != "*" && time(l) && isIntervalType(r):
		return a[0] + " " + op + " " + a[1], true
	case op == "+" && l.IsInteger() && r.Kind == schema.Date:
		return printCall("date_add", []string{a[1], a[0]}), true
	case op != "*" && l.Kind == schema.Date && r.IsInteger():
		return printCall(map[string]string{"+": "date_add", "-": "date_sub"}[op], a), true
	}
	return "", false
}

// aggText prints a call of an aggregate.
func aggText(e *ast.Call, name string, print func([]string, bool) string, texts []string) string {
	switch {
	case print != nil:
		return print(texts, e.Distinct)
	case picksValue[name]:
		texts = texts[:1] // whether nulls count does not print
	case name == "array_agg":
		name = "collect_list"
	}
	texts = withDefaults(name, texts)
	if e.Distinct {
		return name + "(DISTINCT " + strings.Join(texts, ", ") + ")"
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}
