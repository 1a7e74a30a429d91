#!/usr/bin/env bash
# What `make integration` runs: real peers against the tables of the product.
# usage: docs/integration/run.sh BINARY [--no-spark]
# Needs Python 3.11, Java 17 and Maven; everything else goes into .tools.
set -euo pipefail
bin=$(realpath "${1:?usage: docs/integration/run.sh BINARY [--no-spark]}")
shift
cd "$(dirname "$0")/../.."
venv=.tools/venv
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/pip install -q --disable-pip-version-check -r docs/integration/requirements.txt
export TZ=UTC
# The queries that sqlplan's tests compare with their evaluator, as a file.
queries=$(mktemp)
trap 'rm -f "$queries"' EXIT
PIPELINES_QUERIES=${PIPELINES_QUERIES_FILE:-100} PIPELINES_QUERIES_OUT=$queries go test -count=1 -run '^TestRandom$' ./sqlplan
failed=0
PIPELINES_PEERS=1 go test -count=1 -run '^TestPeers$' ./tables/format/parquet || failed=1
$venv/bin/python docs/integration/oracles.py --bin "$bin" --file "$queries" "$@" || failed=1
$venv/bin/python docs/integration/run.py --bin "$bin" "$@" || failed=1
case " $* " in
*" --no-spark "*) ;;
*)
	$venv/bin/python docs/integration/streams.py --bin "$bin" || failed=1
	$venv/bin/python docs/integration/sdp.py --bin "$bin" --seed "${PIPELINES_SEED:-1}" || failed=1
	$venv/bin/python docs/integration/corpus.py --bin "$bin" || failed=1
	$venv/bin/python docs/integration/dialect.py --bin "$bin" docs/integration/dialect/*.sql || failed=1
	$venv/bin/python docs/integration/edges.py --bin "$bin" || failed=1
	;;
esac
exit $failed
