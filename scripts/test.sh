#!/usr/bin/env bash
# Checks everything: installs what is missing, checks the sources, builds with warnings
# as errors, and runs every test. With --replica it installs Go, if it is missing, for the tests of
# feed-replica; without, it runs these if Go is there.
#
# scripts/sanitizers.sh runs tests under the sanitizers, and scripts/soak.sh the long tests.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS

# As many tests at once as the processors keep up with: where hundreds share two of them, each
# waits longer than its deadlines.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((2 * $(nproc)))

logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$logs"' EXIT

# A step of tests that hangs must end and say so, and a slow machine with other work is no hang: the
# longest step takes seven minutes of two cores. What failed stands at the end again, below thousands
# of lines of what passed.
tests() {
    local code=0
    timeout --verbose --signal=QUIT --kill-after=30 7200 "$@" 2>&1 |
        tee "$logs/tests" || code=$?
    cat "$logs/tests" >>"$logs/all"
    [[ $code == 0 ]] && return
    printf '\nWhat failed:\n'
    grep -aE '^(✘|↳)|error:|Sanitizer|WARNING: ' "$logs/tests" | cut -c1-2000 | head -100 || true
    return "$code"
}

# What was skipped, with each reason once, from what the tests in Python and in Swift have said.
skipped() {
    local found
    found=$(grep -aoE "^➜ +(Test|Suite) .* skipped.*|\.\.\. skipped ['\"].*" "$logs/all" |
        sed -E "s/^\.\.\. skipped .(.*).$/\1/; s/^➜ +//; s/^[TS][a-z]+ .* skipped: \"(.*)\"$/\1/" |
        sort | uniq -c) || true
    printf '\nWhat was skipped:\n%s\n' "${found:-      nothing}"
}

# Runs a build beside the tests that follow; `finish` waits for it and prints what it said.
declare -A builds
beside() {
    local name=$1
    shift
    "$@" >"$logs/$name" 2>&1 &
    builds[$name]=$!
}
finish() {
    local code=0
    wait "${builds[$1]}" || code=$?
    cat "$logs/$1"
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

# Most tests wait more than they compute, so builds run beside them.
step "Testing the scripts and the client for Python, beside the release build: warnings are errors"
beside release swift build -c release --build-tests \
    --explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors
# Each file by itself, some at once; the longest first.
# shellcheck disable=SC2016 # The inner shell expands them.
printf '%s\n' Tests/{Soak,Compare,Wire,Codebase}Tests/test_*.py clients/python/tests/test_*.py |
    xargs -P 4 -n 1 sh -c 'told=$(/usr/bin/python3 -B -m unittest discover --verbose \
        --start-directory "${1%/*}" --pattern "${1##*/}" 2>&1); code=$?; echo "$told"; exit $code' sh |
    tee "$logs/all"
step "Waiting for the release build"
finish release

step "Testing what operators see: metrics, alerts and the dashboard"
/usr/bin/python3 -B -m unittest discover --start-directory Tests/MonitoringTests --verbose 2>&1 |
    tee -a "$logs/all"

step "Testing feed-replica"
if [[ ${1:-} == --replica ]] || command -v go >/dev/null; then
    scripts/replica.sh test 2>&1 | tee -a "$logs/all"
else
    echo '➜ Suite replica skipped: "there is no Go; scripts/replica.sh test installs it"' | tee -a "$logs/all"
fi

step "Building the documentation of the libraries: warnings are errors"
scripts/documentation.sh

# Apart, as tests that wait for sockets and processes would wait for all computing too.
computing='FeedConcurrencyTests|FeedDatasetTests|FeedJournalTests|FeedLogTests|FeedProtoTests|FeedRankingTests|FeedSQLiteTests|FeedStateTests|FeedTLSTests'
step "Running every test of the contract, the ranking and the durable state, beside the example's build"
beside example swift build --disable-index-store --package-path Examples/EmbeddedClient
tests swift test -c release --skip-build --filter "$computing"
finish example

step "Checking the types of the client libraries for iOS"
scripts/apple.sh

step "Running every test of the contract with the codec in Swift"
(
    FEED_WITHOUT_TARGETS=$(sed -nE 's/.*name: "([A-Za-z]+)".*/\1/p' Package.swift |
        grep -vxE 'C?FeedProto|CProtobufC|FeedProtoTests|FeedIdentifiers|FeedSpans|FeedTestSupport|CMallocHook')
    export FEED_WITHOUT_TARGETS FEED_CODEC=swift
    swift build -c release --build-tests --scratch-path .build-swift-codec -Xswiftc -warnings-as-errors
    tests swift test -c release --skip-build --scratch-path .build-swift-codec
)

step "Running every test of the service and its tools, all others"
tests swift test -c release --skip-build --skip "$computing"
skipped
step "Everything passed"
