"""Votes in batches beside single votes: this service, in memory and durable."""

import contextlib
import time

import clients
import disk
import servers
from report import CORE, COST, COSTS, RATE, Part, figure, measured, middle, quietness, rounds, verdict

TARGET_COST = {"memory": 0.10, "durable": 0.20}  # CPU-seconds per million votes, in batches
BATCH_VOTES = 256
BATCH_CONNECTIONS = 50

# Durable batches are offered at a rate: as fast as they are answered, more comes than is checkpointed, and
# the service refuses some. Then the cost is no longer the cost of votes.
DURABLE_RATE = 4_000_000
# The changes that wait before a measurement are checkpointed in this time.
CHECKPOINT_SECONDS = 2

STATES = {"memory": "in memory", "durable": "durable, fsync"}
# The requests: the name of the row, and how many are in flight.
LOADS = {"single 64": ("single votes, 64 in flight", 64),
         "batch 1": (f"batches of {BATCH_VOTES}, 1 at once", 1),
         "batch 4": (f"batches of {BATCH_VOTES}, 4 at once", 4)}


def flags_of(state, load):
    in_flight = LOADS[load][1]
    if load.startswith("single"):
        return {"in_flight": in_flight, "check_every": 64}
    pace = {"vote_rate": DURABLE_RATE, "burst": in_flight} if state == "durable" else {"in_flight": in_flight}
    return {"batch": BATCH_VOTES, "connections": BATCH_CONNECTIONS, "check_every": 1, **pace}


def run(options, progress):
    """The samples by (state, load)."""
    with disk.directory(options) as directory, contextlib.ExitStack() as stack:
        running = {"memory": stack.enter_context(servers.Service(options)),
                   "durable": stack.enter_context(servers.Service(options, directory))}
        for server in running.values():
            clients.fill(server, options.posts)

        def measure(cell, _):
            state, load = cell
            if state == "durable":
                time.sleep(CHECKPOINT_SECONDS)
            return clients.pump(options, running[state], **flags_of(state, load))

        return measured("batch", options.rounds, [(state, load) for state in STATES for load in LOADS], measure,
                        progress)


def target(row):
    limit = TARGET_COST[row.key[0]] if row.key[1].startswith("batch") else None
    return verdict(middle(figure(one, "cost") for one in row.taken), limit, most=True)


def notes(results, options):
    every = [sample for taken in results.values() for sample in taken]
    return [f"{rounds(options.rounds, options)}Batches are sent over {BATCH_CONNECTIONS} connections, single votes "
            f"over {options.connections}. Durable batches are offered at {DURABLE_RATE:,} votes a second, all "
            f"else as fast as it is answered. {quietness(every)}"]


PART = Part(
    "batch", run, lambda _, options: f"Votes in batches: {options.posts:,} posts, one service thread",
    [("Service", lambda row: STATES[row.key[0]]), ("Votes", lambda row: LOADS[row.key[1]][0]), RATE, CORE, COST,
     COSTS, ("Target", target)], notes, keys=["state", "load"])
