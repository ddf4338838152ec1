#!/usr/bin/env bash
# Builds the floor and the minimal client: Benchmarks/Floor/build.sh DIRECTORY
set -euo pipefail
sources=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)

compiler=${CC:-$(command -v cc || command -v clang)}
compile=("$compiler" -O2 -Wall -Wextra -Werror)
cd "$sources"
"${compile[@]}" -o "$output/echo" echo.c -luv
"${compile[@]}" -o "$output/pump" pump.c -lm
