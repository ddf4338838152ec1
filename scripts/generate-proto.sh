#!/usr/bin/env bash
# Makes Sources/CFeedProto, Sources/FeedProto/Generated and the messages of clients/python from
# proto/feed.proto; with --check, only compares.
#
# protoc-c makes the C, scripts/wire, a plugin of protoc, the Swift, and protoc the Python. protobuf-c
# hands a `string` over as a NUL-terminated char *: its length is lost, and an embedded NUL ends it.
# `string` and `bytes` are the same on the wire, so the C is made from a copy of the contract in which
# every string is bytes, and Swift validates the text by its length. The copy lacks the annotations
# for Swift, so that they do not become comments of the C.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -E -e 's/^( *(repeated )?)string ([a-z0-9_]+ = [0-9]+;)/\1bytes \3/' -e 's:  // @.*::' \
    proto/feed.proto >"$work/feed.proto"
if sed 's://.*::' "$work/feed.proto" | grep -nE '(^|[^a-z_])string +[a-z]'; then
    echo "generate-proto: the lines above still declare a string; write one field a line." >&2
    exit 1
fi
mkdir "$work/c" "$work/swift" "$work/python"
protoc-c --proto_path="$work" --c_out="$work/c" feed.proto
protoc --proto_path=proto --plugin=protoc-gen-feed-swift=scripts/wire/protoc-gen-feed-swift \
    --feed-swift_out="$work/swift" --python_out="$work/python" --pyi_out="$work/python" feed.proto

header=Sources/CFeedProto/include/feed.pb-c.h
source=Sources/CFeedProto/feed.pb-c.c
swift=Sources/FeedProto/Generated
python=clients/python/feedclient
if [[ ${1:-} == --check ]]; then
    for pair in "c/feed.pb-c.h $header" "c/feed.pb-c.c $source" "swift $swift" \
        "python/feed_pb2.py $python/feed_pb2.py" "python/feed_pb2.pyi $python/feed_pb2.pyi"; do
        read -r made committed <<<"$pair"
        if ! diff --recursive --brief "$work/$made" "$committed"; then
            echo "generate-proto: $committed is stale: run scripts/generate-proto.sh." >&2
            exit 1
        fi
    done
    echo "generate-proto: $header, $source, $swift and $python are up to date."
else
    mkdir -p "$(dirname "$header")"
    cp "$work/c/feed.pb-c.h" "$header"
    cp "$work/c/feed.pb-c.c" "$source"
    rm -rf "$swift"
    cp -r "$work/swift" "$swift"
    cp "$work/python"/feed_pb2.py* "$python"
fi
