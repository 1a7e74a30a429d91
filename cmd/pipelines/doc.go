// Command pipelines checks, runs and looks at declarative data pipelines.
//
// Reading order: main.go (the list of commands, exit codes), then one file a
// command: init, validate, dryrun, run, sql, tables, graph, status, events,
// checkpoint, schema, version. live.go draws progress on a terminal.
//
// Invariants: data goes to stdout, messages to stderr; exit codes are 0 all
// good, 1 a failure while running, 2 findings and usage errors, 3 environment,
// 130 and 143 on signals. Commands read flags and print; what they do lives in
// package pipelines.
package main
