#!/usr/bin/env bash
# The long versions of the tests of durability. Each ends with a line of its results.
#
#   scripts/soak.sh kill                 kill -9 under load; docs/SOAK.md has all soaks
#   scripts/soak.sh kill --minutes 10    stops after ten minutes; the next run continues from there
#   scripts/soak.sh kill --help          every flag
#
# The results are kept below --output (.build/soak), and add up. The exit code is 0 where nothing
# failed, 1 where something did, and 2 for a wrong flag.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh --tests >&2

export PYTHONPATH=$PWD/clients/python:$PWD/scripts/common
soak=(/usr/bin/python3 -B scripts/soak)

# Prints the help, or the fault of a flag, before a build of some minutes.
for word in "$@"; do
    [[ $word != -h && $word != --help ]] || exec "${soak[@]}" "$@"
done
"${soak[@]}" "$@" --check

case $1 in
power | flips | losses | outbox)
    swift build -c release --build-tests \
        --explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors >&2
    ;;
*)
    for product in feed-service loadgen; do
        swift build -c release --product "$product" >&2
    done
    ;;
esac

exec "${soak[@]}" "$@" --binaries "$(swift build -c release --show-bin-path)"
