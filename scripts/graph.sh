#!/usr/bin/env bash
# The graph of the modules, which Package.swift declares: --help says what it checks and writes.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B scripts/codebase/graph.py "$@"
