// Package pipelines is the product as a library: it loads a project, checks
// it, and runs it. The command line is a thin layer above.
//
// Reading order: Load and Project (project.go), the definitions of the
// document and the SQL files in one form (definition.go, define.go), how
// queries are compiled in the order in which they need each other (analysis.go,
// catalog.go), what lies in the storage (storage.go), Update (update.go: one
// run of the graph; task.go: one flow), Shell (shell.go: ad-hoc SQL).
//
//	Load → define → analyze → (plan against the storage) → Update
//
// Invariants: analysis reports every fault of a project in one pass, and a
// fault never causes another one downstream. Nothing in the storage is written
// before the whole project is valid and the run lock is held. A table is
// changed by one update at a time, and only by the pipeline that made it.
package pipelines
