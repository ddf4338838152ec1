"""The votes: floor, service and Redis, interleaved, at several requests in flight."""

import contextlib
import random

import clients
import servers
from report import Table, middle, quietness, spread, verdict

TARGET_OVER_FLOOR = {1: 1.15, 16: 2.4, 64: 3.5}
TARGET_REDIS = {1: 1.6, 16: 3.2, 64: 6.0}
ZIPF = 0.99
FIRST_PAGES_PER_SECOND = 1000

# The rows of the table; keys are uniform unless the name says otherwise.
ROWS = {
    "floor": "floor: a C echo of the same frames",
    "service": "this service",
    "service zipf": f"this service, zipf {ZIPF} keys",
    "redis": "redis-server, ZINCRBY",
    "redis zipf": f"redis-server, zipf {ZIPF} keys",
}


def fill(tools, service, posts):
    """Creates the posts, and has every order read once so that it is kept."""
    created = clients.pump(tools, service, create=posts)
    if created.values["last_post_id"] != posts:
        raise RuntimeError("the service was not empty: posts are not numbered from 1")
    clients.pump(tools, service, read_orders=3)
    return created


def fill_redis(redis, posts):
    """As many members of the same length as redis-benchmark makes."""
    for first in range(0, posts, 5000):
        members = range(first, min(first + 5000, posts))
        redis.call("ZADD", "posts", *(word for m in members for word in (0, f"p{m:012}")))


def measure(tools, running, row, in_flight, options):
    server = running[row]
    if row == "redis":
        return clients.redis_benchmark(server, in_flight, options.posts, options)
    return clients.pump(
        tools, server, connections=options.connections, in_flight=in_flight, posts=options.posts,
        zipf=ZIPF if row.endswith("zipf") else 0, warmup=options.warmup, seconds=options.seconds,
        first_page_rate=FIRST_PAGES_PER_SECOND if row.startswith("service") else 0)


def run(tools, options, progress):
    """All rounds; the samples by (row, in flight)."""
    rows = [row for row in ROWS if row.split()[0] in options.rows]
    kinds = {"floor": servers.Floor, "service": servers.Service, "redis": servers.Redis}
    samples = {(row, in_flight): [] for in_flight in options.in_flight for row in rows}
    with contextlib.ExitStack() as stack:
        running = {}
        for row in rows:
            running[row] = stack.enter_context(kinds[row.split()[0]](tools))
            if row.startswith("service"):
                fill(tools, running[row], options.posts)
            elif row.startswith("redis"):
                fill_redis(running[row], options.posts)
        for turn in range(options.rounds):
            cells = list(samples)
            random.Random(turn).shuffle(cells)
            for row, in_flight in cells:
                sample = measure(tools, running, row, in_flight, options)
                samples[row, in_flight].append(sample)
                progress(f"votes {turn + 1}/{options.rounds}: {row} at {in_flight}: "
                         f"{sample.cost:.3f} CPU-s/M, {sample.votes_per_second:,.0f}/s, "
                         f"others {sample.others:.1%}, steal {sample.steal:.1%}")
    return samples


def figures(samples):
    """The measurements, as JSON has them."""
    return [{"server": row, "in_flight": in_flight, "rounds": [one.values for one in taken]}
            for (row, in_flight), taken in samples.items()]


def ratios(samples, over, under):
    """Compares round by round, so that a drift of the machine cancels out."""
    pairs = zip(samples.get(over, []), samples.get(under, []))
    return [a.cost / b.cost for a, b in pairs]


def table(samples, options):
    result = Table(
        f"Votes: {options.connections} connections, {options.posts:,} posts, one server thread",
        ["In flight", "Server", "Votes/s", "of its core", "CPU-s per million votes",
         "least – most", "× floor", "Redis ÷ ours", "Target"])
    for in_flight in options.in_flight:
        for row, name in ROWS.items():
            taken = samples.get((row, in_flight))
            if not taken:
                continue
            costs = [sample.cost for sample in taken]
            over_floor = ratios(samples, (row, in_flight), ("floor", in_flight))
            over_ours = []
            target = ""
            if row.startswith("service") and over_floor:
                target = verdict(middle(over_floor), TARGET_OVER_FLOOR.get(in_flight), most=True)
            if row.startswith("redis"):
                ours = row.replace("redis", "service"), in_flight
                over_ours = ratios(samples, (row, in_flight), ours)
                if over_ours:
                    target = verdict(middle(over_ours), TARGET_REDIS.get(in_flight), most=False)
            result.add(
                in_flight, name, f"{middle(s.votes_per_second for s in taken):,.0f}",
                f"{middle(s.core_share for s in taken):.0%}",
                f"{middle(costs):.3f}", spread(costs, "{:.3f}"),
                f"{middle(over_floor):.2f}" if over_floor else "",
                f"{middle(over_ours):.2f}" if over_ours else "", target)
    every = [sample for taken in samples.values() for sample in taken]
    result.note(
        f"Rounds: {options.rounds}, of {options.seconds:g} s each; medians, and ratios taken within a "
        f"round. {quietness(every)}")
    result.note(
        f"The service keeps TOP, NEW and HOT, and {FIRST_PAGES_PER_SECOND} first pages a second "
        "are read from it beside the votes. Redis's zipf row and all others are by the same "
        "minimal client in C, its uniform row by redis-benchmark. Where a server used much less than "
        "its core, the client was the bottleneck, and the votes a second are the client's.")
    return result
