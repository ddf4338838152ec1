"""Votes that survive a crash: the service and Redis with their logs synced, beside the floor."""

import clients
import runs
import servers
import votes
from report import Table, middle, verdict

TARGET_OVER_FLOOR = {1: 1.3, 16: 3.1, 64: 5.2}
TARGET_OVER_REDIS = {64: 5}  # in votes per second, where both sync before they answer

ROWS = {
    "service fsync": "this service, fsync",
    "redis always": "redis-server, appendfsync always",
    "redis everysec": "redis-server, appendfsync everysec",
}


def fill(tools, server, options):
    if isinstance(server, servers.Redis):
        votes.fill_redis(server, options.posts)
    else:
        votes.fill(tools, server, options.posts)


def vote(tools, server, row, in_flight, options, seconds, seed):
    if row.startswith("redis"):
        return clients.redis_benchmark(server, in_flight, options.posts, options, seconds)
    return clients.pump(
        tools, server, connections=options.connections, in_flight=in_flight, posts=options.posts,
        warmup=options.warmup, seconds=seconds, seed=seed,
        first_page_rate=votes.FIRST_PAGES_PER_SECOND)


def echo(tools, floor, in_flight, options):
    return clients.pump(
        tools, floor, connections=options.connections, in_flight=in_flight, posts=options.posts,
        warmup=options.warmup, seconds=options.seconds)


LOAD = runs.Load("durable", ROWS, fill, vote, echo)
figures = runs.figures


def run(tools, options, progress):
    return runs.run(LOAD, tools, options, progress)


def over_redis(taken, row, in_flight):
    """How many times the votes per second of a row of Redis ours are, round by round."""
    pairs = zip(taken["service fsync", in_flight], taken[row, in_flight])
    return middle(a.sample.votes_per_second / b.sample.votes_per_second for a, b in pairs)


def target(row, in_flight, over_floor, ratio):
    if row == "service fsync":
        return verdict(over_floor, TARGET_OVER_FLOOR.get(in_flight), most=True)
    if row == "redis always":
        return verdict(ratio, TARGET_OVER_REDIS.get(in_flight), most=False)
    return ""


def table(results, options):
    result = Table(
        f"Durable votes: {options.connections} connections, {options.posts:,} posts, one server "
        f"thread, {options.durable_seconds:g} s a run in slices",
        ["In flight", "Server", "Votes/s", "of its core", "CPU-s per million votes", "× floor",
         "Disk bytes a vote", "Our votes/s ÷ its", "Target"])
    for in_flight in options.in_flight:
        for row, name in ROWS.items():
            taken = results["runs"][row, in_flight]
            over_floor = middle(one.over_floor for one in taken)
            is_ours = row.startswith("service")
            ratio = None if is_ours else over_redis(results["runs"], row, in_flight)
            result.add(
                in_flight, name, f"{middle(one.sample.votes_per_second for one in taken):,.0f}",
                f"{middle(one.sample.core_share for one in taken):.0%}",
                f"{middle(one.cost for one in taken):.3f}", f"{over_floor:.2f}",
                f"{middle(one.bytes_a_vote for one in taken):.0f}",
                "" if is_ours else f"{ratio:.2f}", target(row, in_flight, over_floor, ratio))
    result.note(
        f"Rounds: {options.durable_rounds}. Processor time is of the whole process, with the work "
        "that it did after the votes had ended: the journal, checkpoints, the rewriting of a log. "
        f"The floor was measured before the first slice of each run and after each slice. {runs.quiet(results)}")
    runs.note(result, results)
    return result
