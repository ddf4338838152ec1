#!/usr/bin/env bash
# The graph of the modules, which Package.swift declares.
#
#   scripts/graph.sh                  prints the graph: a Mermaid picture and a table
#   scripts/graph.sh --write          puts it into docs/ARCHITECTURE.md, between its markers
#   scripts/graph.sh --check          checks that dependencies lead to lower layers and that the page is not stale
#   scripts/graph.sh --imports        checks that imports and declared dependencies agree
#   scripts/graph.sh --folders        prints the folders of each module that name each other's types
#   scripts/graph.sh --check-folders  checks that only the pairs of scripts/codebase/folder-pairs.txt do
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B scripts/codebase/graph.py "$@"
