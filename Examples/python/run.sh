#!/usr/bin/env bash
# Makes Python of proto/feed.proto in a temporary folder and runs feed_client.py:
# run.sh HOST PORT [KEY_FILE] [--tls] [--ca FILE]
set -euo pipefail
if ! command -v protoc >/dev/null || ! /usr/bin/python3 -c 'import google.protobuf' 2>/dev/null; then
  echo 'protoc or its library for Python is missing; on Debian: apt install protobuf-compiler python3-protobuf' >&2
  exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

protoc --proto_path="$here/../../proto" --python_out="$work" feed.proto
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work" /usr/bin/python3 "$here/feed_client.py" "$@"
