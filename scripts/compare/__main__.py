"""Compares the service with the floor and with Redis. scripts/compare.sh runs it; see there."""

import argparse
import json
import os
import signal
import sys
import time

import machine
import votes

PARTS = ["floor", "votes", "redis"]


def whole_numbers(text):
    return [int(word) for word in text.split(",")]


def read_options(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/compare.sh", description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS),
                        help="floor, votes and redis are rows of one table; the others are tables")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement")
    parser.add_argument("--warmup", type=float, default=1, help="seconds before each measurement")
    parser.add_argument("--in-flight", type=whole_numbers, default=[1, 16, 64])
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--posts", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="1 round of 1 s: does it work at all?")
    parser.add_argument("--output", metavar="DIR", help="writes compare.md and compare.json there")
    parser.add_argument("--binaries", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--floor", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.parts = options.parts.split(",")
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"--parts: expected some of {','.join(PARTS)}, got {part}.")
    options.rows = {{"votes": "service"}.get(part, part) for part in options.parts}
    if options.quick:
        options.rounds, options.seconds, options.warmup = 1, 1, 0.3
    return options


def stop(*_):
    raise KeyboardInterrupt


def main():
    options = read_options(sys.argv[1:])
    signal.signal(signal.SIGTERM, stop)
    started = time.monotonic()

    def progress(text):
        print(f"[{time.monotonic() - started:5.0f}s] {text}", file=sys.stderr, flush=True)

    samples = votes.run(options, options, progress)
    text = votes.table(samples, options).markdown()
    print(text)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped.")
    except RuntimeError as error:
        sys.exit(str(error))
