# Each target's line of help stands behind its name; `make help` prints them.
GO ?= go
export GOFLAGS ?=
BIN := bin/pipelines
TOOLS := -modfile=tools.mod
PKGS := ./...
VENV := .tools/venv

.DEFAULT_GOAL := help
.PHONY: help build demo test race long golden generate lint fmt bench bench-compare cover ci conformance conformance-refresh integration clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 22

build: ## build bin/pipelines
	@mkdir -p bin
	$(GO) build -o $(BIN) ./cmd/pipelines

demo: build ## make a sample project, run it twice, print its tables
	./docs/demo.sh $(BIN)

test: ## all tests, under two minutes
	$(GO) test $(PKGS)

race: ## the concurrent packages under the race detector
	$(GO) test -race -short ./stores/... ./tables/column/... ./runtime/... ./pipelines/...

FUZZTIME ?= 5s
fuzz: ## each fuzzer for FUZZTIME (5s)
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p 2>/dev/null | grep ^Fuzz || true); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

long: ## fuzzers for a minute each, simulation with many seeds
	$(MAKE) fuzz FUZZTIME=60s
	PIPELINES_SEEDS=500 $(GO) test -timeout 60m ./pipelines/simtest/...

golden: ## rewrite golden files (read the diff!)
	$(GO) test $(PKGS) -args -rewrite

generate: ## run go generate
	$(GO) generate $(PKGS)

lint: ## gofmt, vet and the pinned linters
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || (gofmt -l $$(git ls-files '*.go'); exit 1)
	$(GO) vet $(PKGS)
	$(GO) tool $(TOOLS) staticcheck $(PKGS)
	$(GO) tool $(TOOLS) errcheck -exclude .errcheck $(PKGS)

fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

BENCH ?= .
bench: build ## benchmarks: go test -bench, then the whole-program workloads
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime 0.5s $(PKGS)
	./docs/bench.sh $(BIN)

bench-compare: ## benchmarks of REF against the working tree, by benchstat
	./docs/bench-compare.sh $(REF)

cover: ## coverage by package
	$(GO) test -cover $(PKGS)

conformance: build ## the golden results of a real Spark, all areas, from Go
	$(GO) test -count=1 -run 'Conformance' -v ./pipelines/conformance | grep -E '^(---|===|ok|FAIL|PASS)|total' | grep -v '=== RUN' | tail -40

conformance-refresh: ## copy ../shared/conformance into testdata
	rm -rf testdata/conformance && cp -r ../shared/conformance testdata/conformance && chmod -R u+w testdata/conformance

integration: build ## real peers: delta-rs, pyarrow, DuckDB, Spark (installed into .tools)
	./docs/integration.sh $(BIN)

ci: test lint race ## what CI runs: tests, lint, race, short fuzz, conformance, clean tree
	$(MAKE) fuzz FUZZTIME=3s
	$(MAKE) conformance
	$(MAKE) demo
	@test -z "$$(git status --porcelain)" || (git status --porcelain; echo "the tree is not clean"; exit 1)

clean: ## remove what was built
	rm -rf bin
