#!/usr/bin/env bash
# The graph of the modules, which Package.swift declares.
#
#   scripts/graph.sh --write          puts the picture and the table into docs/ARCHITECTURE.md, between its markers
#   scripts/graph.sh --check          checks that dependencies lead to lower layers and that the page is not stale
#   scripts/graph.sh --imports        checks that imports and declared dependencies agree
#   scripts/graph.sh --check-folders  checks that no folders of a module name each other's types
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B scripts/codebase/graph.py "$@"
