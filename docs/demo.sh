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
call sql -c 'SELECT * FROM daily ORDER BY day, country'
printf '\n# new files arrive\n'
say 'cp next/orders/* landing/orders/'
cp next/orders/* landing/orders/
call run
call tables
for t in 'orders ORDER BY id' 'large_orders ORDER BY id' 'daily ORDER BY day, country' 'top_items'; do
  call sql -c "SELECT * FROM $t"
done
