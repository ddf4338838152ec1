"""Ballots: users who vote and change their votes; Redis keeps one ballot a voter in a script.

The floor echoes the same frames, each with the id of a user.
"""

import hashlib

import clients
import runs
import servers
from feedclient import feed
from report import middle, ratios, shown, verdict

TARGET_OVER_FLOOR = {1: 1.4, 16: 2.5, 64: 5}
VOTERS = 10_000
POSTS = 1000  # with the voters, ten million ballots at most
FEW_PAGES_PER_SECOND = 3  # TOP, NEW and HOT once a second each
FEED = "ballots"

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


def create_feed(service):
    with clients.connected(service) as connection:
        connection.create_feed(feed.Feed(name=FEED, vote_mode=feed.BALLOT, voters=feed.USERS))


def fill(options, server):
    if isinstance(server, servers.Redis):
        server.call("SCRIPT", "LOAD", SCRIPT)
    else:
        create_feed(server)
    clients.fill(server, POSTS, name=FEED)


def pages_per_second(row):
    return FEW_PAGES_PER_SECOND if row.endswith("-few-pages") else clients.FIRST_PAGES_PER_SECOND


def pump(options, server, in_flight, **flags):
    return clients.pump(options, server, in_flight=in_flight, posts=POSTS, voters=VOTERS, **flags)


def vote(options, server, row, in_flight, seconds, seed):
    flags = ({"script": hashlib.sha1(SCRIPT.encode()).hexdigest()} if row.startswith("redis") else
             {"feed": FEED, "first_page_rate": pages_per_second(row)})
    return pump(options, server, in_flight, seconds=seconds, seed=seed, **flags)


def over_ours(row):
    """How many times our cost a row of Redis has, beside the row of ours that promises as much."""
    ours = "service memory" if row.key[0] == "redis memory" else "service fsync"
    return middle(ratios(row.taken, row.results[ours, row.key[1]])) if row.key[0].startswith("redis") else ""


def target(row):
    limit = TARGET_OVER_FLOOR.get(row.key[1]) if row.key[0] == "service fsync" else None
    return verdict(runs.over_floor(row), limit, most=True)


PART = runs.Runs(
    runs.Load("ballots", ROWS, fill, vote, pump),
    lambda options: f"Ballots: {options.connections} connections, {VOTERS:,} users, {POSTS:,} posts",
    [("Redis ÷ ours", lambda row: shown(over_ours(row))),
     ("MB resident", lambda row: f"{middle(one.resident for one in row.taken) / 1e6:.0f}"), ("Target", target)],
    lambda results, options: [
        f"Rounds: {options.durable_rounds}. Of 16 ballots 10 are up, 4 down and 2 taken back; users and "
        "posts are drawn uniformly. What the row costs less whose lists are read once a second is the cost of the "
        f"pages. The last two rows of Redis are compared with the service's synced one. {runs.quiet(results)}"])
