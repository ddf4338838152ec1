#!/usr/bin/env bash
# Measures how much of each module the tests reach, and prints a Markdown table.
#
#   scripts/coverage.sh                          all tests, all modules
#   scripts/coverage.sh FeedProto FeedRanking    the tests of these modules, and their rows only
#
# It builds for debugging in .build-coverage, so the products in .build stay as they are. The
# tests' output is in .build-coverage/test.log. Tests that count allocations or bytes are left out,
# as debug builds allocate more. Models, power cuts and flips of bits run fewer rounds.
#
# The exit code is 0, 1 where a test failed (the table then lacks the lines of that test), or 2
# where nothing could be measured.
set -euo pipefail
case ${1-} in
    -h | --help)
        sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
esac
cd "$(dirname "$0")/.."

scratch=.build-coverage
options=(--enable-code-coverage --ignore-lock --scratch-path "$scratch")
tests=(--skip 'MemoryTests|AllocationTests')
for module in "$@"; do
    if [[ ! -d Sources/$module ]]; then
        echo "coverage: there is no module $module in Sources." >&2
        exit 2
    fi
    tests+=(--filter "^${module}Tests\\.")
done

# As many tests at once as in scripts/test.sh.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((2 * $(nproc)))
# A debug build is many times slower. More rounds reach no other lines. With fewer than 200 flips
# the tests do not count how many were refused.
export FEED_MODEL_OPERATIONS=2000 FEED_POWER_CUTS=200 FEED_BIT_FLIPS=150
mkdir -p "$scratch"
echo "==> Building and testing; the output is in $scratch/test.log" >&2
if ! swift build --build-tests "${options[@]}" >"$scratch/test.log" 2>&1; then
    tail -20 "$scratch/test.log" >&2
    exit 2
fi
build=$(swift build --show-bin-path "${options[@]}")
rm -rf "$build/codecov"
failed=0
if ! swift test --skip-build "${options[@]}" "${tests[@]}" >"$scratch/test.log" 2>&1; then
    echo "coverage: some tests failed, and the lines that only they reach count as not reached:" >&2
    grep -aE '^✘|error:' "$scratch/test.log" | cut -c1-300 | head -20 >&2 || true
    failed=1
fi
grep -a '^[✔✘] Test run' "$scratch/test.log" >&2 || true

python3 -B scripts/codebase/coverage.py "$build" "$@" || exit 2
exit "$failed"
