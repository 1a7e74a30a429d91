#!/usr/bin/env bash
# Compares the Go benchmarks of a commit with those of the working tree.
# usage: docs/bench-compare.sh REF [PATTERN] [PACKAGES...]
set -euo pipefail
cd "$(dirname "$0")/.."
ref=${1:?a commit to compare with}
pattern=${2:-.}
shift $(($# > 2 ? 2 : $#))
packages=("${@:-./...}")
old=$(mktemp -d)
trap 'git worktree remove --force "$old/tree" >/dev/null 2>&1 || true; rm -rf "$old"' EXIT
git worktree add --detach "$old/tree" "$ref" >/dev/null
for i in 1 2 3 4 5 6; do
  (cd "$old/tree" && go test -run '^$' -bench "$pattern" -benchtime 0.3s "${packages[@]}") >>"$old/old.txt"
  go test -run '^$' -bench "$pattern" -benchtime 0.3s "${packages[@]}" >>"$old/new.txt"
done
go tool -modfile=tools.mod benchstat "$old/old.txt" "$old/new.txt"
