// Package expr turns logical expressions into programs over column batches and
// runs them.
//
// Reading order: Evaluation (what a run may know), Program and Compile
// (program.go), the nodes: call.go (calls, casts, constants), guard.go (AND,
// OR, CASE, coalesce: operands run only on rows that ask for them), lambda.go,
// share.go (equal sub-expressions run once), fold.go (constants at plan time).
//
// Invariants: a program is pure, it reads no clock and does no I/O. A failing
// row is a mark in the vector's Errs and never stops the batch; whether the
// mark counts is for the caller, who looks at the rows it selects. Vectors
// come from the evaluation's pool; the caller owns one reference on a result.
// A Program holds scratch and belongs to one lane: NewInstance makes another.
//
// Imported by sqlplan/bind, sqlplan/rewrite and runtime/operator.
package expr
