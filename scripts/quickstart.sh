#!/usr/bin/env bash
# From a fresh clone to a measured service: installs what is missing, builds in release, starts
# the service with its state on this disk, as users run it, loads it with 500 clients, prints the
# report, stops the service and removes the state.
#
# Service and load generator share this machine, so each gets half of the cores. The result is a lower
# bound of what the service can do. Extra arguments go to the load generator:
# scripts/quickstart.sh --duration 30s
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v swift >/dev/null; then
    echo "swift is not on the PATH. Swift 6.3 or newer is needed: https://www.swift.org/install" >&2
    exit 1
fi

scripts/install-dependencies.sh

echo "==> Building in release (the first build takes some minutes on a small machine)"
swift build -c release --product feed-service
swift build -c release --product loadgen
binaries=$(swift build -c release --show-bin-path)

# The state is beside the build and not in /tmp, which may be in memory: its syncs reach a disk.
work=$(mktemp -d .build/quickstart.XXXXXX)
service=
# The trap calls it, which shellcheck does not see.
# shellcheck disable=SC2317,SC2329
finish() {
    if [[ -n "$service" ]]; then
        kill -TERM "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT

cores=$(nproc)
service_threads=$((cores > 511 ? 256 : (cores + 1) / 2))
client_threads=$((cores > 128 ? 64 : cores > 1 ? cores / 2 : 1))

echo "==> Starting the service on a free port, with $service_threads of $cores cores"
"$binaries/feed-service" --listen 127.0.0.1:0 --threads "$service_threads" \
    --data-dir "$work/feed-data" >"$work/service.log" 2>&1 &
service=$!
address=
for _ in $(seq 100); do
    address=$(sed -nE 's/.*listening on ([0-9.]+:[0-9]+).*/\1/p' "$work/service.log" | head -1)
    [[ -n "$address" ]] && break
    if ! kill -0 "$service" 2>/dev/null; then
        service=
        break
    fi
    read -rt 0.1 <> <(:) || true
done
cat "$work/service.log"
if [[ -z "$address" ]]; then
    echo "The service did not start." >&2
    exit 1
fi

echo "==> loadgen --clients 500 --threads $client_threads --target $address $*"
ulimit -n "$(ulimit -Hn)" 2>/dev/null || true
status=0
"$binaries/loadgen" --clients 500 --threads "$client_threads" --target "$address" "$@" || status=$?

echo "==> Stopping the service"
kill -TERM "$service"
wait "$service" || status=$?
service=
exit "$status"
