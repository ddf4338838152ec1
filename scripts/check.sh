#!/usr/bin/env bash
# The checks that need no build: format, shell scripts, generated code, layers, unsafe code,
# documents, the version, sizes.
# Prints one line a check, and the faults below a check that fails.
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

shell_faults() { shell_files | xargs shellcheck; }

# Wire types and ranking types meet in four folders only; a frame and a connection in one file.
meetings() {
    local file bad=0
    while read -r file; do
        if grep -q 'import FeedProto' "$file" && grep -qE 'import Feed(Ranking|Log)' "$file" &&
            [[ ! "$file" =~ ^Sources/FeedService/(Requests|Watches|Calls|Wire)/ ]]; then
            echo "$file: names both the wire and the ranking outside Requests/, Watches/, Calls/ and Wire/"
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

codebase() { python3 -B "scripts/codebase/$1.py"; }

# swift format looks at the length of code lines only.
comments() { ! swift_files . | LC_ALL=C.UTF-8 xargs grep -nP '^(?=.{111})\s*//'; }

# SwiftPM builds no package whose libraries have unsafe flags. Tests have one and the service another,
# which Package.swift names once each; they alone take the settings these are in.
unsafe_flags() {
    local found
    found=$(grep -nE 'unsafeFlags|-Ounchecked' Package.swift |
        grep -vF -e '.unsafeFlags(["-Onone"], .when(configuration: .release))' \
            -e '.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))' || true)
    found+=$(awk '/\.[a-zA-Z]*[tT]arget\(/ { kind = $1 }
        /name: "/ { name = $2 }
        /swiftSettings: waitingTestSettings/ && kind != ".testTarget(" { print NR ": " kind }
        /linkerSettings: serviceLinkerSettings/ && name != "\"FeedService\"," { print NR ": " name }' Package.swift)
    [[ -z "$found" ]] || { echo "$found"; return 1; }
}

# ServiceVersion.swift has the version; these have the same one, CHANGELOG.md in its newest section.
version() {
    local file found current bad=0
    for file in Sources/FeedService/Wire/ServiceVersion.swift Sources/FeedCtl/FeedCtl.swift \
        clients/python/pyproject.toml CHANGELOG.md; do
        found=$(sed -nE 's/^( *static let current = "|version = "|## )([0-9]+\.[0-9]+\.[0-9]+)("| .*|$)/\2/p' \
            "$file" | head -1)
        current=${current-$found}
        [[ -n $found && $found == "$current" ]] && continue
        echo "$file has the version '$found', and Sources/FeedService/Wire/ServiceVersion.swift '$current'."
        bad=1
    done
    return "$bad"
}

file_sizes() {
    local found
    found=$(swift_files Sources Tests | xargs wc -l |
        awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines, the limit is 700" }')
    [[ -z "$found" ]] || { echo "$found"; return 1; }
}

# What docs/APPS.md has people copy: small, and for every platform that FeedClient has.
data_sides() {
    local files=(Tests/AppTests/*/*Data.swift) found
    found=$({
        grep -cvE '^\s*(//|$)' "${files[@]}" |
            awk -F: '$2 > 100 { print $1 ": " $2 " lines of code, the limit is 100" }
                END { if (NR != 5) print NR " data sides of five apps" }'
        grep -HE '^import ' "${files[@]}" |
            grep -vE ' (FeedClient|FeedOffline|FeedProto|Foundation|Observation)$'
    })
    [[ -z "$found" ]] || { echo "$found"; return 1; }
}

check "format (swift format lint --strict)" format
if command -v shellcheck >/dev/null; then
    check "shell scripts have no known faults (shellcheck)" shell_faults
else
    skip "shell scripts have no known faults (shellcheck)" "shellcheck is not installed"
fi
check "generated C and Swift are what the contract gives" scripts/generate-proto.sh --check
check "layers, imports and folders of the modules" scripts/graph.sh
check "wire, ranking and transport meet where they may" meetings
check "unsafe code is where docs/UNSAFE.md lists it" codebase unsafe
check "locks, threads and clocks are FeedConcurrency's" codebase concurrency
check "what apps link names nothing that only Linux has" codebase portable
check "few functions take four values without a label" codebase parameters
check "no comment line over 110 columns" comments
check "links of the documents, and tests in docs/SECURITY.md" codebase pages
check "the page of metrics is what their entries give" codebase metrics
check "no unsafe compiler flags" unsafe_flags
check "the version is the same everywhere" version
check "no file over 700 lines" file_sizes
check "data sides of apps are small, and run anywhere" data_sides

exit $((failures > 0))
