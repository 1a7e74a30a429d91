// Package option holds options as data: one declaration of an option (name,
// type, default, doc, check) gives its decoding from what a user wrote, its
// default, its checks with places and suggestions, its row in the docs and its
// part of the JSON Schema. Connectors and formats declare their options with
// it.
//
// Reading order: Entry and Value (what the user wrote, possibly with secret
// references), Secret, Field and Set (the declaration), Values (the decoded
// result), Interval.
//
// Invariants: option names ignore case, as Spark's reader options do. A Secret
// never prints. Nothing here reads the environment or a file: who resolves
// secrets hands in a Resolver. It imports only diag; formats, connectors and
// spec import it.
package option
