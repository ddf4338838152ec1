"""Votes that survive a crash: the service and Redis with their logs synced, beside the floor."""

import clients
import runs
from report import column, middle, ratios, shown, verdict

TARGET_OVER_FLOOR = {1: 1.3, 16: 3.1, 64: 5.2}
TARGET_OVER_REDIS = {64: 5}  # in votes per second, where both sync before they answer

ROWS = {
    "service fsync": "this service, fsync",
    "redis always": "redis-server, appendfsync always",
    "redis everysec": "redis-server, appendfsync everysec",
}


def vote(options, server, row, in_flight, seconds, seed):
    if row.startswith("redis"):
        return clients.redis_benchmark(options, server, in_flight, seconds=seconds)
    return clients.pump(options, server, in_flight=in_flight, seconds=seconds, seed=seed,
                        first_page_rate=clients.FIRST_PAGES_PER_SECOND)


def over_redis(row):
    """How many times the votes per second of a row of Redis ours are, round by round."""
    ours = row.results["service fsync", row.key[1]]
    return "" if row.key[0] == "service fsync" else middle(ratios(ours, row.taken, "votes_per_second"))


def target(row):
    name, in_flight = row.key
    if name == "service fsync":
        return verdict(runs.over_floor(row), TARGET_OVER_FLOOR.get(in_flight), most=True)
    return verdict(over_redis(row), TARGET_OVER_REDIS.get(in_flight), most=False) if name == "redis always" else ""


PART = runs.Runs(
    runs.Load("durable", ROWS, lambda options, server: clients.fill(server, options.posts), vote,
              lambda options, floor, in_flight: clients.pump(options, floor, in_flight=in_flight)),
    lambda options: f"Durable votes: {options.connections} connections, {options.posts:,} posts",
    [column("Disk bytes a vote", "bytes_a_vote", "{:.0f}"), ("Our votes/s ÷ its", lambda row: shown(over_redis(row))),
     ("Target", target)],
    lambda results, options: [
        f"Rounds: {options.durable_rounds}. {runs.quiet(results)}"])
