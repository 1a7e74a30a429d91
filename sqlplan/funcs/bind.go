package funcs

import (
	"strconv"
	"strings"

	"pipelines/tables/schema"
)

// param is what a signature asks of one argument.
type param struct {
	// want is the type as error messages name it.
	want string
	// take returns the type to which an argument of type t is cast.
	take func(s *Session, t schema.Type) (schema.Type, bool)
}

// exactly asks for one type; what casts to it implicitly is taken.
func exactly(t schema.Type) param {
	return param{quoteType(t), func(s *Session, from schema.Type) (schema.Type, bool) {
		if from.Kind == t.Kind && from.Kind != schema.Decimal && from.Length == 0 {
			return from, true
		}
		return t, Implicit(s, from, t)
	}}
}

var (
	pString = exactly(tString)
	pInt    = exactly(tInt)
	pBigint = exactly(tBigint)
	pDouble = exactly(tDouble)
	pBool   = exactly(tBool)
	pDate   = exactly(tDate)
	pTime   = exactly(tTime)
	pAny    = param{`"ANY"`, func(_ *Session, t schema.Type) (schema.Type, bool) { return t, true }}
	// pBinary takes strings too; a number is no binary.
	pBinary = param{`"BINARY"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
		return tBinary, t.Kind == schema.Binary || t.Kind == schema.String || t.Kind == schema.Void
	}}
	// pText takes strings and binaries as they are, the rest as strings.
	pText = param{`("STRING" or "BINARY")`, func(s *Session, t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.Binary {
			return t, true
		}
		return tString, Implicit(s, t, tString)
	}}
	pNumeric = param{`"NUMERIC"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.String || t.Kind == schema.Void {
			return tDouble, true
		}
		return t, t.IsNumeric()
	}}
	pIntegral = param{`"INTEGRAL"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
		switch {
		case t.Kind == schema.String:
			return tBigint, true
		case t.Kind == schema.Void:
			return tInt, true
		}
		return t, t.IsInteger()
	}}
	// pWhole takes integers only.
	pWhole = param{`"INTEGRAL"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.Void {
			return tInt, true
		}
		return t, t.IsInteger()
	}}
	// pZoned takes a TIMESTAMP, and what casts to it as one.
	pZoned = param{quoteType(tTime), func(s *Session, t schema.Type) (schema.Type, bool) { return tTime, Implicit(s, t, tTime) }}
	// pOnlyTime and pOnlyDate take their type alone.
	pOnlyTime = param{quoteType(tTime), func(_ *Session, t schema.Type) (schema.Type, bool) {
		return tTime, t.Kind == schema.Timestamp || t.Kind == schema.Void
	}}
	pOnlyDate = param{quoteType(tDate), func(_ *Session, t schema.Type) (schema.Type, bool) {
		return tDate, t.Kind == schema.Date || t.Kind == schema.Void
	}}
	pArray = param{`"ARRAY"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.Void {
			return schema.ArrayOf(tVoid, true), true
		}
		return t, t.Kind == schema.Array
	}}
	pMap = param{`"MAP"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.Void {
			return schema.MapOf(tVoid, tVoid, true), true
		}
		return t, t.Kind == schema.Map
	}}
)

// signature describes a function whose arguments are checked one by one.
type signature struct {
	params   []param
	min      int  // required arguments; 0 means all of params
	variadic bool // the last parameter repeats
	// result is fixed, or computed from the arguments' types by infer.
	result schema.Type
	infer  func(types []schema.Type) schema.Type
	nulls  NullRule
	// neverNull: the result is not null even for null arguments (NullAware).
	neverNull bool
	// mayNull: the result may be null although no argument is.
	mayNull bool
	canFail bool
	kernel  Kernel
	// pick chooses the kernel by the arguments' types.
	pick func(s *Session, types []schema.Type) Kernel
	// check looks at the arguments after their types were accepted.
	check func(s *Session, call string, args []Arg) error
	try   bool // errors become nulls
}

// define makes a function with a signature.
func define(name, group, usage, doc string, sig signature) *Function {
	f := &Function{Name: name, Group: group, Usage: usage, Doc: doc}
	f.Bind = func(s *Session, args []Arg) (*Bound, error) { return sig.bind(s, f, args) }
	return f
}

// alias adds other names.
func (f *Function) alias(names ...string) *Function {
	f.Aliases = append(f.Aliases, names...)
	return f
}

// example adds an example and its result as the shell prints it.
func (f *Function) example(sql, result string) *Function {
	f.Example, f.Result = sql, result
	return f
}

// volatile marks a function as Stable or Volatile.
func (f *Function) volatility(v Volatility) *Function {
	f.Volatility = v
	return f
}

// callText prints a call for messages.
func callText(name string, args []Arg) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.Text
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

func (g *signature) count() (lo, hi int) {
	lo, hi = g.min, len(g.params)
	if lo == 0 {
		lo = hi
	}
	if lo < 0 {
		lo = 0
	}
	if g.variadic {
		hi = 1 << 20
	}
	return lo, hi
}

// checkCount reports a wrong number of arguments in Spark's words.
func checkCount(name string, lo, hi, n int) error {
	if n >= lo && n <= hi {
		return nil
	}
	expected := ""
	switch {
	case hi >= 1<<20:
		expected = "> " + strconv.Itoa(lo-1)
	case lo == hi:
		expected = strconv.Itoa(lo)
	default:
		parts := []string{}
		for k := lo; k <= hi; k++ {
			parts = append(parts, strconv.Itoa(k))
		}
		expected = "[" + strings.Join(parts, ", ") + "]"
	}
	return errNumArgs(name, expected, n)
}

func (g *signature) bind(s *Session, f *Function, args []Arg) (*Bound, error) {
	lo, hi := g.count()
	if err := checkCount(f.Name, lo, hi, len(args)); err != nil {
		return nil, err
	}
	types, nullable := make([]schema.Type, len(args)), false
	for i, a := range args {
		p := g.params[min(i, len(g.params)-1)]
		t, ok := p.take(s, a.Type)
		if a.Lambda != nil {
			return nil, NewError("INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION", "Invalid lambda function call. "+
				"A lambda function should only be used in a higher order function. However, its class is `"+f.Name+"`, which is not a higher order function.",
				map[string]string{"class": f.Name})
		}
		if !ok {
			return nil, errInputType(callText(f.Name, args), i, p.want, a)
		}
		types[i] = t
		nullable = nullable || a.Nullable
	}
	if g.check != nil {
		if err := g.check(s, callText(f.Name, args), args); err != nil {
			return nil, err
		}
	}
	b := &Bound{Fn: f, Args: types, Result: g.result, Nulls: g.nulls, CanFail: g.canFail && !g.try, Kernel: g.kernel}
	if g.infer != nil {
		b.Result = g.infer(types)
	}
	if g.pick != nil {
		b.Kernel = g.pick(s, types)
	}
	b.Nullable = !g.neverNull && (nullable || g.mayNull || g.nulls == NullAware || g.try)
	if g.try {
		b.Kernel = tryKernel(b.Kernel)
	}
	return b, nil
}

// tryKernel turns the errors of a kernel into nulls.
func tryKernel(k Kernel) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		c.Try = true
		k(c, args, out)
		c.Try = false
	}
}

// firstType is an infer function: the type of the first argument.
func firstType(types []schema.Type) schema.Type { return types[0] }

// custom makes a function whose calls are resolved by code; the bound call
// gets its function.
func custom(name, group, usage, doc string, bind func(s *Session, args []Arg) (*Bound, error)) *Function {
	f := &Function{Name: name, Group: group, Usage: usage, Doc: doc}
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		b, err := bind(s, args)
		if b != nil {
			b.Fn = f
		}
		return b, err
	}
	return f
}
