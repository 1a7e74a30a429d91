package bind

import (
	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// The binder's whole use of the function list and the evaluator.

func lookupScalar(name string) *funcs.Function       { return funcs.Lookup(name) }
func lookupAggregate(name string) *funcs.Aggregate   { return funcs.LookupAggregate(name) }
func lookupGenerator(name string) *funcs.Generator   { return funcs.LookupGenerator(name) }
func lookupWindow(name string) *funcs.WindowFunction { return funcs.LookupWindow(name) }
func functionNames() []string                        { return funcs.Names() }

func bindCast(s *funcs.Session, from funcs.Arg, to schema.Type, mode logical.CastMode) (*funcs.Bound, error) {
	return funcs.BindCast(s, from, to, funcs.CastMode(mode))
}

func bindStore(s *funcs.Session, from funcs.Arg, to schema.Type) (*funcs.Bound, error) {
	return funcs.BindStore(s, from, to)
}

// fold evaluates a constant: nil without error when e is not one.
func fold(e logical.Expr, s *funcs.Session) (*column.Vector, *funcs.Error) { return expr.Fold(e, s) }
