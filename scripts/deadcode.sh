#!/usr/bin/env bash
# Finds declarations of Sources that nothing reaches, and those that only tests and benchmarks reach.
#
#   scripts/deadcode.sh            builds for debugging in .build-coverage, and prints both lists
#   scripts/deadcode.sh --check    prints only the declarations that nothing reaches
#
# It ends with 1 where nothing reaches some declaration. It reads the index that the compiler writes
# in debug builds, so it finds names that text search cannot tell apart. It does not see:
# properties that are written and never read, parameters that are never used, and public
# declarations of the libraries FeedProto and FeedClient, which other programs may use.
set -euo pipefail
cd "$(dirname "$0")/.."

# As scripts/coverage.sh builds, so that one build serves both.
options=(--enable-code-coverage --ignore-lock --scratch-path .build-coverage)
if ! output=$(swift build --build-tests "${options[@]}" 2>&1); then
    tail -20 <<<"$output" >&2
    exit 2
fi
store=$(swift build --show-bin-path "${options[@]}")/index/store
exec python3 -B scripts/codebase/deadcode.py "$store" "$@"
