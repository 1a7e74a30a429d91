// Package logical has the logical plan: immutable relational nodes and scalar
// expressions with resolved types, made by bind, annotated by streaming,
// changed by rewrite and read by runtime/operator.
//
// Reading order: Attr and ColumnID, Expr and its kinds (scalar.go,
// aggregate.go), Node and its kinds (one file a family), explain.go.
//
// Invariants: nodes and expressions never change after they are made; a rule
// makes new ones with WithChildren or the constructors. Every column that a
// node makes has a ColumnID that is unique in the plan; expressions refer to
// columns by id, never by position, so that moving nodes keeps them right.
// A plan that is bound twice (a view read twice) gets fresh ids each time.
// Spans are places in the user's files, for errors of rows.
// The package imports spec/diag, tables/{schema,column} and sqlplan/funcs.
package logical
