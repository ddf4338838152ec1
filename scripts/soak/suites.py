"""The test suites of power cuts, flipped bits and lost connections, many more times than the tests do."""

import os
import re
import subprocess

import build
import tally

SEEDS_A_PIECE = 1_000_000  # more than a piece can use: each has seeds of its own
KINDS = {
    "power": {"filter": r"\.\w*PowerCut\w*Tests/", "variable": "FEED_POWER_CUTS", "name": "power cuts",
              "count": 100_000, "piece": 2000},
    "flips": {"filter": r"\.\w*BitFlip\w*Tests/", "variable": "FEED_BIT_FLIPS", "name": "bit flips",
              "count": 10_000, "piece": 1000},
    "replica": {"go": "PowerCutsCost", "variable": "FEED_POWER_CUTS", "name": "power cuts of replicas",
                "count": 100_000, "piece": 5000},
    "losses": {"filter": r"\.\w*ClientLoss\w*Tests/", "variable": "FEED_CONNECTION_LOSSES",
               "name": "lost connections", "count": 1000, "piece": 1000},
    "codecs": {"filter": r"\.CodecTests/", "variable": "FEED_CODEC_FRAMES", "name": "frames",
               "count": 10_000_000, "piece": 1_000_000},
    "outbox": {"filter": r"\.OutboxKillTests/eachEntry", "variable": "FEED_OUTBOX_KILLS",
               "name": "kills of an outbox", "count": 1000, "piece": 100},
    "combinations": {"filter": r"^(FeedProtoTests|FeedClientTests)\.", "variable": "FEED_COMBINATION",
                     "name": "combinations of codec and transport", "count": 4, "piece": 1},
    "histories": {"filter": r"\.HistoryTests/", "variable": "FEED_OFFLINE_HISTORIES",
                  "name": "histories of two devices", "count": 1000, "piece": 100},
    "copy": {"filter": r"\.KeptPostsTests/aFirstSync", "variable": "FEED_COPY_POSTS",
             "name": "posts of which a phone keeps the newest 2,000", "count": 200_000, "piece": 200_000},
}
# What chooses a combination when the package is built.
COMBINATIONS = [{}, {"FEED_CODEC": "swift"}, {"FEED_TRANSPORT": "nio"},
                {"FEED_CODEC": "swift", "FEED_TRANSPORT": "nio"}]


def add_flags(parser):
    parser.add_argument("--count", type=tally.count, help="in all, in place of the usual number")
    parser.add_argument("--first-seed", type=int, default=0, help="added to every seed")


def test(kind, count, first_seed):
    """Runs the suites; returns their number and the failures."""
    environment = {**os.environ, kind["variable"]: str(count), "FEED_FIRST_SEED": str(first_seed)}
    environment.pop("FEED_SEED", None)
    command = ["scripts/replica.sh", "test", "-count", "1", "-v", "-run", kind["go"]] if "go" in kind else [
        "swift", "test", "-c", "release", *build.scratch(), "--skip-build", "--disable-xctest",
        "--filter", kind["filter"]]
    finished = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    if "go" in kind:  # a suite that this machine cannot run is skipped
        passed = len(re.findall("(?m)^--- PASS: ", finished.stdout))
        if finished.returncode == 0 and passed and "--- SKIP" not in finished.stdout:
            return passed, []
        return 0, [line for line in finished.stdout.splitlines() if "_test.go" in line][:5] or [finished.stdout[-2000:]]
    found = re.search(r"Test run with \d+ tests? in (\d+) suites? passed", finished.stdout)
    if finished.returncode == 0 and found and int(found.group(1)) > 0:
        return int(found.group(1)), []
    # The lines that name the expectation and the seed.
    lines = [line for line in finished.stdout.splitlines() if "recorded an issue" in line]
    return 0, lines[:5] or [finished.stdout[-2000:] or "no test ran"]


def choose(combination, options):
    """Builds the tests with a codec and a transport, which those that follow have too."""
    for name in ("FEED_CODEC", "FEED_TRANSPORT"):
        os.environ.pop(name, None)
    os.environ.update(combination)
    if not options.binaries:
        build.tests()


def run(options, say):
    kind = KINDS[options.what]
    kept = tally.Tally(options.output, options.what)
    wanted = options.count or kind["count"]

    def is_reached():
        return kept.sum("count") >= wanted

    def make():
        if options.what == "combinations":
            choose(COMBINATIONS[kept.sum("count") % 4], options)
        count = min(kind["piece"], wanted - kept.sum("count"))
        first_seed = 1 + options.first_seed + len(kept.pieces) * SEEDS_A_PIECE
        suites, failures = test(kind, count, first_seed)
        say(f"{kept.sum('count') + count:,} of {wanted:,} {kind['name']} in each of {suites} suites, seeds "
            f"from {first_seed}: {failures[0] if failures else 'OK'}")
        return {"count": count, "first_seed": first_seed, "suites": suites, "failures": failures}

    kept.repeat(options.minutes, is_reached, make)
    least = min((piece["suites"] for piece in kept.pieces), default=0)
    return kept, [(f"{kind['name']} in each of {least} suites", kept.sum("count"))], is_reached()
