#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, if any is missing.
#
#   scripts/install-dependencies.sh            what the programs need to build and run
#   scripts/install-dependencies.sh --tests    and what the tests and checks need beside it
#   scripts/install-dependencies.sh --compare  and what scripts/compare.sh needs beside it
#   scripts/install-dependencies.sh --cluster  and what scripts/soak.sh cluster needs beside the tests
#   scripts/install-dependencies.sh --package  and what scripts/package.sh needs beside it
set -euo pipefail

packages=(git pkg-config libuv1-dev libprotobuf-c-dev libsqlite3-dev libxxhash-dev
          zlib1g-dev libsodium-dev libssl-dev)
if [[ "${1:-}" == "--tests" ]]; then
    packages+=(protobuf-c-compiler protobuf-compiler python3 python3-protobuf fiu-utils shellcheck openssl
               chromium)
elif [[ "${1:-}" == "--compare" ]]; then
    packages+=(python3 python3-protobuf redis-server redis-tools)
elif [[ "${1:-}" == "--cluster" ]]; then
    packages+=(iproute2 nftables strace util-linux mount)
elif [[ "${1:-}" == "--package" ]]; then
    packages+=(dpkg-dev binutils xz-utils python3 debootstrap lintian strace systemd man-db iproute2
               openssl)
elif [[ $# -gt 0 ]]; then
    echo "install-dependencies: expected --tests, --compare, --cluster or --package, got $1." >&2
    exit 2
fi

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ "$state" == "installed" ]] || missing+=("$package")
done

if [[ ${#missing[@]} -eq 0 ]]; then
    echo "==> Debian packages: all ${#packages[@]} are installed"
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo "Missing: ${missing[*]}. This machine has no apt-get: install them by hand." >&2
    exit 1
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
        echo "Missing: ${missing[*]}. Installing them needs root, and there is no sudo." >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "==> Debian packages: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
