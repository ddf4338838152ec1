#!/usr/bin/env bash
# Builds the documentation of the libraries with Swift's DocC; a warning is an error.
#
#   scripts/documentation.sh                  reads the build of .build/release
#   scripts/documentation.sh --output FOLDER  puts a folder for a web server there, one a library
#
# It reads what `swift build -c release` has built, so it builds first where nothing is there.
set -euo pipefail
cd "$(dirname "$0")/.."

libraries=(FeedProto FeedClient FeedOffline)
output=.build/documentation
if [[ ${1:-} == --output && -n ${2:-} ]]; then
    output=$2
elif [[ $# -gt 0 ]]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi

products=.build/release
for library in "${libraries[@]}"; do
    [[ -e $products/Modules/$library.swiftmodule ]] && continue
    swift build -c release --target "$library" >&2
done

# Swift finds the C libraries of the modules by their maps.
maps=()
for map in Sources/*/module.modulemap "$products"/*.build/module.modulemap; do
    [[ -e $map ]] && maps+=(-Xcc "-fmodule-map-file=$map")
done
target=$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p' | head -1)

graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
mkdir -p "$output"
for library in "${libraries[@]}"; do
    mkdir "$graphs/$library"
    swift symbolgraph-extract -module-name "$library" -target "$target" \
        -I "$products/Modules" "${maps[@]}" -Xcc "-ISources/CFeedProto/include" \
        -minimum-access-level public -skip-inherited-docs -output-dir "$graphs/$library"
    # Extensions of other modules' types have graphs of their own, which would be pages without a
    # catalogue.
    find "$graphs/$library" -name '*@*' -delete
    docc convert "Sources/$library/$library.docc" --warnings-as-errors \
        --additional-symbol-graph-dir "$graphs/$library" \
        --fallback-display-name "$library" --fallback-bundle-identifier "$library" \
        --output-dir "$output/$library"
    echo "$output/$library: $(find "$output/$library/data" -name '*.json' | wc -l) pages"
done
