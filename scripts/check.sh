#!/usr/bin/env bash
# The checks that need no build: format, shell scripts, generated code, layers, unsafe code, sizes.
# Prints one line a check, and what is wrong where one fails.
#
# The functions below are called by their names, through `check`, which shellcheck does not see.
# shellcheck disable=SC2317,SC2329
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

failures=0
check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        printf '==> %-52s OK\n' "$name"
    else
        printf '==> %-52s FAILED\n%s\n' "$name" "$output"
        failures=$((failures + 1))
    fi
}

skip() { printf '==> %-52s SKIPPED: %s\n' "$1" "$2"; }

swift_files() { git ls-files --cached --others --exclude-standard -- "$@" | grep '\.swift$'; }

format() {
    swift_files Package.swift Sources Tests Examples Benchmarks |
        xargs swift format lint --strict --parallel
}

shell_files() { git ls-files --cached --others --exclude-standard -- '*.sh' .ci/run; }

shell_syntax() {
    local script
    while read -r script; do bash -n "$script" || return 1; done < <(shell_files)
}

shell_faults() { shell_files | xargs shellcheck; }

generated() { scripts/generate-proto.sh --check; }

# Which of our modules a module may import. The build checks that each import is declared; this
# checks that what is declared is what the architecture says.
layers() {
    local -A allowed=(
        [FeedConcurrency]=""
        [FeedProto]="CFeedProto CProtobufC"
        [FeedRanking]="CPrefetch"
        [FeedTransport]="CLibUV"
        [FeedDataset]=""
        [FeedJournal]="CFileBirth CWriteBack CXXHash"
        [FeedSQLite]="CSQLite"
        [FeedState]="FeedConcurrency FeedJournal FeedRanking FeedSQLite"
        [FeedService]="FeedConcurrency FeedJournal FeedProto FeedRanking FeedState FeedTransport"
        [LoadGen]="FeedDataset FeedProto FeedTransport"
        [FeedClient]="FeedProto FeedTransport"
        [FeedCtl]="FeedClient FeedDataset FeedProto"
    )
    local ours
    ours=$(basename -a Sources/* | paste -sd '|')
    local module line bad=0
    for module in "${!allowed[@]}"; do
        while IFS=: read -r file line name; do
            if [[ " ${allowed[$module]} " != *" $name "* ]]; then
                echo "$file:$line: $module may not import $name"
                bad=1
            fi
        done < <(grep -rnE --include='*.swift' "^((public|package|internal|private|@[a-z]+) )*import ($ours)$" \
            "Sources/$module" | sed -E 's/^([^:]+):([0-9]+):.*import ([A-Za-z]+)$/\1:\2:\3/')
    done
    return "$bad"
}

# A wire type and a ranking type meet in Requests/ only; a frame and a connection in one file.
meetings() {
    local file bad=0
    while read -r file; do
        if grep -q 'import FeedProto' "$file" && grep -q 'import FeedRanking' "$file" &&
            [[ "$file" != Sources/FeedService/Requests/* ]]; then
            echo "$file: names both the wire and the ranking outside Requests/"
            bad=1
        fi
        if grep -q 'import FeedProto' "$file" && grep -q 'import FeedTransport' "$file" &&
            [[ "$file" != Sources/FeedService/Connections/ServerConnection.swift ]]; then
            echo "$file: names both the wire and the transport outside ServerConnection.swift"
            bad=1
        fi
    done < <(swift_files Sources/FeedService)
    return "$bad"
}

# Unsafe code lives in the zones only: one folder a C library, one a hot structure's storage.
unsafe_code() {
    local zones='^Sources/(FeedTransport/UV|FeedJournal/File|FeedSQLite|FeedCtl/Terminal|FeedProto/ProtobufC|(FeedRanking|LoadGen)(/[A-Za-z]+)*/Storage)/'
    local found
    found=$(swift_files Sources | grep -vE "$zones" |
        xargs grep -nE '\bunsafe\b|\bUnsafe[A-Za-z]*|\bUnmanaged\b|unsafeBitCast|nonisolated\(unsafe\)' |
        grep -vE '^[^:]+:[0-9]+: *//' || true)
    if [[ -n "$found" ]]; then
        echo "$found"
        return 1
    fi
    found=$(grep -nE 'unsafeFlags|-Ounchecked' Package.swift || true)
    [[ -z "$found" ]] || { echo "$found"; return 1; }
}

file_sizes() {
    local found
    found=$(swift_files Sources Tests | xargs wc -l |
        awk '$2 != "total" && $1 > 300 { print $2 ": " $1 " lines, the limit is 300" }')
    [[ -z "$found" ]] || { echo "$found"; return 1; }
}

check "format (swift format lint --strict)" format
check "shell scripts parse" shell_syntax
if command -v shellcheck >/dev/null; then
    check "shell scripts have no known faults (shellcheck)" shell_faults
else
    skip "shell scripts have no known faults (shellcheck)" "shellcheck is not installed"
fi
check "generated C is what the contract gives" generated
check "layers: who imports whom" layers
check "wire, ranking and transport meet where they may" meetings
check "unsafe code is confined to its zones" unsafe_code
check "no file over 300 lines" file_sizes

exit $((failures > 0))
