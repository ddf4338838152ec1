#!/usr/bin/env bash
# Measures the service beside its peers, in one run, interleaved, and prints Markdown tables.
#
#   scripts/compare.sh                              everything, an hour and a half
#   scripts/compare.sh --quick                      does it work: one short round of everything
#   scripts/compare.sh --parts votes --in-flight 64 --rounds 3 --seconds 3
#   scripts/compare.sh --help                       every flag
#
# Servers run on the first core and clients on the others; a quiet machine gives better figures.
# It installs what is missing, builds in release, and ends every process it started.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh --compare >&2

export PYTHONPATH=$PWD/clients/python:$PWD/scripts/common

# Prints the help, or the fault of a flag, before a build of some minutes.
compare=(/usr/bin/python3 -B scripts/compare --floor .build/floor)
given=
for word in "$@"; do
    [[ $word != --binaries* ]] || given=$word
    [[ $word != -h && $word != --help ]] || exec "${compare[@]}" --binaries . --help
done
"${compare[@]}" --binaries . --check "$@"

Benchmarks/Floor/build.sh .build/floor
[[ -z $given ]] || exec "${compare[@]}" "$@"

# As the README builds: after scripts/quickstart.sh there is nothing left to compile.
for product in feed-service loadgen; do
    swift build -c release --product "$product" >&2
done

exec "${compare[@]}" --binaries "$(swift build -c release --show-bin-path)" "$@"
