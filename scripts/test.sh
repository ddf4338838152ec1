#!/usr/bin/env bash
# Checks everything: installs what is missing, checks the sources, builds with warnings
# as errors, and runs every test, then the concurrent ones under the thread sanitizer and the
# decoder and the ranking under the address sanitizer.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS

# As many tests at once as the processors keep up with: where hundreds share two of them, each
# waits longer than its deadlines.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((2 * $(nproc)))

output=$(mktemp)
trap 'rm -f "$output"' EXIT

# A step of tests that hangs must end and say so; the longest takes a third of this or less. What
# failed stands at the end again, below thousands of lines of what passed.
tests() {
    local code=0
    timeout --verbose --signal=QUIT --kill-after=30 1800 swift test "$@" 2>&1 |
        tee "$output" || code=$?
    [[ $code == 0 ]] && return
    printf '\nWhat failed:\n'
    grep -aE '^(✘|↳)|error:|Sanitizer|WARNING: ' "$output" | cut -c1-2000 | head -100 || true
    return "$code"
}

step() { printf '\n==> [%4ds] %s\n' "$((SECONDS - started))" "$*"; }

if ! command -v swift >/dev/null; then
    echo "swift is not on the PATH. Swift 6.3 or newer is needed: https://www.swift.org/install" >&2
    exit 1
fi

step "Installing what is missing"
scripts/install-dependencies.sh --tests

step "Checking the sources"
scripts/check.sh

strict=(--explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors)

# Each file by itself, some at once, as most of their time is waiting; the longest first.
step "Testing the scripts: the long tests, the comparison, the generator, the checks of the sources"
# shellcheck disable=SC2016 # The inner shell expands them.
printf '%s\n' Tests/{Soak,Compare,Wire,Codebase}Tests/test_*.py |
    xargs -P 4 -n 1 sh -c '/usr/bin/python3 -B -m unittest discover \
        --start-directory "${1%/*}" --pattern "${1##*/}"' sh

step "Building everything in release, warnings as errors"
swift build -c release --build-tests "${strict[@]}"

step "Building the embedding example, a package of its own"
swift build --package-path Examples/EmbeddedClient

# Apart, as tests that wait for sockets and processes would wait for all computing too.
computing='FeedConcurrencyTests|FeedDatasetTests|FeedJournalTests|FeedLogTests|FeedProtoTests|FeedRankingTests|FeedSQLiteTests|FeedStateTests'
step "Running every test of the contract, the ranking and the durable state"
tests -c release --skip-build --filter "$computing"
step "Running every test of the service and its tools: all others"
tests -c release --skip-build --skip "$computing"

# Operations of each seed against the models, which release runs more of.
export FEED_MODEL_OPERATIONS=20000

# Tests of threads and sockets one at a time: with a sanitizer they are slow, and some wait for
# each other's deadlines. All tests are of Swift Testing; the empty XCTest run would be reported
# for what it never frees.
step "Thread sanitizer: what runs concurrently"
tests --scratch-path .build-thread --sanitize=thread --no-parallel --disable-xctest \
    --filter 'Concurren|FeedTransportTests|DrainTests|Storm|HotPost|JournalThread|ChannelFight|ReadAhead'

# The release run has the tests that need thousands of runs, or disks or answers of many megabytes.
export LSAN_OPTIONS="suppressions=$PWD/scripts/leaks.supp:print_suppressions=0"
address=(--scratch-path .build-address --sanitize=address --disable-xctest)
step "Address sanitizer: the decoder, the structure and the state"
tests "${address[@]}" \
    --filter 'FeedProtoTests|FeedRankingTests|FeedLogTests|FeedStateTests|FeedSQLiteTests|FeedJournalTests' \
    --skip 'PowerCut|BitFlip|SpaceWatchTests'
step "Address sanitizer: the transport and the service"
tests "${address[@]}" --no-parallel --skip-build \
    --filter 'FeedTransportTests|FeedServiceTests' --skip OverloadTests

step "Everything passed"
