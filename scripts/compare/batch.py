"""Votes in batches beside single votes: this service, in memory and durable."""

import contextlib
import random
import time

import clients
import disk
import servers
import votes
from report import Table, middle, quietness, spread, verdict

TARGET_COST = {"memory": 0.10, "durable": 0.20}  # CPU-seconds per million votes, in batches
BATCH_VOTES = 256
BATCH_CONNECTIONS = 50

# Durable batches are offered at a rate: as fast as they are answered, more comes than is checkpointed, and
# the service refuses some. Then the cost is no longer the cost of votes.
DURABLE_RATE = 4_000_000
# The changes that wait before a measurement are checkpointed in this time.
CHECKPOINT_SECONDS = 2

STATES = {"memory": "in memory", "durable": "durable, fsync"}
# The requests: the name of the row, and the flags of pump.
LOADS = {
    "single 64": ("single votes, 64 in flight", {"in_flight": 64}),
    "batch 1": (f"batches of {BATCH_VOTES}, 1 at once",
                {"in_flight": 1, "batch": BATCH_VOTES, "connections": BATCH_CONNECTIONS}),
    "batch 4": (f"batches of {BATCH_VOTES}, 4 at once",
                {"in_flight": 4, "batch": BATCH_VOTES, "connections": BATCH_CONNECTIONS}),
}


def flags_of(state, load, options):
    flags = {"connections": options.connections, **LOADS[load][1]}
    if state == "durable" and "batch" in flags:
        flags.update(vote_rate=DURABLE_RATE, burst=flags.pop("in_flight"))
    return flags


def run(tools, options, progress):
    """All rounds; the samples by (state, load)."""
    samples = {(state, load): [] for state in STATES for load in LOADS}
    with disk.directory(options) as directory, contextlib.ExitStack() as stack:
        running = {
            "memory": stack.enter_context(servers.Service(tools)),
            "durable": stack.enter_context(servers.Service(tools, directory)),
        }
        for server in running.values():
            votes.fill(tools, server, options.posts)
        for turn in range(options.rounds):
            cells = list(samples)
            random.Random(turn).shuffle(cells)
            for state, load in cells:
                flags = flags_of(state, load, options)
                if state == "durable":
                    time.sleep(CHECKPOINT_SECONDS)
                sample = clients.pump(
                    tools, running[state], posts=options.posts, warmup=options.warmup,
                    seconds=options.seconds, check_every=1 if "batch" in flags else 64, **flags)
                samples[state, load].append(sample)
                progress(f"batch {turn + 1}/{options.rounds}: {state}, {load}: "
                         f"{sample.cost:.3f} CPU-s/M, {sample.votes_per_second:,.0f}/s")
    return samples


def figures(samples):
    """The measurements, as JSON has them."""
    return [{"state": state, "load": load, "rounds": [one.values for one in taken]}
            for (state, load), taken in samples.items()]


def table(samples, options):
    result = Table(
        f"Votes in batches: {options.posts:,} posts, one service thread",
        ["Service", "Votes", "Votes/s", "of its core", "CPU-s per million votes",
         "least – most", "Target"])
    for (state, load), taken in samples.items():
        costs = [sample.cost for sample in taken]
        target = TARGET_COST[state] if load.startswith("batch") else None
        result.add(
            STATES[state], LOADS[load][0], f"{middle(s.votes_per_second for s in taken):,.0f}",
            f"{middle(s.core_share for s in taken):.0%}", f"{middle(costs):.3f}",
            spread(costs, "{:.3f}"),
            verdict(middle(costs), target, most=True) if target else "")
    every = [sample for taken in samples.values() for sample in taken]
    result.note(
        f"Rounds: {options.rounds}, of {options.seconds:g} s each. Batches are sent over "
        f"{BATCH_CONNECTIONS} connections, single votes over {options.connections}; every answer to "
        f"a batch is decoded. Durable batches are offered at {DURABLE_RATE:,} votes a second, all "
        f"else as fast as it is answered. {quietness(every)}")
    return result
