#!/usr/bin/env bash
# Measures the service beside its peers, in one run, interleaved, and prints Markdown tables.
#
#   scripts/compare.sh                              everything, about an hour
#   scripts/compare.sh --quick                      does it work: one short round of everything
#   scripts/compare.sh --parts votes --in-flight 64 --rounds 3 --seconds 3
#   scripts/compare.sh --help                       every flag
#
# Servers run on the first core and clients on the others; a quiet machine gives better figures.
# It installs what is missing, builds in release, and ends every process it started.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh --compare >&2
PYTHONPATH=$PWD/clients/python:$PWD/scripts/common exec /usr/bin/python3 -B scripts/compare "$@"
