"""This service and redis-server under one generator: loadgen measures them in turns.

docs/PERFORMANCE.md says how to read its figures: blocks with fresh servers, in each of them pairs of
slices and a control, and then redis-benchmark beside loadgen.
"""

import time

import clients
import servers
from report import Part, Row, interval, measured, middle, ratio, shown

CONTROL_PAIRS = 6    # a block; the fewest that have an interval
CROSS_CLIENTS, CROSS_DEPTH, CROSS_POSTS = 50, 16, 1000
# As long as the key of a run of loadgen: Redis reads, copies and hashes it with each vote.
CROSS_KEY = "posts:00000000"
LONGEST_SECONDS = 3600
NAMES = {"a": "this service", "b": "redis-server"}


def block(options, in_flight, turn):
    """Pairs of slices on two fresh servers."""
    with servers.Service(options) as service, servers.Redis(options) as redis:
        return clients.run_loadgen(
            options, service, "--ab", f"127.0.0.1:{redis.port}",
            "--ab-protocol", "resp", "--clients", options.connections, "--pipeline", in_flight,
            "--posts", options.posts, "--seed", turn + 1, "--rounds", options.side_rounds, "--aa",
            CONTROL_PAIRS, "--slice", f"{options.seconds}s", seconds=LONGEST_SECONDS)


def cross_check(options, progress):
    """redis-benchmark and loadgen on one redis-server, in pairs: votes a second of each."""
    with servers.Redis(options) as redis:
        def benchmark():
            # A set of its own, as a run of loadgen has: the longer one is voted on, the further apart
            # its scores are, and the less often Redis has to move a member.
            redis.call("DEL", CROSS_KEY)
            for member in range(CROSS_POSTS):
                redis.call("ZADD", CROSS_KEY, 0, f"p{member:012}")
            return clients.redis_benchmark(options, redis, CROSS_DEPTH, posts=CROSS_POSTS, connections=CROSS_CLIENTS,
                                           key=CROSS_KEY).votes_per_second

        def ours():
            return clients.run_loadgen(
                options, redis, "--protocol", "resp", "--clients",
                CROSS_CLIENTS, "--pipeline", CROSS_DEPTH, "--pipeline-mode", "batch", "--keys",
                "uniform", "--posts", CROSS_POSTS, "--duration", f"{options.seconds}s")["per_second"]

        sides = {"loadgen": ours, "redis-benchmark": benchmark}
        found = measured("sides", options.side_rounds, sides, lambda side, _: sides[side](), progress)
    return [dict(zip(found, pair)) for pair in zip(*found.values())]


def run(options, progress):
    results = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "blocks": {}}
    for turn in range(options.blocks):
        for in_flight in options.in_flight:
            one = block(options, in_flight, turn)
            results["blocks"].setdefault(in_flight, []).append(one)
            a, b = (shown(middle(slices([one], side, CPU)), "{:.3f}") for side in NAMES)
            progress(f"sides, block {turn + 1}/{options.blocks} at {in_flight}: server CPU "
                     f"{a} and {b} CPU-s/M, Redis ÷ ours {interval(ratios([one], CPU))}, "
                     f"{one['ab']['repeated']} pairs repeated")
    results["cross"] = cross_check(options, progress)
    return results


def pairs(blocks, control=False):
    return [pair for one in blocks for pair in one["ab"]["pairs"] if pair["control"] == control]


def slices(blocks, side, key):
    """A figure of every slice that was compared; None where loadgen has not measured it."""
    return [pair[side].get(key) for pair in pairs(blocks)]


def ratios(blocks, key, control=False):
    """B ÷ A of every pair of all blocks, which are of Redis ÷ ours."""
    return [ratio(pair["b"].get(key), pair["a"].get(key)) for pair in pairs(blocks, control)]


CPU, RATE, GENERATOR = "server_seconds_per_million", "per_second", "generator_seconds_per_million"


def rows(results, options):
    return [Row((in_flight, side), blocks, results, options) for in_flight, blocks in results["blocks"].items()
            for side in NAMES]


def of_slices(heading, key, form):
    return heading, lambda row: shown(middle(slices(row.taken, row.key[1], key)), form)


def of_pairs(heading, key, control=False):
    return heading, lambda row: interval(ratios(row.taken, key, control)) if row.key[1] == "b" else ""


def notes(results, options):
    every = [one for blocks in results["blocks"].values() for one in blocks]
    repeated = sum(one["ab"]["repeated"] for one in every)
    kept = sum(one["ab"]["kept_tainted"] for one in every)
    has_passed = all(audit["passed"] for one in every for audit in one["audits"].values())
    cross = results["cross"]
    ours, theirs = (middle(pair[side] for pair in cross) for side in ("loadgen", "redis-benchmark"))
    return [
        f"{options.blocks} blocks with fresh servers, in each {options.side_rounds} pairs of slices "
        f"of {options.seconds:g} s and {CONTROL_PAIRS} pairs of the service with itself; medians, and "
        "Hodges–Lehmann ratios of all pairs with their intervals. The audits of both servers: "
        f"{'PASS' if has_passed else '**FAIL**'}. {repeated} pairs were "
        f"repeated because others used the machine, {kept} kept although they did.",
        f"redis-benchmark -c {CROSS_CLIENTS} -P {CROSS_DEPTH} gets {shown(theirs, '{:,.0f}')} votes/s from "
        f"redis-server, loadgen in the same shape (uniform keys, batches) {shown(ours, '{:,.0f}')}: ratio "
        f"{interval([ratio(pair['loadgen'], pair['redis-benchmark']) for pair in cross])}, {len(cross)} pairs."]


PART = Part(
    "sides", run,
    lambda _, options: f"loadgen on both sides: {options.connections} connections, {options.posts:,} posts, "
                       "zipf 0.99 keys, one server thread",
    [("In flight", lambda row: row.key[0]), ("Server", lambda row: NAMES[row.key[1]]),
     of_slices("Votes/s", RATE, "{:,.0f}"), of_slices("CPU-s per million votes", CPU, "{:.3f}"),
     of_pairs("Redis ÷ ours, 95%", CPU), of_pairs("A ÷ A, 95%", CPU, control=True),
     of_pairs("Votes/s, Redis ÷ ours", RATE), of_slices("CPU-s of loadgen", GENERATOR, "{:.3f}"),
     of_slices("Bytes a vote", "bytes_per_operation", "{:.0f}")],
    notes, rows)


def readme(results, options, about):
    """The table of the README, with the lines above and below it."""
    lines = ["`loadgen` measures the service and redis-server in turns, in memory, each on one thread on one",
             "core, and audits both. Redis counts the votes with `ZINCRBY`. The last column is how many",
             "times the processor time of a vote Redis takes.", "",
             "| In flight | Votes/s | Votes/s of Redis | CPU-s a million votes | of Redis | "
             "Redis ÷ ours, 95% interval |",
             "| ---: | ---: | ---: | ---: | ---: | ---: |"]
    for in_flight, blocks in results["blocks"].items():
        cells = [in_flight, *(shown(middle(slices(blocks, side, key)), form) for key, form in
                              ((RATE, "{:,.0f}"), (CPU, "{:.3f}")) for side in NAMES), interval(ratios(blocks, CPU))]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", f"{results['date']}, {about['processor']}, {about['cores']} cores, Linux "
              f"{about['kernel']}, redis-server {about['redis']}: {options.connections} connections, "
              f"{options.posts:,} posts, {options.blocks} blocks of {options.side_rounds} pairs of "
              f"{options.seconds:g} s."]
    return "\n".join(lines) + "\n"
