"""Ballots: users who vote and change their votes; Redis keeps one ballot a voter in a script.

Each run has a server of its own, newly filled, as in the table of durable votes. The floor echoes the
same frames, each with the id of a user, before and after the run.
"""

import contextlib
import random
import socket

import clients
import disk
import machine
import servers
import votes
from durable import LONGEST_WAIT, Run, wait_until_idle
from report import Table, middle, quietness, verdict

TARGET_OVER_FLOOR = {1: 1.4, 16: 2.5, 64: 5}
VOTERS = 10_000
POSTS = 1000     # with the voters, ten million ballots at most
PROBE_APPENDS = 200

ROWS = {
    "service memory": "this service, in memory",
    "service fsync": "this service, fsync",
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

FEED = b"ballots"


def create_feed(service):
    """Creates the feed: BALLOT, for users."""
    feed = b"\x0a" + bytes([len(FEED)]) + FEED + b"\x18\x02\x48\x01"  # name, vote_mode, voters
    body = b"\x0a" + bytes([len(feed)]) + feed
    frame = b"\x08\x01" + b"\xaa\x03" + bytes([len(body)]) + body     # id 1, create_feed
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        connection.sendall(len(frame).to_bytes(4, "big") + frame)
        with connection.makefile("rb") as answers:
            answer = answers.read(int.from_bytes(answers.read(4), "big"))
    if FEED not in answer:
        raise RuntimeError(f"the service created no feed for ballots: {answer!r}")


def start(tools, row, directory):
    """A server with the posts, and the flags with which pump votes on it."""
    kind, kept = row.split()
    if kind == "redis":
        server = servers.Redis(tools) if kept == "memory" else servers.Redis(tools, directory, kept)
    else:
        server = servers.Service(tools, None if kept == "memory" else directory)
    try:
        if kind == "redis":
            votes.fill_redis(server, POSTS)
            return server, {"script": server.call("SCRIPT", "LOAD", SCRIPT)}
        create_feed(server)
        clients.pump(tools, server, create=POSTS, feed=FEED.decode())
        clients.pump(tools, server, read_orders=3, feed=FEED.decode())
    except BaseException:
        server.stop()
        raise
    return server, {"feed": FEED.decode(), "first_page_rate": votes.FIRST_PAGES_PER_SECOND}


def vote(tools, server, in_flight, options, seconds, **flags):
    return clients.pump(
        tools, server, connections=options.connections, in_flight=in_flight, posts=POSTS,
        voters=VOTERS, warmup=options.warmup, seconds=seconds, **flags)


def measure(tools, floor, row, in_flight, options):
    with disk.directory(options) as directory, contextlib.ExitStack() as stack:
        server, flags = start(tools, row, directory)
        stack.enter_context(server)
        wait_until_idle(server.pid)  # from being filled
        before = vote(tools, floor, in_flight, options, options.seconds)
        written = machine.written_bytes(server.pid)
        children = machine.children_seconds(server.pid)
        sample = vote(tools, server, in_flight, options, options.durable_seconds, **flags)
        children = machine.children_seconds(server.pid) - children
        seconds, rests = wait_until_idle(server.pid)
        written = machine.written_bytes(server.pid) - written
        after = vote(tools, floor, in_flight, options, options.seconds)
        resident = machine.resident_bytes(server.pid)
    run = Run(sample, [before, after], written, (seconds + children, rests))
    run.resident = resident
    return run


def run(tools, options, progress):
    """All rounds: the runs by (row, in flight), and the syncs of the disk between them."""
    runs = {(row, in_flight): [] for in_flight in options.in_flight for row in ROWS}
    syncs = []
    with servers.Floor(tools) as floor:
        for turn in range(options.durable_rounds):
            cells = list(runs)
            random.Random(turn).shuffle(cells)
            for row, in_flight in cells:
                syncs += disk.syncs(options, PROBE_APPENDS)
                taken = measure(tools, floor, row, in_flight, options)
                runs[row, in_flight].append(taken)
                progress(f"ballots {turn + 1}/{options.durable_rounds}: {row} at {in_flight}: "
                         f"{taken.cost:.3f} CPU-s/M, {taken.over_floor:.2f} floors, "
                         f"{taken.sample.votes_per_second:,.0f}/s, {taken.resident / 1e6:.0f} MB")
    return {"runs": runs, "disk": disk.summary(syncs), "about": disk.describe(options)}


def figures(results):
    """The measurements, as JSON has them."""
    return {"disk": {**results["about"], **results["disk"]},
            "runs": [{"server": row, "in_flight": in_flight,
                      "rounds": [{**one.figures(), "resident_bytes": one.resident} for one in taken]}
                     for (row, in_flight), taken in results["runs"].items()]}


def over_ours(runs, row, in_flight):
    """How many times our cost a row of Redis has, beside the row of ours that promises as much."""
    ours = "service memory" if row == "redis memory" else "service fsync"
    pairs = zip(runs[row, in_flight], runs[ours, in_flight])
    return middle(a.cost / b.cost for a, b in pairs)


def table(results, options):
    runs = results["runs"]
    result = Table(
        f"Ballots: {options.connections} connections, {VOTERS:,} users, {POSTS:,} posts, one server "
        f"thread, {options.durable_seconds:g} s a run",
        ["In flight", "Server", "Votes/s", "of its core", "CPU-s per million votes", "× floor",
         "Redis ÷ ours", "MB resident", "Target"])
    for in_flight in options.in_flight:
        for row, name in ROWS.items():
            taken = runs[row, in_flight]
            over_floor = middle(one.over_floor for one in taken)
            is_redis = row.startswith("redis")
            result.add(
                in_flight, name, f"{middle(one.sample.votes_per_second for one in taken):,.0f}",
                f"{middle(one.sample.core_share for one in taken):.0%}",
                f"{middle(one.cost for one in taken):.3f}", f"{over_floor:.2f}",
                f"{over_ours(runs, row, in_flight):.2f}" if is_redis else "",
                f"{middle(one.resident for one in taken) / 1e6:.0f}",
                verdict(over_floor, TARGET_OVER_FLOOR.get(in_flight), most=True)
                if row == "service fsync" else "")
    every = [one for taken in runs.values() for one in taken]
    result.note(
        f"Rounds: {options.durable_rounds}. Of 16 ballots 10 are up, 4 down and 2 taken back; users and "
        "posts are drawn uniformly. All rows are by the same minimal client in C, and the floor "
        "echoes the service's frames. Processor time is of the whole process, with the work that it "
        "did after the votes had ended. "
        + quietness([sample for one in every for sample in (one.sample, *one.floors)]))
    result.note(
        "Redis runs one script a ballot: HGET, then HSET or HDEL, and ZINCRBY. The service counts "
        "upvotes and downvotes apart, keeps TOP, NEW and HOT, and has "
        f"{votes.FIRST_PAGES_PER_SECOND} first pages a second read beside the votes. The last two rows "
        "of Redis are compared with the service's synced one.")
    result.note(disk.sentence(results["disk"], results["about"]))
    if not all(one.rests for one in every):
        result.note(f"**Some server still worked {LONGEST_WAIT} s after its votes had ended: it "
                    "cannot keep such a load up.**")
    return result
