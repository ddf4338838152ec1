#!/usr/bin/env bash
# Makes the picture of the load generator's report for the README: a load of half a minute on the built
# service, and its page in headless Chromium.
#
#   scripts/report.sh [FILE]     default: docs/images/report.png
set -euo pipefail
cd "$(dirname "$0")/.."

picture=$(realpath --canonicalize-missing "${1:-docs/images/report.png}")
for program in .build/release/feed-service .build/release/loadgen; do
    [[ -x $program ]] && continue
    echo "report: there is no $program; build it with \`swift build -c release\`." >&2
    exit 1
done
if ! command -v chromium >/dev/null; then
    echo "report: chromium is not installed (Debian: apt-get install chromium)." >&2
    exit 1
fi
mkdir -p "$(dirname "$picture")"
FEED_SCREENSHOT=$picture FEED_SCREENSHOT_SECONDS=30 python3 -B -m unittest discover \
    --start-directory Tests/MonitoringTests --pattern test_report.py
echo "report: $picture"
