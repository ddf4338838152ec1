#!/usr/bin/env bash
# Type-checks the client libraries for iOS 18 against the standard library and stubs of Apple's modules.
# It builds the standard library first, once, in half a minute; then it takes as long again.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 -B scripts/apple "$@"
