// Package shell runs the statements of an ad-hoc SQL session, one by one: what
// `pipelines sql` does.
//
//	script -> sqlplan.ParseStatements -> Session.Run -> Printer
//
// Reading order: Session and Options (session.go), what names mean (names.go),
// the statements (define.go, change.go, show.go), session tables (memory.go),
// Failure (failure.go), Printer (output.go, table.go, parquet.go).
//
// Invariants: a project's tables are only read; what CREATE TABLE and INSERT
// make lives in memory and ends with the session. A statement has a result or a
// Failure, never both. A Session and a Printer are used by one goroutine.
package shell
