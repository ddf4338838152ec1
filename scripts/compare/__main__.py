"""Compares the service with the floor and with Redis. scripts/compare.sh runs it; see there."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import traceback

import ballots
import batch
import build
import durable
import flags
import generator
import latency
import library
import machine
import pages
import report
import restart
import servers
import sides
import votes

VOTE_PARTS = ["floor", "votes", "redis"]  # rows of one table
TABLES = {part.name: part for part in (
    sides.PART, batch.PART, pages.PART, generator.PART, restart.IMPORT, durable.PART,
    ballots.PART, latency.PART, restart.RESTART, library.PART)}
PARTS = VOTE_PARTS + list(TABLES)
# What says its cause in a sentence; the place in the scripts is said of all else.
EXPECTED = (RuntimeError, OSError, subprocess.SubprocessError)


def counts(text):
    return [flags.count(word) for word in text.split(",")]


FLAGS = [  # with their types, defaults and meanings
    ("--parts", str, ",".join(PARTS), "floor, votes and redis are rows of one table, the others are tables"),
    ("--rounds", flags.count, 5, "of votes, batches and the client library"),
    ("--growth-rounds", flags.count, 3, "of the other tables"),
    ("--seconds", flags.amount, 3, "of each measurement"),
    ("--warmup", float, 1, "seconds before each measurement"),
    ("--blocks", flags.count, 3, "of sides, with fresh servers"),
    ("--side-rounds", int, 8, "pairs of slices in a block of sides, 6 or more"),
    ("--durable-rounds", flags.count, 1, "of durable votes"),
    ("--durable-seconds", flags.amount, 60, "of each run of durable votes"),
    ("--disk", str, ".build", "a directory where durable servers have their files: on a real disk"),
    ("--in-flight", counts, [1, 16, 64], "requests of a connection"),
    ("--connections", flags.count, 500, "that vote"),
    ("--posts", flags.count, 100_000, "that are voted on"),
]


def read_options():
    parser = argparse.ArgumentParser(
        prog="scripts/compare.sh", formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Measures the service beside its peers: see the top of the script.")
    for name, kind, default, text in FLAGS:
        parser.add_argument(name, type=kind, default=default, help=text)
    parser.add_argument("--quick", action="store_true",
                        help="one round of a second, fewer posts: whether all of it works")
    parser.add_argument("--output", metavar="DIR", help="write compare.md and compare.json there")
    parser.add_argument("--update-readme", action="store_true",
                        help="put the tables into docs/measurements/compare.md, without --parts, and "
                             "that of sides into README.md")
    parser.add_argument("--binaries", metavar="DIR",
                        help="has feed-service and loadgen, which are not built then")
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"--parts: expected some of {','.join(PARTS)}, got {part}.")
    options.rows = ["service" if part == "votes" else part for part in options.parts]
    if options.quick:
        options.rounds = options.growth_rounds = options.durable_rounds = 1
        options.seconds, options.warmup, options.posts = 1, 0.3, 20_000
        options.durable_seconds = 1
        options.blocks, options.side_rounds = 1, 6
    if options.side_rounds < 6:
        parser.error("--side-rounds: expected 6 or more.")
    if options.warmup < 0:
        parser.error("--warmup: expected 0 or more.")
    return options


def heading(options):
    about = machine.describe()
    text = (f"{about['processor']}, {about['cores']} cores, Linux {about['kernel']}. "
            "Servers on the first core, clients on the others, over loopback.")
    if {"redis", "sides", "pages", "durable", "ballots"} & set(options.parts):
        with servers.Redis(options) as redis:
            about["redis"] = redis.version()
        text += f" redis-server {about['redis']}, without persistence unless said."
    return about, text + "\n"


def measure(options, progress):
    """The part, its table and the figures behind it, one after another; of a part that failed the part alone."""
    chosen = [part for name, part in TABLES.items() if name in options.parts]
    if set(options.parts) & set(VOTE_PARTS):
        chosen.insert(0, votes.VOTES)
    for part in chosen:
        try:
            results = part.run(options, progress)
            yield part.name, part.table(results, options), part.figures(results)
        except Exception as error:
            cause = str(error) if isinstance(error, EXPECTED) else traceback.format_exc()
            print(f"compare: {part.name}: {cause}", file=sys.stderr, flush=True)
            yield part.name, None, None


def stop(*_):
    """Ends the processes that run, once: a second signal does not disturb the cleanup."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    options = read_options()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    options.floor = ".build/floor"
    subprocess.run(["Benchmarks/Floor/build.sh", options.floor], check=True)
    options.binaries = options.binaries or build.products("feed-service", "loadgen")
    started = time.monotonic()

    def progress(text):
        print(f"[{time.monotonic() - started:5.0f} s] {text}", file=sys.stderr, flush=True)

    about, markdown = heading(options)
    print(markdown, end="", flush=True)
    tables, measured, failed = [], {}, []
    for name, table, figures in measure(options, progress):
        if table is None:
            failed.append(name)
            continue
        tables.append(table)
        measured[name] = figures
        text = "\n" + table.markdown()
        markdown += text
        print(text, end="", flush=True)  # what is measured stays, whatever the next part does
    if options.output:
        os.makedirs(options.output, exist_ok=True)
        with open(os.path.join(options.output, "compare.md"), "w") as file:
            file.write(markdown)
        with open(os.path.join(options.output, "compare.json"), "w") as file:
            json.dump({"machine": about, "seconds": options.seconds, "rounds": options.rounds,
                       "durable_seconds": options.durable_seconds,
                       "tables": [table.json() for table in tables], "measured": measured,
                       "failed": failed}, file, indent=1, default=lambda one: one.values)
    if failed:
        sys.exit(f"compare: not measured: {', '.join(failed)}.")
    if options.update_readme:
        if "sides" in measured:
            table = sides.readme(measured["sides"], options, about)
            report.update(table, "README.md", report.README_BEGIN)
        if set(options.parts) == set(PARTS):
            report.update(markdown)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("compare: stopped.")
    except subprocess.CalledProcessError as error:  # of a build, which has said why
        sys.exit(error.returncode)
    except EXPECTED as error:
        sys.exit(f"compare: {error}")
