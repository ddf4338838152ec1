#!/usr/bin/env bash
# Checks the modules that Package.swift declares; with --write puts their graph into docs/ARCHITECTURE.md first.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B scripts/codebase/graph.py "$@"
