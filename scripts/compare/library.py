"""Calls of tasks through the client library, in several ways."""

import resource
import subprocess

import build
import clients
import servers
from report import Part, column, measured, quietness, span

TASKS = 500
CONNECTIONS = 4
WARMUP = 0.5  # seconds that the benchmark votes before it counts

# Further arguments of ClientBenchmark.
SIDES = {
    "FeedClient": [],
    "FeedClient over SwiftNIO": [],
    "FeedClient, with sequences": ["numbered"],
    "FeedClient, tasks on its thread": ["one"],
    "two FeedClients, tasks on their threads": ["two"],
}


def row(text):
    """Votes a second, and the client's CPU-seconds per million: the end of the last line."""
    try:
        rate, cost = text.split("\n")[-1].split()[-2:]
        return float(rate), float(cost)
    except ValueError:
        raise RuntimeError(f"The benchmark printed no row:\n{text}") from None


def measure(command, server, seconds):
    """One run of the benchmark against a server, on the same cores."""
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
    seconds = max(1, round(options.seconds))
    folders = {False: build.products("ClientBenchmark"), True: build.products("ClientBenchmark", FEED_TRANSPORT="nio")}

    def one(side, _):
        benchmark = folders["SwiftNIO" in side] + "/ClientBenchmark"
        with servers.Service(options, is_pinned=False) as server:
            command = [benchmark, f"127.0.0.1:{server.port}", TASKS, CONNECTIONS, seconds, *SIDES[side]]
            return measure(list(map(str, command)), server, seconds)

    return measured("library", options.rounds, SIDES, one, progress)


PART = Part(
    "library", run,
    lambda *_: f"The client library: {TASKS} tasks vote on {CONNECTIONS} connections, client and server on the "
               "same cores",
    [("Client", lambda row: row.key), column("Votes/s", "per_second", "{:,.0f}"), span("per_second", "{:,.0f}"),
     column("Client's CPU-s per million", "client_cost", "{:.3f}"), column("Server's", "server_cost", "{:.3f}")],
    lambda results, _: [
        quietness([one["sample"] for taken in results.values() for one in taken])])
