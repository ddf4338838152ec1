#!/usr/bin/env bash
# Makes the picture of the dashboard for the README: the built service under load for two minutes, in
# headless Chromium.
#
#   scripts/dashboard.sh [FILE]     default: docs/images/dashboard.png
set -euo pipefail
cd "$(dirname "$0")/.."

picture=$(realpath --canonicalize-missing "${1:-docs/images/dashboard.png}")
for program in .build/release/feed-service .build/release/loadgen; do
    [[ -x $program ]] && continue
    echo "dashboard: there is no $program; build it with \`swift build -c release\`." >&2
    exit 1
done
if ! command -v chromium >/dev/null; then
    echo "dashboard: chromium is not installed (Debian: apt-get install chromium)." >&2
    exit 1
fi
mkdir -p "$(dirname "$picture")"
FEED_SCREENSHOT=$picture FEED_SCREENSHOT_SECONDS=120 python3 -B -m unittest discover \
    --start-directory Tests/MonitoringTests --pattern test_dashboard.py
echo "dashboard: $picture"
