#!/usr/bin/env bash
# Builds the documentation of the libraries with Swift's DocC, as one archive; a warning is an error.
#
#   scripts/documentation.sh                  reads the build of .build/release
#   scripts/documentation.sh --output FOLDER  puts the folder for a web server there
#
# It reads what `swift build -c release` has built, so it builds first where nothing is there.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each may link to those before it.
libraries=(FeedProto FeedClient FeedClientTesting FeedClientObservation FeedOffline)
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

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archives=()
dependencies=()
for library in "${libraries[@]}"; do
    graphs=$work/graphs/$library
    archive=$work/$library.doccarchive
    mkdir -p "$graphs"
    swift symbolgraph-extract -module-name "$library" -target "$target" \
        -I "$products/Modules" "${maps[@]}" -Xcc "-ISources/CFeedProto/include" \
        -minimum-access-level public -skip-inherited-docs -emit-extension-block-symbols \
        -experimental-allowed-reexported-modules=FeedIdentifiers \
        -output-dir "$graphs"
    # Of extensions, those of the project's own types have pages.
    find "$graphs" -name '*@*' ! -name '*@Feed*' -delete
    docc convert "Sources/$library/$library.docc" --warnings-as-errors \
        --additional-symbol-graph-dir "$graphs" --enable-experimental-external-link-support \
        "${dependencies[@]}" \
        --fallback-display-name "$library" --fallback-bundle-identifier "$library" \
        --output-path "$archive"
    archives+=("$archive")
    dependencies+=(--dependency "$archive")
    echo "$library: $(find "$archive/data" -name '*.json' | wc -l) pages"
done
rm -rf "$output"
docc merge "${archives[@]}" --synthesized-landing-page-name "The feed service in Swift" \
    --output-path "$output"
echo "$output: index.html"
