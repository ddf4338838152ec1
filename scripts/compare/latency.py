"""How long a vote takes that is synced before it is answered, at half of what the service can do,
beside what it takes at the same rate in memory, on the same machine in the same minutes."""

import contextlib

import clients
import disk
import servers
import votes
from report import Table, middle, quietness, spread, verdict

IN_FLIGHT = 64   # of the capacity, and votes in a burst
SHARE = 0.5      # of the capacity
STEP = 1000      # votes a second, which the rate is a multiple of
BASE_MILLISECONDS = 2
SYNCS = 5        # how many of the disk's own p99 are allowed beside
APPENDS = 500


def rate_of(capacity):
    return max(STEP, int(capacity * SHARE / STEP) * STEP)


def limit(sync_p99):
    """The milliseconds that the p99 of a vote may take."""
    return BASE_MILLISECONDS + SYNCS * sync_p99


def run(tools, options, progress):
    """Each round: the capacity, then votes at half of it, with the disk probed before and after."""
    rounds, every = [], []
    seconds = max(options.seconds, options.durable_seconds / 3)
    with disk.directory(options) as directory, contextlib.ExitStack() as stack:
        service = stack.enter_context(servers.Service(tools, directory))
        memory = stack.enter_context(servers.Service(tools))
        for server in (service, memory):
            votes.fill(tools, server, options.posts)
        common = {"connections": options.connections, "posts": options.posts,
                  "warmup": options.warmup}
        for turn in range(options.growth_rounds):
            full = clients.pump(
                tools, service, in_flight=IN_FLIGHT, seconds=options.seconds, **common)
            rate = rate_of(full.votes_per_second)
            syncs = disk.syncs(options, APPENDS)
            half, floor = (
                clients.pump(
                    tools, server, vote_rate=rate, burst=IN_FLIGHT, seconds=seconds, **common)
                for server in (service, memory))
            syncs += disk.syncs(options, APPENDS)
            every += [full, half, floor]
            rounds.append({
                "capacity": full.votes_per_second, "rate": rate, "disk": disk.summary(syncs),
                "memory_p99_ms": floor.values["p99_ms"],
                "skipped": half.values["skipped"] + floor.values["skipped"],
                **{name: half.values[name] for name in
                   ("latencies", "p50_ms", "p99_ms", "p999_ms", "votes", "seconds")}})
            progress(f"latency {turn + 1}/{options.growth_rounds}: {rate:,}/s: p50 "
                     f"{half.values['p50_ms']:.2f} ms, p99 {half.values['p99_ms']:.2f} ms, in "
                     f"memory {floor.values['p99_ms']:.2f} ms, the disk's own p99 "
                     f"{rounds[-1]['disk']['p99_ms']:.2f} ms")
    return {"rounds": rounds, "about": disk.describe(options), "quiet": quietness(every)}


def table(results, options):
    rounds = results["rounds"]
    result = Table(
        f"How long a durable vote takes, at half of the votes a second that {IN_FLIGHT} in flight "
        f"reach: {options.connections} connections, {options.posts:,} posts, one server thread",
        ["Votes/s", "p50", "p99", "least – most", "p99.9", "p99 in memory", "fdatasync p50",
         "fdatasync p99", "Target of p99"])
    allowed = middle(limit(one["disk"]["p99_ms"]) for one in rounds)
    # Each round against the disk as it was in that round.
    over = middle(one["p99_ms"] / limit(one["disk"]["p99_ms"]) for one in rounds)
    result.add(
        f"{middle(one['rate'] for one in rounds):,.0f}",
        *(f"{middle(one[name] for one in rounds):.2f} ms" for name in ("p50_ms", "p99_ms")),
        spread([one["p99_ms"] for one in rounds], "{:.2f}"),
        *(f"{middle(one[name] for one in rounds):.2f} ms" for name in ("p999_ms", "memory_p99_ms")),
        *(f"{middle(one['disk'][name] for one in rounds):.2f} ms" for name in ("p50_ms", "p99_ms")),
        verdict(over * allowed, allowed, most=True, form="{:.1f} ms"))
    result.note(
        f"Connections send one after another, {IN_FLIGHT} votes each, as many a millisecond as the rate "
        "needs, answered or not; a latency runs from the millisecond in which the vote was due. "
        f"The target is {BASE_MILLISECONDS} ms and {SYNCS} times the p99 of the disk's own "
        f"fdatasync ({results['about']['file_system']}), taken before and after. In memory: the same "
        "votes right after, of a service without a journal: what the machine itself takes. "
        f"{results['quiet']}")
    if any(one["skipped"] for one in rounds):
        skipped = sum(one["skipped"] for one in rounds)
        result.note(f"**{skipped:,} votes found no room and were not sent: the latencies are too "
                    "good.**")
    return result
