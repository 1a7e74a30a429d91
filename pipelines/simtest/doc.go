// Package simtest tests whole projects: a folder, a document, files that keep
// arriving, runs that crash. It has tests only.
//
// Reading order: the harness (harness_test.go: folders, runs in this process
// and in child processes, reading tables), the kill matrix (kill_test.go:
// SIGKILL at every named border of every kind of plan and sink), crashes at
// every border in this process (crash_test.go), the seeded simulations of
// projects (simulation_test.go), of stateful queries (statesim_test.go, against
// the model in model_test.go and modelend_test.go) and of change feeds
// (cdcsim_test.go), the known failures of other systems (known_test.go).
//
// A child is this test binary started again; TestMain sees it by an
// environment variable, runs the project once and kills itself at the border
// that it was given. The row ledger compares multisets: no row lost, doubled,
// invented or changed.
//
// PIPELINES_SEEDS sets how many seeds the simulation runs (default few), and
// PIPELINES_KILLS=all runs the whole kill matrix instead of a part that
// changes with nothing. PIPELINES_KEYS and PIPELINES_SOAK make the tests of
// growth (growth_test.go, soak_test.go) as large and long as `make long` runs
// them. A seed that failed goes into testdata/seeds and is run ever after; so
// do those of stateseeds and cdcseeds there.
package simtest
