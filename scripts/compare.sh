#!/usr/bin/env bash
# Measures the service beside its peers, in one run, interleaved, and prints Markdown tables.
#
#   scripts/compare.sh                              everything, 13 minutes
#   scripts/compare.sh --quick                      does it work: one short round of everything
#   scripts/compare.sh --parts votes --in-flight 64 --rounds 3 --seconds 3
#   scripts/compare.sh --help                       every flag
#
# Servers run on the first core and clients on the others; a quiet machine gives better figures.
# It installs what is missing, builds in release, and ends every process it started.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh --compare

strict=(--explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors)
for product in feed-service loadgen; do
    swift build -c release "${strict[@]}" --product "$product" >&2
done
binaries=$(swift build -c release "${strict[@]}" --show-bin-path)

floor=.build/floor
Benchmarks/Floor/build.sh "$floor"

exec python3 -B scripts/compare --binaries "$binaries" --floor "$floor" "$@"
