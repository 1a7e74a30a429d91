// Package display writes single values the way people and scripts see them:
// AppendJSON in natural JSON (the console sink, `sql --output json`), and
// AppendShell as the text that Spark's SQL shell prints (`--output
// jsonstrings`, table and CSV output). Variants are printed by codec/variant.
//
// It differs from codec/json, which follows the rules of to_json: there nulls
// are left out and timestamps follow the writer's options.
package display
