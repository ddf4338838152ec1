#!/usr/bin/env bash
# Runs tour.py with the client of clients/python: run.sh HOST PORT [KEY_FILE] [--tls] [--ca FILE]
set -euo pipefail
if ! /usr/bin/python3 -c 'import google.protobuf' 2>/dev/null; then
  echo 'The library of protobuf for Python is missing; on Debian: apt install python3-protobuf' >&2
  exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)
PYTHONPATH=$here/../../clients/python exec /usr/bin/python3 -B "$here/tour.py" "$@"
