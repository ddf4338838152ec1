"""Calls of tasks through the client library, beside the same calls through grpc-swift 2."""

import os
import random
import resource
import subprocess
import time

import clients
import machine
import servers
from report import Table, middle, quietness, spread, verdict

TASKS = 500
CONNECTIONS = 4
WARMUP = 0.5           # seconds that both benchmarks vote before they count
TARGET_OVER_GRPC = 20  # times the votes a second

GRPC_PACKAGE = os.path.join("Benchmarks", "GRPCBenchmark")

# Further arguments of ClientBenchmark; nothing is grpc-swift.
SIDES = {
    "FeedClient": [],
    "FeedClient, with sequences": ["numbered"],
    "FeedClient, tasks on its thread": ["one"],
    "two FeedClients, tasks on their threads": ["two"],
    "grpc-swift 2": None,
}


class GRPC(servers.Server):
    """A server on grpc-swift 2 whose votes change an array."""

    def __init__(self, program):
        super().__init__(
            [program, "serve"], r"listening on 127\.0\.0\.1:(\d+)", is_pinned=False)


def build():
    """The two benchmarks in release, of which the first is the path of FeedClient's; the first build of
    gRPC takes some minutes."""
    paths = []
    for product, place in (("ClientBenchmark", "."), ("GRPCBenchmark", GRPC_PACKAGE)):
        command = ["swift", "build", "-c", "release", "--package-path", place]
        for words in (command + ["--product", product], command + ["--show-bin-path"]):
            finished = subprocess.run(words, stdout=subprocess.PIPE, text=True)
            if finished.returncode != 0:
                raise RuntimeError(f"{' '.join(words)} failed:\n{finished.stdout}")
        paths.append(os.path.join(finished.stdout.strip(), product))
    return paths


def row(text):
    """Votes a second, and the client's CPU-seconds per million: the end of the last line."""
    try:
        rate, cost = text.split("\n")[-1].split()[-2:]
        return float(rate), float(cost)
    except ValueError:
        raise RuntimeError(f"A benchmark printed no row:\n{text}") from None


def measure(command, server, seconds):
    """One run of a benchmark against a server, on the same cores."""
    server_before = machine.cpu_seconds(server.pid)
    busy, steal = machine.machine_seconds()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    finished = subprocess.run(command, capture_output=True, text=True, timeout=600)
    passed = time.monotonic() - started
    if finished.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{finished.stderr}{finished.stdout}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy_after, steal_after = machine.machine_seconds()
    rate, cost = row(finished.stdout.strip())
    sample = clients.Sample({
        "seconds": passed, "votes": rate * (seconds + WARMUP),
        "server_seconds": machine.cpu_seconds(server.pid) - server_before,
        "client_seconds": after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime,
        "busy_seconds": busy_after - busy, "steal_seconds": steal_after - steal})
    return {"per_second": rate, "client_cost": cost, "server_cost": sample.cost, "sample": sample}


def run(tools, options, progress):
    """The figures of each round, by side; each side has a server of its own in each round."""
    feed, grpc = build()
    seconds = max(1, round(options.seconds))
    load = [str(TASKS), str(CONNECTIONS), str(seconds)]
    results = {side: [] for side in SIDES}
    for turn in range(options.rounds):
        sides = list(SIDES)
        random.Random(turn).shuffle(sides)
        for side in sides:
            if SIDES[side] is None:
                with GRPC(grpc) as server:
                    taken = measure([grpc, str(server.port), *load], server, seconds)
            else:
                with servers.Service(tools, is_pinned=False) as server:
                    command = [feed, f"127.0.0.1:{server.port}", *load, *SIDES[side]]
                    taken = measure(command, server, seconds)
            results[side].append(taken)
            progress(f"library {turn + 1}/{options.rounds}: {side}: {taken['per_second']:,.0f}/s, "
                     f"{taken['client_cost']:.3f} CPU-s/M")
    return results


def figures(results):
    """The measurements, as JSON has them."""
    return {side: [{**one, "sample": one["sample"].values} for one in taken]
            for side, taken in results.items()}


def table(results, options):
    result = Table(
        f"The client library: {TASKS} tasks vote on {CONNECTIONS} connections, client and server on the "
        "same cores",
        ["Client", "Votes/s", "least – most", "Client's CPU-s per million", "Server's", "× gRPC",
         "Target"])
    grpc = results["grpc-swift 2"]
    for side, taken in results.items():
        rates = [one["per_second"] for one in taken]
        ratio = middle(a["per_second"] / b["per_second"] for a, b in zip(taken, grpc))
        target = verdict(ratio, TARGET_OVER_GRPC, most=False, form="{:g} × gRPC") \
            if SIDES[side] is not None else ""
        result.add(
            side, f"{middle(rates):,.0f}", spread(rates, "{:,.0f}"),
            f"{middle(one['client_cost'] for one in taken):.3f}",
            f"{middle(one['server_cost'] for one in taken):.3f}", f"{ratio:.1f}", target)
    result.note(
        "grpc-swift 2 makes unary calls with the same request to a server that counts in an array; its "
        "messages are encoded by hand, which is less work than generated code. "
        + quietness([one["sample"] for taken in results.values() for one in taken]))
    return result
