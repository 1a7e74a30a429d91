#!/usr/bin/env bash
# What `make demo` runs: makes the sample project, runs it twice with new files
# between the runs, and prints its tables. The project lies in a temporary
# folder, or in $DEMO_DIR, which is then kept.
set -euo pipefail
bin=$(realpath "${1:?usage: docs/demo.sh BINARY}")
if [ -n "${DEMO_DIR:-}" ]; then
  dir=$DEMO_DIR
  mkdir -p "$dir"
else
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
fi
cd "$dir"
say() { printf '\n$ %s\n' "$*"; }
call() {
  say pipelines "$@"
  "$bin" "$@"
}
call init shop
cd shop
call validate
call graph
call run
