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
[[ ${1:-} != cluster ]] || scripts/install-dependencies.sh --cluster >&2
PYTHONPATH=$PWD/clients/python:$PWD/scripts/common exec /usr/bin/python3 -B scripts/soak "$@"
