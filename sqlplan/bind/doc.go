// Package bind resolves names, functions and types: it turns the syntax tree
// of a query into a logical plan, or reports what is wrong with it.
//
// Reading order: Catalog (catalog.go: what the caller must know of tables and
// views), Binder (binder.go: one query's work), scope.go (which names mean
// which columns), expr.go and its neighbours (scalar expressions), select.go
// (SELECT, from FROM to LIMIT), relation.go and join.go (FROM).
//
// How a SELECT is bound: FROM, WHERE and GROUP BY first; then select list,
// HAVING, QUALIFY and ORDER BY over the columns of FROM, where aggregates,
// window functions and generators stand as placeholder expressions
// (placeholder.go); then the nodes are stacked and each placeholder is
// replaced by the column that the node below gives.
//
// Invariants: an error is reported once, where it stands; what depends on a
// broken part is skipped silently (a broken scope resolves nothing and says
// nothing). Texts of expressions are Spark's automatic column names. Event
// time is tracked here: Attr.Watermark follows plain columns, windows and
// window_time.
// The package does no I/O: the Catalog does.
package bind
