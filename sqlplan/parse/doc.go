// Package parse turns SQL text into syntax nodes (sqlplan/ast). Lexer and
// parser are written by hand: recursive descent for statements and queries, a
// precedence climber for expressions.
//
// Entry points (parse.go): Statements for a whole script, Query, Expr, Type and
// Columns for pieces. All return a diag.List; a script reports the errors of all
// its statements, and of the clauses of one query, in one pass.
//
// Reading order: token.go and lex.go (text to tokens), parser.go (the cursor,
// errors, recovery), words.go (which words may be names where), statement.go,
// query.go, relation.go, expr.go, primary.go, types.go.
//
// Invariants: no word is reserved as such; words.go says where a word cannot be
// a name because the grammar needs it. Nesting is limited (MaxDepth), chains of
// operators are read in loops, so that no text can exhaust the stack. Literal
// values that need no session settings are checked here; dates and timestamps
// are left to the binder. A node's range covers its text without blanks.
//
// The package imports sqlplan/ast and spec/diag only and knows no tables.
package parse
