#!/usr/bin/env bash
# Makes Python of proto/feed.proto in a temporary folder and runs feed_client.py: run.sh HOST PORT [KEY_FILE]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

protoc --proto_path="$here/../../proto" --python_out="$work" feed.proto
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work" /usr/bin/python3 "$here/feed_client.py" "$@"
