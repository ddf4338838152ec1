#!/usr/bin/env bash
# Makes Sources/CFeedProto from proto/feed.proto with protoc-c; with --check, only compares.
#
# protobuf-c hands a `string` over as a NUL-terminated char *: its length is lost, and an embedded
# NUL cuts it. `string` and `bytes` are the same on the wire, so the C is made from a copy of the
# contract in which every string is bytes, and Swift validates the text by its length.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -E 's/^( *(repeated )?)string ([a-z0-9_]+ = [0-9]+;)/\1bytes \3/' \
    proto/feed.proto >"$work/feed.proto"
if sed 's://.*::' "$work/feed.proto" | grep -nE '(^|[^a-z_])string +[a-z]'; then
    echo "generate-proto: the lines above still declare a string; write one field a line." >&2
    exit 1
fi
mkdir "$work/out"
protoc-c --proto_path="$work" --c_out="$work/out" feed.proto

header=Sources/CFeedProto/include/feed.pb-c.h
source=Sources/CFeedProto/feed.pb-c.c
if [[ ${1:-} == --check ]]; then
    for pair in "feed.pb-c.h $header" "feed.pb-c.c $source"; do
        read -r made committed <<<"$pair"
        if ! cmp -s "$work/out/$made" "$committed"; then
            echo "generate-proto: $committed is stale: run scripts/generate-proto.sh." >&2
            exit 1
        fi
    done
    echo "generate-proto: $header and $source are up to date."
else
    mkdir -p "$(dirname "$header")"
    cp "$work/out/feed.pb-c.h" "$header"
    cp "$work/out/feed.pb-c.c" "$source"
fi
