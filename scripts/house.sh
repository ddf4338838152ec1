#!/usr/bin/env bash
# Prints a table of figures that say how the code is built: lines, functions, declarations, unsafe
# code, locks and threads of Sources.
#
#   scripts/house.sh                 of the working tree
#   scripts/house.sh 1a2b3c4 HEAD    of these commits, a column each
set -euo pipefail
case ${1-} in
    -h | --help)
        sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
esac
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trees=()
for commit in "$@"; do
    git rev-parse --quiet --verify "$commit^{commit}" >/dev/null || {
        echo "scripts/house.sh: $commit is no commit of this repository" >&2
        exit 2
    }
    mkdir -p "$work/$commit"
    git archive "$commit" Sources Tests | tar -x -C "$work/$commit"
    trees+=("$commit=$work/$commit")
done
[[ ${#trees[@]} -gt 0 ]] || trees=("working tree=.")
python3 -B scripts/codebase/house.py "${trees[@]}"
