// Package funcs holds the SQL functions: one value each with name, types, null
// rule, doc and kernel, and the contract between those kernels and whoever
// evaluates them.
//
// To add a function: a value in the list of its file, made by define (one
// check an argument) or custom (code), with usage, one line of doc, an example
// and its result, which TestExamples of sqlplan/expr runs. The lists are
// gathered in list.go.
//
// Reading order: Error (a row's failure), Session (what settings a function
// may see), Arg and Bound (resolution of a scalar function), Ctx and Kernel
// (evaluation), Aggregate and States, Generator, list.go (what exists).
//
// Invariants: kernels are pure; they read the instant, zone and seed from Ctx,
// never a clock. They write only rows they are asked for (Ctx.Sel), report a
// failing row with out.Fail and go on, and allocate nothing per row. A
// function that may fail says so in CanFail, so that no rewrite evaluates it
// on rows it was guarded from. The package imports tables/{schema,column,
// text,codec} and spec/diag only.
package funcs
