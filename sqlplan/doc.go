// Package sqlplan is the front door of the SQL side: it turns SQL text and a
// Catalog into a logical plan with diagnostics.
//
//	text -> parse -> ast -> bind -> streaming -> rewrite -> logical.Node
//
// Reading order: Compile and Plan (compile.go), Catalog and View (catalog.go),
// ParseScript and Definition (script.go), what a dataset asks for on top of its
// query (outcome.go), ParseSchema (ddl.go).
//
// Invariants: everything that a user can get wrong comes back as a diag.List,
// all errors of a text in one pass; a plan is nil exactly when there is an
// error. Nothing here does I/O, reads a clock or starts a goroutine; a Catalog
// may. Plans are immutable and may be shared.
package sqlplan
