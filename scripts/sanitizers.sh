#!/usr/bin/env bash
# Runs tests under a sanitizer.
#
#   scripts/sanitizers.sh thread            what runs concurrently
#   scripts/sanitizers.sh address           what most unsafe code is in: the decoder, the ranking, the
#                                           log, the journal, SQLite, accounts, TLS and the transport
#   scripts/sanitizers.sh all               both, and the address sanitizer over the state, the
#                                           settings, the operator's pages, the service and the client
#   scripts/sanitizers.sh answers           damaged answers against FeedClient, FeedOffline, feedctl and
#                                           loadgen: FEED_FUZZ_ROUNDS and FEED_MUTATED_ANSWERS say how many
#
# The first two take some five minutes each. Type `thread` after a change of what threads share, and
# `address` after a change of unsafe code.
set -euo pipefail
cd "$(dirname "$0")/.."

# What no test under a sanitizer reaches is left out of its build.
unused='AppTests FeedCtl FeedCtlTests FeedImport FeedDataset FeedDatasetTests IntegrationTests
    ClientBenchmark FeedClientObservation FeedClientObservationTests FeedOffline FeedOfflineTests
    FirstClient OutboxProgram Reader LoadGen LoadGenCommand LoadGenTests'
above='FeedAdmin FeedAdminTests FeedClient FeedClientTesting FeedClientTests FeedService
    FeedServiceTests FeedSettings FeedSettingsTests FeedState FeedStateTests'

besideAnswers='AppTests ClientBenchmark FeedAccountsTests FeedAdminTests FeedClientObservation
    FeedClientObservationTests FeedConcurrencyTests FeedDatasetTests FeedDiskFaults FeedJournalTests
    FeedLogTests FeedProtoTests FeedRankingModel FeedRankingTests FeedSQLiteTests FeedServiceTests
    FeedSettingsTests FeedStateTests FeedTLSTests FeedTransportTests FirstClient IntegrationTests
    OutboxProgram Reader'

# The run without sanitizers has the tests that need thousands of runs, or disks and answers of many
# megabytes.
long='(PowerCut|BitFlip|SpaceWatchTests|OverloadTests)\w*[/(]'

# Builds and runs tests: the sanitizer, the configuration, the targets to leave out, and flags of the run.
run() {
    local sanitizer=$1 flags
    export FEED_WITHOUT_TARGETS=$3
    flags=(-c "$2" --scratch-path ".build-$sanitizer" --sanitize="$sanitizer")
    swift build --build-tests "${flags[@]}"
    # All tests are of Swift Testing; the empty XCTest run would be reported for what it never frees.
    # One at a time: with a sanitizer they are slow, and some wait for each other's deadlines.
    swift test "${flags[@]}" --skip-build --disable-xctest --no-parallel "${@:4}"
}

# Without the optimizer: its build is quick, and its tests mostly wait. Each has fewer operations against
# the models than without a sanitizer, as they are slower here.
thread() {
    export FEED_MODEL_OPERATIONS=2000
    run thread debug "$unused" --filter \
        'Concurren|FeedTransportTests|DrainTests|Storm|HotPost|JournalThread|ChannelFight|ReadAhead|PasswordHasherTests|PasswordTurnsTests|threadsMakeOneAccount'
}

# With the optimizer: most of these compute, and would take ten times as long without it. The targets to
# leave out, and which tests run.
address() {
    export FEED_MODEL_OPERATIONS=20000
    # Short traces and little freed memory kept: a sixth of the time.
    export ASAN_OPTIONS="malloc_context_size=5:quarantine_size_mb=16:suppressions=$PWD/scripts/address.supp"
    export LSAN_OPTIONS="suppressions=$PWD/scripts/leaks.supp:print_suppressions=0"
    run address release "$@"
}

case ${1:-} in
thread) thread ;;
address) address "$unused $above" --skip "$long" ;;
answers) address "$besideAnswers" --filter 'AnswerFuzzTests|OfflineFuzzTests|HostileAnswerTests|MutatedAnswerTests' ;;
all)
    thread
    address "$unused" --skip "$long"
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
