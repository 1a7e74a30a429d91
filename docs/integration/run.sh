#!/usr/bin/env bash
# What `make integration` runs: real peers against the tables of the product.
# usage: docs/integration/run.sh BINARY [--no-spark]
# Needs Python 3.11 and Java 17; everything else goes into .tools.
set -euo pipefail
bin=$(realpath "${1:?usage: docs/integration/run.sh BINARY [--no-spark]}")
shift
cd "$(dirname "$0")/../.."
venv=.tools/venv
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/pip install -q --disable-pip-version-check -r docs/integration/requirements.txt
export TZ=UTC
exec $venv/bin/python docs/integration/run.py --bin "$bin" "$@"
