#!/usr/bin/env bash
# A cluster of three nodes on this machine, in one command: builds both programs in release if that is needed,
# makes a state and certificates, runs feed-replica and feed-service three times, and says what to type next.
#
#   scripts/cluster.sh              until Ctrl-C; what ends meanwhile is started again, as systemd would
#   scripts/cluster.sh --nodes 5    or 1
#
# Everything is below .build/cluster, on free ports of 127.0.0.1, and is removed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v swift >/dev/null || ! command -v python3 >/dev/null; then
    echo "swift and python3 are needed. Swift 6.3 or newer: https://www.swift.org/install" >&2
    exit 1
fi

if [[ " $* " != *" --binaries "* && " $* " != *" --help "* ]]; then
    scripts/install-dependencies.sh
    for product in feed-service loadgen feedctl; do swift build -c release --product "$product"; done
    scripts/replica.sh build
    set -- --binaries "$(realpath --relative-to=. "$(swift build -c release --show-bin-path)")" "$@"
    set -- --replica .build/replica/feed-replica "$@"
fi
PYTHONPATH=scripts/common exec python3 -B scripts/cluster.py "$@"
