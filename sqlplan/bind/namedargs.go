package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// namedParams lists the functions that take name => value, with their
// parameters in order and the defaults of those that may be left out.
var namedParams = map[string][]namedParam{
	"mask": {
		{"str", nil}, {"upperChar", &ast.StringLit{Value: "X"}}, {"lowerChar", &ast.StringLit{Value: "x"}},
		{"digitChar", &ast.StringLit{Value: "n"}}, {"otherChar", &ast.NullLit{}},
	},
	"count_min_sketch": {{"column", nil}, {"epsilon", nil}, {"confidence", nil}, {"seed", nil}},
	"explode":          {{"collection", nil}}, "explode_outer": {{"collection", nil}},
	"posexplode": {{"collection", nil}}, "posexplode_outer": {{"collection", nil}},
	"inline": {{"input", nil}}, "inline_outer": {{"input", nil}},
	"variant_explode": {{"input", nil}}, "variant_explode_outer": {{"input", nil}},
}

type namedParam struct {
	name  string
	value ast.Expr // default; nil: required
}

// namedArgs brings named arguments into the function's order.
func (b *Binder) namedArgs(e *ast.Call, name string) ([]ast.Expr, bool) {
	return b.placeArgs(e, name, namedParams[name])
}

// placeArgs puts the arguments of a call into the order of the parameters.
func (b *Binder) placeArgs(e *ast.Call, name string, params []namedParam) ([]ast.Expr, bool) {
	first := -1
	for i, a := range e.Args {
		if _, ok := a.(*ast.NamedArg); ok && first < 0 {
			first = i
		} else if !ok && first >= 0 {
			b.fail(a.Range(), "UNEXPECTED_POSITIONAL_ARGUMENT",
				"Cannot invoke routine `%s` because it contains positional argument(s) following the named argument; please rearrange them so the positional arguments come first.", name)
			return nil, false
		}
	}
	if first < 0 {
		return e.Args, true
	}
	if params == nil {
		b.fail(e.Span, "NAMED_PARAMETERS_NOT_SUPPORTED", "Named parameters are not supported for function `%s`.", name)
		return nil, false
	}
	out := make([]ast.Expr, max(len(params), first))
	copy(out, e.Args[:first])
	for _, a := range e.Args[first:] {
		if !b.placeNamed(a.(*ast.NamedArg), name, params, out, first) {
			return nil, false
		}
	}
	for i, p := range params {
		if out[i] == nil {
			out[i] = p.value
		}
		if out[i] == nil {
			b.fail(e.Span, "REQUIRED_PARAMETER_NOT_FOUND",
				"Cannot invoke routine `%s` because the parameter named `%s` is required, but the routine call did not supply a value.", name, p.name)
			return nil, false
		}
	}
	return out, true
}

func (b *Binder) placeNamed(na *ast.NamedArg, name string, params []namedParam, out []ast.Expr, positional int) bool {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
		if !strings.EqualFold(p.name, na.Name.Name) {
			continue
		}
		if i < positional {
			b.fail(na.Span, "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.BOTH_POSITIONAL_AND_NAMED",
				"Call to routine `%s` is invalid because the parameter `%s` is given by its place and by its name.", name, p.name)
			return false
		}
		if out[i] != nil {
			b.fail(na.Span, "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE",
				"Call to routine `%s` is invalid because the parameter `%s` is assigned twice.", name, p.name)
			return false
		}
		out[i] = na.Value
		return true
	}
	b.failHint(na.Span, "UNRECOGNIZED_PARAMETER_NAME", diag.DidYouMean(na.Name.Name, names),
		"Cannot invoke routine `"+name+"` because the routine call included a named argument reference for the argument named `"+na.Name.Name+"`, but this routine does not include any signature containing an argument with this name.")
	return false
}
