"""Pages of 20 posts, and mixes of pages and votes, beside a floor that answers as many bytes and a script of Redis."""

import collections
import contextlib
import random
import tempfile

import ballots
import clients
import machine
import servers
import votes
from feedclient import feed
from feedclient.frames import with_length
from report import Part, measured, middle, quietness, rounds, shown, spread, verdict

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
    """Makes the posts; the script of a page."""
    script = redis.call("SCRIPT", "LOAD", FILL_SCRIPT)
    for first in range(0, posts, 5000):
        redis.call("EVALSHA", script, 0, first, min(first + 5000, posts) - 1)
    page = redis.call("SCRIPT", "LOAD", PAGE_SCRIPT)
    shown = redis.call("EVALSHA", page, 1, "posts")
    if len(shown) != 20 or any(None in fields for _, _, fields in shown):
        raise RuntimeError(f"Redis's page is not one of 20 posts: {shown}")
    return page


CONNECTIONS = 100
REDIS_CONNECTIONS = 10  # its pages are slow, and it answers what it has read at once
VOTERS = 1000
NEEDED_BYTES_A_POST = 4 * 600  # of memory that must be free to try
FILL_SECONDS = 2     # of their ballots on the posts of the first page
TARGET_RATIO = 1.3   # of other orders over TOP, and of ten times the posts
USER = 1 << 63       # the first of pump's users

# What is asked for: a name, the server, the flags of pump, and by pages of 100 operations and requests
# in flight the multiple of the floor that is the goal.
Case = collections.namedtuple("Case", "name server flags goals")

FIRST = {(100, 1): 1.3, (100, 16): 2, (95, 1): 1.4, (95, 16): 3, (50, 1): 1.7, (50, 16): 6}
HOT_KEYS = {"zipf": votes.ZIPF}
TOP = Case("TOP", "anonymous", {}, FIRST)
TOP_OF_HOT = Case("TOP, hot posts", "hot", HOT_KEYS, {mix: FIRST[mix] for mix in FIRST if mix[0] < 100})
ORDERS = [Case(f"{name}, hot posts", "hot", {**HOT_KEYS, **flags}, {(95, 16): None}) for name, flags in {
    "HOT": {"order": feed.HOT}, "NEW": {"order": feed.NEW}, "BEST": {"order": feed.BEST},
    "TOP of a week": {"window": feed.WEEK}}.items()]
CASES = [
    TOP, TOP_OF_HOT,
    Case("TOP, viewer with ballots", "viewer", {"voters": VOTERS, "feed": ballots.FEED},
         {**dict.fromkeys(FIRST), (95, 1): 1.7, (95, 16): 6}),
    Case("TOP, further pages", "anonymous", {"further": True},
         {**dict.fromkeys(FIRST), (100, 1): 2.5, (100, 16): 8, (95, 1): 2.5, (95, 16): 8}),
    *ORDERS]

Cell = collections.namedtuple("Cell", "posts case pages in_flight")  # the case by its name


def cells(sizes):
    return [Cell(posts, case.name, *mix) for posts in sizes for case in CASES for mix in case.goals]


def start(stack, options, posts):
    """The servers with so many posts, by name, and the script of Redis's page."""
    running = {name: stack.enter_context(servers.Service(options)) for name in ("anonymous", "hot", "viewer")}
    clients.fill(running["anonymous"], posts)
    clients.fill(running["hot"], posts)
    ballots.create_feed(running["viewer"])
    clients.fill(running["viewer"], posts, name=ballots.FEED)
    # Ballots on the same 20 posts of all viewers put these on the first page.
    clients.pump(options, running["viewer"], connections=CONNECTIONS, in_flight=16, posts=clients.PAGE_SIZE,
                 voters=VOTERS, warmup=0, seconds=FILL_SECONDS)
    running["redis"] = stack.enter_context(servers.Redis(options))
    return running, fill_redis(running["redis"], posts)


def recorded(server, flags):
    """The service's answers to such a page and to a vote, as frames."""
    acting = USER if "voters" in flags else 0
    page = feed.ListPostsRequest(feed=flags.get("feed", "posts"), order=flags.get("order", feed.TOP),
                                 window=flags.get("window", 0), page_size=clients.PAGE_SIZE)
    with clients.connected(server) as connection:
        answer = connection.call(acting=acting, list_posts=page)
        if "further" in flags:
            page.page_token = answer.list_posts.next_page_token
            answer = connection.call(acting=acting, list_posts=page)
        vote = connection.call(acting=acting, cast_vote=feed.CastVoteRequest(post_id=1, direction=feed.UP))
    return b"".join(with_length(one.SerializeToString()) for one in (answer, vote))


def case_of(cell):
    return next(case for case in CASES if case.name == cell.case)


def measure(options, running, script, cell, turn):
    """The samples of the cell, by peer."""
    case = case_of(cell)
    server = running[case.server]
    with tempfile.NamedTemporaryFile() as file:
        file.write(recorded(server, case.flags))
        file.flush()
        with servers.Floor(options, answers=file.name) as floor:
            peers = [("service", server, {}), ("floor", floor, {})]
            if case is TOP:
                peers.append(("redis", running["redis"],
                              {"script": script, "connections": REDIS_CONNECTIONS}))
            random.Random(turn).shuffle(peers)
            return {name: clients.pump(options, peer, **{
                "connections": CONNECTIONS, "in_flight": cell.in_flight, "posts": cell.posts,
                "page_share": cell.pages, **case.flags, **flags}) for name, peer, flags in peers}


def run(options, progress):
    """The samples by cell and peer."""
    with contextlib.ExitStack() as stack:
        sizes = [options.posts] if options.quick else [options.posts, 10 * options.posts]
        running = {}
        for posts in sizes:
            if machine.available_bytes() < NEEDED_BYTES_A_POST * posts:
                progress(f"pages: too little free memory for {posts:,} posts, which are left out")
            else:
                running[posts] = start(stack, options, posts)
        return measured("pages", options.growth_rounds, cells(running),
                        lambda cell, turn: measure(options, *running[cell.posts], cell, turn), progress)


def mix(cell):
    return "pages alone" if cell.pages == 100 else f"{cell.pages}/{100 - cell.pages}"


def costs(taken, peer):
    return [one[peer].operation_cost for one in taken if peer in one]


def times(taken, over="service", under="floor"):
    return [a / b for a, b in zip(costs(taken, over), costs(taken, under))]


def goal(row):
    """The goals of a cell: of its multiple of the floor, and of this beside that of another cell."""
    cell, case, told = row.key, case_of(row.key), []
    base = min(one.posts for one in row.results)
    others = {"TOP": cell._replace(case=TOP_OF_HOT.name)} if case in ORDERS else {}
    if cell.posts > base:
        others[f"{base:,} posts"] = cell._replace(posts=base)
    elif target := case.goals[cell.pages, cell.in_flight]:
        told.append(verdict(middle(times(row.taken)), target, most=True))
    for name, other in others.items():
        found = middle(a / b for a, b in zip(times(row.taken), times(row.results[other])))
        told.append(f"{shown(found)} × {name}, {verdict(found, TARGET_RATIO, most=True)}")
    return "; ".join(told)


def of_redis(row, values):
    """The median of what is compared with Redis; "" where that was not asked."""
    return shown(middle(values)) if "redis" in row.taken[0] else ""


def size(sample):
    """Bytes an answer."""
    return sample.values["received_bytes"] / (sample.votes + sample.pages)


def notes(results, options):
    every = [one for taken in results.values() for one in taken]
    sizes = [size(one["floor"]) / size(one["service"]) for one in every]
    return [
        f"{rounds(options.growth_rounds, options)}The floor answered {spread(sizes, '{:.1%}')} of the service's "
        "bytes. " + quietness([sample for one in every for sample in one.values()]),
        f"Hot posts: votes have zipf {votes.ZIPF} keys, the others uniform ones. Callers are anonymous but for "
        f"{VOTERS:,} viewers, who have ballots on most posts of the page."]


PART = Part(
    "pages", run, lambda *_: f"Pages of 20 posts: {CONNECTIONS} connections, one server thread, in memory",
    [("Posts", lambda row: f"{row.key.posts:,}"), ("Pages", lambda row: row.key.case),
     ("Pages/votes", lambda row: mix(row.key)), ("In flight", lambda row: row.key.in_flight),
     ("CPU-µs an operation", lambda row: shown(middle(costs(row.taken, "service")))),
     ("least – most", lambda row: spread(costs(row.taken, "service"), "{:.2f}")),
     ("of the floor", lambda row: shown(middle(costs(row.taken, "floor")))),
     ("× floor", lambda row: shown(middle(times(row.taken)))),
     ("of Redis", lambda row: of_redis(row, costs(row.taken, "redis"))),
     ("Redis ÷ ours", lambda row: of_redis(row, times(row.taken, "redis", "service"))), ("Goal", goal)],
    notes, keys=Cell._fields)
