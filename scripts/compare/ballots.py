"""Ballots: users who vote and change their votes; Redis keeps one ballot a voter in a script.

The floor echoes the same frames, each with the id of a user.
"""

import hashlib

import clients
import frames
import runs
import servers
import votes
from report import Table, middle, verdict

TARGET_OVER_FLOOR = {1: 1.4, 16: 2.5, 64: 5}
VOTERS = 10_000
POSTS = 1000  # with the voters, ten million ballots at most
FEW_PAGES_PER_SECOND = 3  # TOP, NEW and HOT once a second each

ROWS = {
    "service memory": "this service, in memory",
    "service fsync": "this service, fsync",
    "service fsync-few-pages": "this service, fsync, lists read once a second",
    "redis memory": "redis-server, script, in memory",
    "redis always": "redis-server, script, appendfsync always",
    "redis everysec": "redis-server, script, appendfsync everysec",
}

# A ballot of one voter on one post; answers with the score of the post, as the service does.
SCRIPT = """
local was = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
local is = tonumber(ARGV[3])
if was == is then
  return redis.call('ZSCORE', KEYS[2], ARGV[2])
end
if is == 0 then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], is)
end
return redis.call('ZINCRBY', KEYS[2], is - was, ARGV[2])
"""

FEED = "ballots"
BALLOT, USERS = 2, 1  # the feed's vote_mode and voters


def create_feed(service):
    feed = frames.message({1: FEED.encode(), 3: BALLOT, 9: USERS})
    with frames.Connection(service) as connection:
        answer = connection.call(frames.CREATE_FEED, frames.message({1: feed}))
    if frames.CREATE_FEED not in answer:
        raise RuntimeError(f"the service created no feed for ballots: {answer}")


def fill(tools, server, _options):
    if isinstance(server, servers.Redis):
        votes.fill_redis(server, POSTS)
        server.call("SCRIPT", "LOAD", SCRIPT)
    else:
        create_feed(server)
        clients.pump(tools, server, create=POSTS, feed=FEED)
        clients.pump(tools, server, read_orders=3, feed=FEED)


def pump(tools, server, in_flight, options, seconds, **flags):
    return clients.pump(
        tools, server, connections=options.connections, in_flight=in_flight, posts=POSTS,
        voters=VOTERS, warmup=options.warmup, seconds=seconds, **flags)


def pages_per_second(row):
    return FEW_PAGES_PER_SECOND if row.endswith("-few-pages") else votes.FIRST_PAGES_PER_SECOND


def vote(tools, server, row, in_flight, options, seconds, seed):
    flags = ({"script": hashlib.sha1(SCRIPT.encode()).hexdigest()} if row.startswith("redis") else
             {"feed": FEED, "first_page_rate": pages_per_second(row)})
    return pump(tools, server, in_flight, options, seconds, seed=seed, **flags)


def echo(tools, floor, in_flight, options):
    return pump(tools, floor, in_flight, options, options.seconds)


LOAD = runs.Load("ballots", ROWS, fill, vote, echo)
figures = runs.figures


def run(tools, options, progress):
    return runs.run(LOAD, tools, options, progress)


def over_ours(taken, row, in_flight):
    """How many times our cost a row of Redis has, beside the row of ours that promises as much."""
    ours = "service memory" if row == "redis memory" else "service fsync"
    pairs = zip(taken[row, in_flight], taken[ours, in_flight])
    return middle(a.cost / b.cost for a, b in pairs)


def table(results, options):
    result = Table(
        f"Ballots: {options.connections} connections, {VOTERS:,} users, {POSTS:,} posts, one server "
        f"thread, {options.durable_seconds:g} s a run in slices",
        ["In flight", "Server", "Votes/s", "of its core", "CPU-s per million votes", "× floor",
         "Redis ÷ ours", "MB resident", "Target"])
    for in_flight in options.in_flight:
        for row, name in ROWS.items():
            taken = results["runs"][row, in_flight]
            over_floor = middle(one.over_floor for one in taken)
            is_redis = row.startswith("redis")
            result.add(
                in_flight, name, f"{middle(one.sample.votes_per_second for one in taken):,.0f}",
                f"{middle(one.sample.core_share for one in taken):.0%}",
                f"{middle(one.cost for one in taken):.3f}", f"{over_floor:.2f}",
                f"{over_ours(results['runs'], row, in_flight):.2f}" if is_redis else "",
                f"{middle(one.resident for one in taken) / 1e6:.0f}",
                verdict(over_floor, TARGET_OVER_FLOOR.get(in_flight), most=True)
                if row == "service fsync" else "")
    result.note(
        f"Rounds: {options.durable_rounds}. Of 16 ballots 10 are up, 4 down and 2 taken back; users and "
        "posts are drawn uniformly. All rows are by the same minimal client in C, and the floor "
        "echoes the service's frames. Processor time is of the whole process, with the work that it "
        f"did after the votes had ended. {runs.quiet(results)}")
    result.note(
        "Redis runs one script a ballot: HGET, then HSET or HDEL, and ZINCRBY. The service counts "
        "upvotes and downvotes apart, keeps TOP, NEW and HOT, and has "
        f"{votes.FIRST_PAGES_PER_SECOND} first pages a second read beside the votes, or TOP, NEW and HOT "
        "once a second each in the row that says so: what it costs less is the cost of the pages. The last "
        "two rows of Redis are compared with the service's synced one.")
    runs.note(result, results)
    return result
