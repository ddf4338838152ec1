#!/usr/bin/env bash
# Finds declarations of Sources that nothing reaches, and those that only tests and benchmarks reach.
#
#   scripts/deadcode.sh            builds for debugging in .build-coverage, and prints both lists
#   scripts/deadcode.sh --check    prints only the declarations that nothing reaches
#
# It ends with 0, with 1 where nothing reaches some declaration, or with 2 where it cannot build. It
# reads the index that the compiler writes in debug builds, so it finds names that text search cannot
# tell apart. It does not see: properties that are written and never read, parameters that are never
# used, and public declarations of the libraries FeedProto and FeedClient, which other programs may use.
set -euo pipefail
case ${1-} in
    -h | --help)
        sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
esac
cd "$(dirname "$0")/.."

if [[ $# -gt 0 && "$*" != --check ]]; then
    echo "deadcode: expected no argument or --check, got $*" >&2
    exit 2
fi

# As scripts/coverage.sh builds, so that one build serves both.
options=(--enable-code-coverage --ignore-lock --scratch-path .build-coverage)
if ! output=$(swift build --build-tests "${options[@]}" 2>&1); then
    tail -20 <<<"$output" >&2
    exit 2
fi
store=$(swift build --show-bin-path "${options[@]}")/index/store
exec python3 -B scripts/codebase/deadcode.py "$store" "$@"
