"""Calls of tasks through the client library, beside the same calls through grpc-swift 2."""

import os
import resource
import subprocess

import clients
import servers
from report import Part, column, measured, middle, quietness, ratios, shown, span, verdict

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
    def reading():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {**clients.clocks(server), "client_seconds": used.ru_utime + used.ru_stime}

    before = reading()
    finished = subprocess.run(command, capture_output=True, text=True, timeout=600)
    after = reading()
    if finished.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{finished.stderr}{finished.stdout}")
    rate, cost = row(finished.stdout.strip())
    sample = clients.Sample(clients.between(before, after) | {"votes": rate * (seconds + WARMUP)})
    return {"per_second": rate, "client_cost": cost, "server_cost": sample.cost, "sample": sample}


def run(options, progress):
    """The figures of each round, by side; each side has a server of its own in each round."""
    feed, grpc = build()
    seconds = max(1, round(options.seconds))
    load = [str(TASKS), str(CONNECTIONS), str(seconds)]

    def one(side, _):
        if SIDES[side] is None:
            # Its votes change an array.
            with servers.Compared([grpc, "serve"], is_pinned=False) as server:
                return measure([grpc, str(server.port), *load], server, seconds)
        with servers.Service(options, is_pinned=False) as server:
            return measure([feed, f"127.0.0.1:{server.port}", *load, *SIDES[side]], server, seconds)

    return measured("library", options.rounds, SIDES, one, progress)


def over_grpc(row):
    return middle(ratios(row.taken, row.results["grpc-swift 2"], "per_second"))


def target(row):
    limit = None if SIDES[row.key] is None else TARGET_OVER_GRPC
    return verdict(over_grpc(row), limit, most=False, form="{:g} × gRPC")


PART = Part(
    "library", run,
    lambda *_: f"The client library: {TASKS} tasks vote on {CONNECTIONS} connections, client and server on the "
               "same cores",
    [("Client", lambda row: row.key), column("Votes/s", "per_second", "{:,.0f}"), span("per_second", "{:,.0f}"),
     column("Client's CPU-s per million", "client_cost", "{:.3f}"), column("Server's", "server_cost", "{:.3f}"),
     ("× gRPC", lambda row: shown(over_grpc(row), "{:.1f}")), ("Target", target)],
    lambda results, _: [
        quietness([one["sample"] for taken in results.values() for one in taken])])
