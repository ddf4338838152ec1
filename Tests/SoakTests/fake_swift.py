#!/usr/bin/python3 -B
"""In place of `swift test`: says what it was asked, and fails from FAKE_BAD_SEED on."""

import os
import sys

seed = int(os.environ["FEED_FIRST_SEED"])
count = os.environ.get("FEED_POWER_CUTS") or os.environ.get("FEED_BIT_FLIPS")
with open(os.environ["FAKE_SWIFT_LOG"], "a") as file:
    print(seed, count, sys.argv[-1], os.environ.get("FEED_SEED"), file=file)
    if os.environ.get("FEED_COMBINATION"):
        print(os.environ.get("FEED_CODEC"), os.environ.get("FEED_TRANSPORT"),
              *[each for each in sys.argv if each.startswith(".build")], file=file)
if seed >= int(os.environ.get("FAKE_BAD_SEED", "9" * 18)):
    print(f"✘ Test keeps() recorded an issue at A.swift:1:1: Expectation failed: seed {seed}")
    print("✘ Test run with 3 tests in 2 suites failed after 1 second with 1 issue.")
    sys.exit(1)
suites = os.environ.get("FAKE_SUITES", "2")
print(f"✔ Test run with 3 tests in {suites} suites passed after 1.5 seconds.")
