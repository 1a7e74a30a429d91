package funcs

import (
	"fmt"
	"strconv"
	"strings"

	"pipelines/tables/schema"
)

// Errors of rows, in Spark's wording. All are one line.

const ansiConfig = `"spark.sql.ansi.enabled"`

func quoteType(t schema.Type) string { return `"` + t.SQL() + `"` }

func errDivideByZero() *Error {
	return NewError("DIVIDE_BY_ZERO", "Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead. "+
		"If necessary set "+ansiConfig+` to "false" to bypass this error.`, map[string]string{"config": ansiConfig})
}

func errRemainderByZero() *Error {
	return NewError("REMAINDER_BY_ZERO", "Remainder by zero. Use `try_mod` to tolerate divisor being 0 and return NULL instead. "+
		"If necessary set "+ansiConfig+` to "false" to bypass this error.`, map[string]string{"config": ansiConfig})
}

func errIntervalDividedByZero() *Error {
	return NewError("INTERVAL_DIVIDED_BY_ZERO",
		"Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead.", nil)
}

// errOverflow is ARITHMETIC_OVERFLOW; what is the text before the hint
// ("integer overflow"), try the function that gives null instead, or "".
func errOverflow(what, try string) *Error {
	alternative := ""
	if try != "" {
		alternative = " Use `" + try + "` to tolerate overflow and return NULL instead."
	}
	return NewError("ARITHMETIC_OVERFLOW", upperFirst(what)+"."+alternative+" If necessary set "+ansiConfig+
		` to "false" to bypass this error.`, map[string]string{"message": what, "alternative": alternative, "config": ansiConfig})
}

func errBinaryOverflow(v1, symbol, v2, try string) *Error {
	hint := ""
	if try != "" {
		hint = " Use `" + try + "` to tolerate overflow and return NULL instead."
	}
	return NewError("BINARY_ARITHMETIC_OVERFLOW", v1+" "+symbol+" "+v2+" caused overflow."+hint,
		map[string]string{"value1": v1, "symbol": symbol, "value2": v2, "functionName": "`" + try + "`"})
}

func errIntervalOverflow(try string) *Error {
	if try == "" {
		return NewError("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "Integer overflow while operating with intervals. Try devising appropriate values for the interval parameters.", nil)
	}
	return NewError("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION", "Integer overflow while operating with intervals. Use `"+try+
		"` to tolerate overflow and return NULL instead.", map[string]string{"functionName": "`" + try + "`"})
}

func errDecimalRange(value string, precision, scale int) *Error {
	return NewError("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", value+" cannot be represented as Decimal("+
		strconv.Itoa(precision)+", "+strconv.Itoa(scale)+"). If necessary set "+ansiConfig+` to "false" to bypass this error, and return NULL instead.`,
		map[string]string{"value": value, "precision": strconv.Itoa(precision), "scale": strconv.Itoa(scale), "config": ansiConfig})
}

func errCastInput(value string, from, to schema.Type) *Error {
	return NewError("CAST_INVALID_INPUT", "The value "+value+" of the type "+quoteType(from)+" cannot be cast to "+quoteType(to)+
		" because it is malformed. Correct the value as per the syntax, or change its target type. Use `try_cast` to tolerate malformed input and return NULL instead.",
		map[string]string{"expression": value, "sourceType": quoteType(from), "targetType": quoteType(to)})
}

func errCastOverflow(value string, from, to schema.Type) *Error {
	return NewError("CAST_OVERFLOW", "The value "+value+" of the type "+quoteType(from)+" cannot be cast to "+quoteType(to)+
		" due to an overflow. Use `try_cast` to tolerate overflow and return NULL instead.",
		map[string]string{"value": value, "sourceType": quoteType(from), "targetType": quoteType(to)})
}

// errParam is INVALID_PARAMETER_VALUE.<sub>.
func errParam(sub, parameter, function, message string, params map[string]string) *Error {
	if params == nil {
		params = map[string]string{}
	}
	params["parameter"], params["functionName"] = "`"+parameter+"`", "`"+function+"`"
	return NewError("INVALID_PARAMETER_VALUE."+sub, "The value of parameter(s) `"+parameter+"` in `"+function+"` is invalid: "+message, params)
}

func quoteSQL(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", `\'`) + "'"
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Errors of resolution.

func errNumArgs(name, expected string, actual int) *Error {
	return NewError("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", fmt.Sprintf("The `%s` requires %s parameters but the actual number is %d.", name, expected, actual),
		map[string]string{"functionName": "`" + name + "`", "expectedNum": expected, "actualNum": strconv.Itoa(actual)})
}

// errMismatch is DATATYPE_MISMATCH.<sub>; call is the expression's text.
func errMismatch(sub, call, why string, params map[string]string) *Error {
	if params == nil {
		params = map[string]string{}
	}
	params["sqlExpr"] = `"` + call + `"`
	return NewError("DATATYPE_MISMATCH."+sub, `Cannot resolve "`+call+`" due to data type mismatch: `+why, params)
}

var ordinals = [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

func ordinal(i int) string {
	if i < len(ordinals) {
		return ordinals[i]
	}
	return strconv.Itoa(i+1) + "th"
}

func errInputType(call string, i int, want string, a Arg) *Error {
	return errMismatch("UNEXPECTED_INPUT_TYPE", call, "The "+ordinal(i)+" parameter requires the "+want+" type, however \""+a.Text+
		"\" has the type "+quoteType(a.Type)+".", map[string]string{
		"paramIndex": ordinal(i), "requiredType": want, "inputSql": `"` + a.Text + `"`, "inputType": quoteType(a.Type),
	})
}

func errDiffTypes(call string, l, r schema.Type) *Error {
	return errMismatch("BINARY_OP_DIFF_TYPES", call, "the left and right operands of the binary operator have incompatible types ("+
		quoteType(l)+" and "+quoteType(r)+").", map[string]string{"left": quoteType(l), "right": quoteType(r)})
}

func errWrongType(call, want string, t schema.Type) *Error {
	return errMismatch("BINARY_OP_WRONG_TYPE", call, "the binary operator requires the input type "+want+", not "+quoteType(t)+".",
		map[string]string{"inputType": want, "actualDataType": quoteType(t)})
}

func errDataDiffTypes(name, call string, args []Arg) *Error {
	types := make([]string, len(args))
	for i, a := range args {
		types[i] = quoteType(a.Type)
	}
	list := "[" + strings.Join(types, ", ") + "]"
	return errMismatch("DATA_DIFF_TYPES", call, "Input to `"+name+"` should all be the same type, but it's "+list+".",
		map[string]string{"functionName": "`" + name + "`", "dataType": list})
}

func errNotFoldable(call, input string, t schema.Type, a Arg) *Error {
	return errMismatch("NON_FOLDABLE_INPUT", call, "the input `"+input+"` should be a foldable "+quoteType(t)+" expression; however, got \""+a.Text+"\".",
		map[string]string{"inputName": "`" + input + "`", "inputType": quoteType(t), "inputExpr": `"` + a.Text + `"`})
}

// errNotConstant is errNotFoldable of functions that say so before they look at
// types.
func errNotConstant(function, param string, t schema.Type) *Error {
	return NewError("NON_FOLDABLE_ARGUMENT", "The function `"+function+"` requires the parameter `"+param+"` to be a foldable expression of the type "+quoteType(t)+
		", but the actual argument is a non-foldable.", map[string]string{"funcName": "`" + function + "`", "paramName": "`" + param + "`", "paramType": quoteType(t)})
}

func errValueRange(call, name, valueRange, current string) *Error {
	return errMismatch("VALUE_OUT_OF_RANGE", call, "The `"+name+"` must be between "+valueRange+" (current value = "+current+").",
		map[string]string{"exprName": "`" + name + "`", "valueRange": valueRange, "currentValue": current})
}

func errOrdering(name, call string, t schema.Type) *Error {
	return errMismatch("INVALID_ORDERING_TYPE", call, "The `"+name+"` does not support ordering on type "+quoteType(t)+".",
		map[string]string{"functionName": "`" + name + "`", "dataType": quoteType(t)})
}
