"""This service and redis-server under one generator: loadgen measures them in turns.

docs/PERFORMANCE.md says how to read its figures: blocks with fresh servers, in each of them pairs of
slices and a control, and then redis-benchmark beside loadgen.
"""

import json
import random
import subprocess
import tempfile
import time

import clients
import servers
from report import Table, interval, middle

CONTROL_PAIRS = 6    # a block; the fewest that have an interval
CROSS_CLIENTS, CROSS_DEPTH, CROSS_POSTS = 50, 16, 1000
# As long as the key of a run of loadgen: Redis reads, copies and hashes it with each vote.
CROSS_KEY = "posts:00000000"


def loadgen(tools, *flags):
    """A run of loadgen on the clients' cores; its JSON."""
    with tempfile.TemporaryDirectory() as directory:
        written = directory + "/run.json"
        command = [tools.binaries + "/loadgen", "--threads", 1, "--quiet", "--json", written, *flags]
        finished = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True,
            preexec_fn=servers.pinned(client=True), timeout=3600)
        if finished.returncode != 0:
            raise RuntimeError(f"loadgen ended with {finished.returncode}:\n{finished.stdout}"
                               f"{finished.stderr}")
        with open(written) as file:
            return json.load(file)


def block(tools, in_flight, turn, options):
    """Pairs of slices on two fresh servers."""
    with servers.Service(tools) as service, servers.Redis(tools) as redis:
        return loadgen(
            tools, "--target", f"127.0.0.1:{service.port}", "--ab", f"127.0.0.1:{redis.port}",
            "--ab-protocol", "resp", "--clients", options.connections, "--pipeline", in_flight,
            "--posts", options.posts, "--seed", turn + 1, "--rounds", options.side_rounds, "--aa",
            CONTROL_PAIRS, "--slice", f"{options.seconds}s", "--warmup", f"{options.warmup}s")


def cross_check(tools, options, progress):
    """redis-benchmark and loadgen on one redis-server, in pairs: votes a second of each."""
    pairs = []
    with servers.Redis(tools) as redis:
        def benchmark():
            # A set of its own, as a run of loadgen has: the longer one is voted on, the further apart
            # its scores are, and the less often Redis has to move a member.
            redis.call("DEL", CROSS_KEY)
            for member in range(CROSS_POSTS):
                redis.call("ZADD", CROSS_KEY, 0, f"p{member:012}")
            shape = type("Shape", (), {
                "connections": CROSS_CLIENTS, "warmup": options.warmup, "seconds": options.seconds})
            return clients.redis_benchmark(
                redis, CROSS_DEPTH, CROSS_POSTS, shape, key=CROSS_KEY).votes_per_second

        def ours():
            run = loadgen(
                tools, "--protocol", "resp", "--target", f"127.0.0.1:{redis.port}", "--clients",
                CROSS_CLIENTS, "--pipeline", CROSS_DEPTH, "--pipeline-mode", "batch", "--keys",
                "uniform", "--posts", CROSS_POSTS, "--warmup", f"{options.warmup}s", "--duration",
                f"{options.seconds}s")
            return run["per_second"]

        for turn in range(options.side_rounds):
            sides = [("loadgen", ours), ("redis-benchmark", benchmark)]
            random.Random(turn).shuffle(sides)
            pairs.append({name: measure() for name, measure in sides})
            progress(f"sides: {pairs[-1]}")
    return pairs


def run(tools, options, progress):
    results = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "blocks": {}}
    for turn in range(options.blocks):
        for in_flight in options.in_flight:
            measured = block(tools, in_flight, turn, options)
            results["blocks"].setdefault(in_flight, []).append(measured)
            figures = measured["ab"]["server_cpu"]
            progress(f"sides, block {turn + 1}/{options.blocks} at {in_flight}: server CPU "
                     f"{figures['a']:.3f} and {figures['b']:.3f} CPU-s/M, Redis ÷ ours "
                     f"{figures['ratio']:.2f}, {measured['ab']['repeated']} pairs repeated")
    results["cross"] = cross_check(tools, options, progress)
    return results


def figures(results):
    return results


def slices(blocks, side, key):
    """A figure of every slice that was compared."""
    return [pair[side][key] for one in blocks for pair in one["ab"]["pairs"]
            if not pair["control"]]


def ratios(blocks, key, control=False):
    """B ÷ A of every pair of all blocks, which are of Redis ÷ ours."""
    return [pair["b"][key] / pair["a"][key] for one in blocks for pair in one["ab"]["pairs"]
            if pair["control"] == control]


CPU, RATE, GENERATOR = "server_seconds_per_million", "per_second", "generator_seconds_per_million"


def table(results, options):
    result = Table(
        f"loadgen on both sides: {options.connections} connections, {options.posts:,} posts, "
        "zipf 0.99 keys, one server thread",
        ["In flight", "Server", "Votes/s", "CPU-s per million votes", "Redis ÷ ours, 95%",
         "A ÷ A, 95%", "Votes/s, Redis ÷ ours", "CPU-s of loadgen", "Bytes a vote"])
    for in_flight, blocks in results["blocks"].items():
        for side, name in (("a", "this service"), ("b", "redis-server")):
            is_redis = side == "b"
            result.add(
                in_flight, name, f"{middle(slices(blocks, side, RATE)):,.0f}",
                f"{middle(slices(blocks, side, CPU)):.3f}",
                interval(ratios(blocks, CPU)) if is_redis else "",
                interval(ratios(blocks, CPU, control=True)) if is_redis else "",
                interval(ratios(blocks, RATE)) if is_redis else "",
                f"{middle(slices(blocks, side, GENERATOR)):.3f}",
                f"{middle(slices(blocks, side, 'bytes_per_operation')):.0f}")
    every = [one for blocks in results["blocks"].values() for one in blocks]
    repeated = sum(one["ab"]["repeated"] for one in every)
    kept = sum(one["ab"]["kept_tainted"] for one in every)
    result.note(
        f"{options.blocks} blocks with fresh servers, in each {options.side_rounds} pairs of slices "
        f"of {options.seconds:g} s and {CONTROL_PAIRS} pairs of the service with itself; medians, and "
        "Hodges–Lehmann ratios of all pairs with their intervals. The audits of both servers: "
        f"{'PASS' if all(passed(one) for one in every) else '**FAIL**'}. {repeated} pairs were "
        f"repeated because others used the machine, {kept} kept although they did.")
    result.note(cross_text(results["cross"]))
    return result


def passed(one):
    return all(audit["passed"] for audit in one["audits"].values())


def cross_text(pairs):
    ours = middle(pair["loadgen"] for pair in pairs)
    theirs = middle(pair["redis-benchmark"] for pair in pairs)
    ratio = interval([pair["loadgen"] / pair["redis-benchmark"] for pair in pairs])
    return (f"redis-benchmark -c {CROSS_CLIENTS} -P {CROSS_DEPTH} gets {theirs:,.0f} votes/s from "
            f"redis-server, loadgen in the same shape (uniform keys, batches) {ours:,.0f}: ratio "
            f"{ratio}, {len(pairs)} pairs.")


def readme(results, options, about):
    """The table of the README, with the lines above and below it."""
    lines = ["`loadgen` measures the service and redis-server in turns, in memory, each on one thread on one",
             "core, and audits both. Redis counts the votes with `ZINCRBY`. The last column is how many",
             "times the processor time of a vote Redis takes.", "",
             "| In flight | Votes/s | Votes/s of Redis | CPU-s a million votes | of Redis | "
             "Redis ÷ ours, 95% interval |",
             "| ---: | ---: | ---: | ---: | ---: | ---: |"]
    for in_flight, blocks in results["blocks"].items():
        lines.append(
            f"| {in_flight} | {middle(slices(blocks, 'a', RATE)):,.0f} "
            f"| {middle(slices(blocks, 'b', RATE)):,.0f} "
            f"| {middle(slices(blocks, 'a', CPU)):.3f} | {middle(slices(blocks, 'b', CPU)):.3f} "
            f"| {interval(ratios(blocks, CPU))} |")
    lines += ["", f"{results['date']}, {about['processor']}, {about['cores']} cores, Linux "
              f"{about['kernel']}, redis-server {about['redis']}: {options.connections} connections, "
              f"{options.posts:,} posts, {options.blocks} blocks of {options.side_rounds} pairs of "
              f"{options.seconds:g} s."]
    return "\n".join(lines) + "\n"
