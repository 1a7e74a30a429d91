# Each target's line of help stands behind its name; `make help` prints them.
GO ?= go
export GOFLAGS ?=
BIN := bin/pipelines
TOOL := $(GO) tool -modfile=tools.mod
PKGS := ./...

# A step of `make ci`, with its time.
step = @start=$$(date +%s); $(MAKE) --no-print-directory $(1) || exit 1; echo "=== make $(1): $$(($$(date +%s) - start)) s"

.DEFAULT_GOAL := help
.PHONY: help build demo test race fuzz long golden generate docs lint fmt bench bench-compare cover ci conformance conformance-refresh integration clean-tree clean

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

# "package fuzzer" of every fuzzer, read from the sources.
FUZZERS = git ls-files '*_test.go' | xargs grep -HoE '^func Fuzz[A-Za-z0-9_]*' | sed -E 's|^(.*)/[^/]*_test.go:func |./\1 |'
# CI counts executions: a fuzzer that ends by the clock may fail with "context
# deadline exceeded" on a busy machine, without any input that fails.
FUZZTIME ?= 5s
fuzz: ## each fuzzer for FUZZTIME (5s, or a count such as 3000x)
	@$(FUZZERS) | while read p f; do \
	  echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$p </dev/null || exit 1; \
	done

SPILL ?= 12000000
long: ## fuzzers for a minute each, simulations with many seeds and with every epoch committed beside the next, SPILL rows of 80 bytes in 1 GiB, every kill, a million keys, Nexmark over a million events, continuous pipelines for ten minutes
	$(MAKE) fuzz FUZZTIME=60s
	PIPELINES_SEEDS=500 PIPELINES_KILLS=all PIPELINES_KEYS=1000000 $(GO) test -timeout 90m ./sqlplan ./runtime/operator ./pipelines/...
	PIPELINES_BESIDE=1 PIPELINES_SEEDS=200 PIPELINES_SEED_FROM=50000 $(GO) test -timeout 60m ./pipelines/simtest
	PIPELINES_NEXMARK=1000000 $(GO) test -timeout 60m ./cmd/nexmark
	PIPELINES_SOAK=10m $(GO) test -count=1 -timeout 45m -run 'TestSoak|TestIdleCost' -v ./pipelines/simtest
	$(MAKE) --no-print-directory bench-program BENCHFLAGS="-only spill -spill $(SPILL)"

golden: ## rewrite golden files (read the diff!)
	$(GO) test $$($(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' $(PKGS) | grep cockroachdb/datadriven | cut -d' ' -f1) -args -rewrite

generate: ## run go generate
	$(GO) generate $(PKGS)

docs: ## rewrite the generated pages: docs/spec.md, docs/sql.md, docs/functions.md, the printed parts of docs/architecture.md, README's package map
	PIPELINES_REWRITE=1 $(GO) test -count=1 -run 'TestSpecPage|TestSQLPage|TestFunctionsPage|TestPackageMap|TestArchitecturePage' ./pipelines

lint: ## gofmt, vet and the pinned linters
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || (gofmt -l $$(git ls-files '*.go'); exit 1)
	$(GO) vet $(PKGS)
	$(TOOL) staticcheck $(PKGS)
	$(TOOL) errcheck -ignoretests -exclude .errcheck $(PKGS)
	$(TOOL) exhaustive -e $(PKGS)

fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

BENCH ?= .
BENCHFLAGS ?=
bench: build ## benchmarks: go test -bench, then the whole-program workloads (BENCHFLAGS="-runs 1 -only json")
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime 0.5s $(PKGS)
	$(MAKE) --no-print-directory bench-program

.PHONY: bench-program
bench-program: build ## only the whole-program workloads
	$(GO) build -o bin/nexmark ./cmd/nexmark
	$(GO) build -o bin/tpch ./cmd/tpch
	$(GO) run ./cmd/bench $(BENCHFLAGS)

bench-compare: ## benchmarks of REF against the working tree, by benchstat
	./docs/bench-compare.sh $(REF)

cover: ## coverage by package
	$(GO) test -cover $(PKGS)

conformance: ## the golden results of a real Spark, all areas; lists what is still open
	@mkdir -p bin
	@$(GO) test -count=1 -v ./pipelines/conformance >bin/conformance.log || (grep -E -A3 '^ +--- FAIL' bin/conformance.log; exit 1)
	@awk '/^ +--- PASS: Test[A-Za-z]+\// {split($$3, p, "/"); n[p[1]]++} END {for (k in n) print k ": " n[k] " cases or files pass"}' bin/conformance.log | sort
	@echo "open or overruled, in them:"; grep -hv '^#' testdata/conformance-open.txt testdata/conformance-overruled.txt

conformance-refresh: ## copy ../shared/conformance into testdata
	rm -rf testdata/conformance && cp -r ../shared/conformance testdata/conformance && chmod -R u+w testdata/conformance

integration: build ## real peers: delta-rs, pyarrow, DuckDB, Polars, pandas, Spark (installed into .tools)
	./docs/integration/run.sh $(BIN)

ci: ## what CI runs: tests, lint, race, short fuzz, conformance, demo, clean tree
	$(call step,test)
	$(call step,lint)
	$(call step,race)
	$(call step,fuzz FUZZTIME=3000x)
	$(call step,conformance)
	$(call step,demo)
	$(call step,clean-tree)

clean-tree: ## fail if the working tree differs from the last commit
	@test -z "$$(git status --porcelain)" || (git status --porcelain; echo "the tree is not clean"; exit 1)

clean: ## remove what was built
	rm -rf bin
