// Package ast holds the syntax nodes of the SQL dialect: plain structs that
// say what was written and where. It is what sqlplan/parse makes and what
// sqlplan/bind reads.
//
// Reading order: Node, Ident and Name (node.go), Expr (expr.go, literal.go,
// call.go), TypeName (typename.go), Query and its bodies (query.go), Relation
// (relation.go), Statement (statement.go, pipeline.go), Walk (walk.go), String
// (print.go).
//
// Invariants: each node carries the diag.Range of its text; a node built by
// hand may leave it zero. Parentheses stay in the tree as Paren, so that text
// and tree say the same; Unparen drops them. Words are kept as written: names
// keep their case, keywords are not kept. A printed tree parses to an equal
// tree (apart from ranges).
//
// Chains of AND and of OR are balanced trees, as Spark builds them; other
// chains of operators lean to the left.
//
// The package imports spec/diag only. Anybody in sqlplan may import it; the
// runtime may not.
package ast
