"""A page of 20 posts out of a million, while votes run: the service beside a script of Redis.

Votes come at a fixed rate, in bursts every millisecond, whether answered or not. With and without
pages their cost is the same, so what the server needs more with pages is what the pages cost,
bringing the order up to date among it.
"""

import contextlib
import random

import clients
import servers
import votes
from report import Table, middle, quietness, spread, verdict

POSTS = 1_000_000
VOTES_PER_SECOND = 20_000
VOTE_CONNECTIONS = 10
PAGE_CONNECTIONS = 10
IN_FLIGHT = 16
TARGET_MICROSECONDS = 12
ENOUGH_ANSWERED = 0.98  # of the votes; the last ones are answered after the clocks are read

# The fields of a post that the service shows, as a hash beside the sorted set. Redis fills itself.
FILL_SCRIPT = """
for i = ARGV[1], ARGV[2] do
    local post = string.format('p%012d', i)
    redis.call('ZADD', 'posts', 0, post)
    redis.call('HSET', post, 'feed', 'posts', 'title',
        string.format('%08x: what a post of %d is called by who wrote it',
            (i * 2654435761) % 4294967296, i),
        'author', 'author' .. (i % 50000), 'ups', 0, 'downs', 0, 'comments', i % 1000,
        'created', 1577836800000 + i, 'updated', 1577836800000 + i)
end
"""

PAGE_SCRIPT = """
local ranked = redis.call('ZREVRANGE', KEYS[1], 0, 19, 'WITHSCORES')
local page = {}
for i = 1, #ranked, 2 do
    local fields = redis.call('HMGET', ranked[i],
        'feed', 'title', 'author', 'ups', 'downs', 'comments', 'created', 'updated')
    page[#page + 1] = {ranked[i], ranked[i + 1], fields}
end
return page
"""


def fill_redis(redis, posts):
    script = redis.call("SCRIPT", "LOAD", FILL_SCRIPT)
    for first in range(0, posts, 5000):
        redis.call("EVALSHA", script, 0, first, min(first + 5000, posts) - 1)
    page = redis.call("SCRIPT", "LOAD", PAGE_SCRIPT)
    shown = redis.call("EVALSHA", page, 1, "posts")
    if len(shown) != 20 or any(None in fields for _, _, fields in shown):
        raise RuntimeError(f"Redis's page is not one of 20 posts: {shown}")
    return page


def run(tools, options, progress):
    """By peer: the microseconds of a page, and the pages a second, of each round."""
    posts = options.posts if options.quick else POSTS
    results, every = {"service": [], "redis": []}, []
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(servers.Service(tools))
        votes.fill(tools, service, posts)
        redis = stack.enter_context(servers.Redis(tools))
        script = fill_redis(redis, posts)
        running = {"service": (service, {}), "redis": (redis, {"script": script})}
        for turn in range(options.rounds):
            peers = list(running)
            random.Random(turn).shuffle(peers)
            for peer in peers:
                server, flags = running[peer]
                share, least_answered = {}, 1
                for pages in random.Random(turn).sample([0, PAGE_CONNECTIONS], 2):
                    sample = clients.pump(
                        tools, server, connections=VOTE_CONNECTIONS, vote_rate=VOTES_PER_SECOND,
                        posts=posts, page_connections=pages, pages_in_flight=IN_FLIGHT,
                        warmup=options.warmup, seconds=options.seconds, **flags)
                    every.append(sample)
                    share[pages] = sample.core_share
                    if pages:
                        per_second = sample.pages / sample.seconds
                    answered = sample.votes_per_second / VOTES_PER_SECOND
                    least_answered = min(least_answered, answered)
                cost = (share[PAGE_CONNECTIONS] - share[0]) / per_second * 1e6
                results[peer].append(
                    {"microseconds": cost, "per_second": per_second, "votes_answered": least_answered})
                progress(f"page {turn + 1}/{options.rounds}: {peer}: {cost:.2f} µs, "
                         f"{per_second:,.0f}/s, {least_answered:.1%} of the votes answered")
    return {"posts": posts, "rounds": results, "quiet": quietness(every)}


def answered_votes(rounds):
    """Votes that were not answered are work that a page seems to save."""
    least = {peer: min(one["votes_answered"] for one in taken) for peer, taken in rounds.items()}
    text = (f"Of the votes the service answered at least {least['service']:.1%} beside the pages, "
            f"Redis {least['redis']:.1%}. ")
    if min(least.values()) < ENOUGH_ANSWERED:
        text += "**The fewer these are, the cheaper a page seems.** "
    return text


def table(results, options):
    rounds = results["rounds"]
    result = Table(
        f"A page of 20 full posts out of {results['posts']:,}, {IN_FLIGHT} in flight a connection, "
        f"while {VOTES_PER_SECOND:,} votes a second run",
        ["Server", "Pages/s", "CPU-µs a page", "least – most", "Redis ÷ ours", "Target"])
    costs = {peer: [one["microseconds"] for one in taken] for peer, taken in rounds.items()}
    ratio = middle(theirs / ours for ours, theirs in zip(costs["service"], costs["redis"]))
    names = {"service": "this service, ListPosts", "redis": "redis-server, ZREVRANGE + 20 HMGET"}
    for peer, name in names.items():
        ours = peer == "service"
        result.add(
            name, f"{middle(one['per_second'] for one in rounds[peer]):,.0f}",
            f"{middle(costs[peer]):.2f}", spread(costs[peer], "{:.2f}"),
            "" if ours else f"{ratio:.2f}",
            verdict(middle(costs[peer]), TARGET_MICROSECONDS, most=True, form="{:g} µs") if ours
            else verdict(ratio, 1, most=False))
    result.note(
        f"{PAGE_CONNECTIONS} connections ask for pages as fast as they are answered, and "
        f"{VOTE_CONNECTIONS} vote. Cost of a page = (CPU with pages − CPU with the same votes alone) ÷ "
        "pages per second. Redis runs one Lua script a page; its hashes have the fields of our posts. "
        + answered_votes(rounds) + results["quiet"])
    return result
