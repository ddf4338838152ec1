"""Votes that survive a crash: the service and Redis with their logs synced, beside the floor.

Each run has a server and a directory of its own, so that no server writes for another's votes. The
floor is measured before and after it. The work that a server does after the votes have ended
(checkpoints, rewriting a log) is a part of their cost.
"""

import contextlib
import random
import time

import clients
import disk
import machine
import servers
import votes
from report import Table, middle, quietness, verdict

TARGET_OVER_FLOOR = {1: 1.3, 16: 3.1, 64: 5.2}
TARGET_OVER_REDIS = {64: 5}  # in votes per second, where both sync before they answer
PROBE_APPENDS = 200

ROWS = {
    "service": "this service, fsync",
    "redis always": "redis-server, appendfsync always",
    "redis everysec": "redis-server, appendfsync everysec",
}

IDLE_SHARE = 0.02   # of a core
LONGEST_WAIT = 60   # seconds
IDLE_STEP = 0.5     # seconds


def wait_until_idle(pid):
    """Waits until the server is idle, at most a minute; its processor time, and whether it is idle."""
    first = last = machine.cpu_seconds(pid) + machine.children_seconds(pid)
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end:
        time.sleep(IDLE_STEP)
        before = last
        last = machine.cpu_seconds(pid) + machine.children_seconds(pid)
        if last - before < IDLE_SHARE * IDLE_STEP:
            return last - first, True
    return last - first, False


def start(tools, row, directory, posts):
    if row == "service":
        server = servers.Service(tools, directory)
        fill = lambda: votes.fill(tools, server, posts)  # noqa: E731
    else:
        server = servers.Redis(tools, directory, row.split()[1])
        fill = lambda: votes.fill_redis(server, posts)  # noqa: E731
    try:
        fill()
    except BaseException:
        server.stop()
        raise
    return server


def vote(tools, server, row, in_flight, options):
    if row.startswith("redis"):
        return clients.redis_benchmark(
            server, in_flight, options.posts, options, options.durable_seconds)
    return clients.pump(
        tools, server, connections=options.connections, in_flight=in_flight, posts=options.posts,
        warmup=options.warmup, seconds=options.durable_seconds,
        first_page_rate=votes.FIRST_PAGES_PER_SECOND)


class Run:
    """One server's votes, and the floor around them."""

    def __init__(self, sample, floors, written, afterwards):
        self.sample, self.floors, self.written = sample, floors, written
        self.afterwards_seconds, self.rests = afterwards

    @property
    def cost(self):
        """CPU-seconds per million votes, with the work that was done after them."""
        return self.sample.cost + self.afterwards_seconds / self.sample.votes * 1e6

    @property
    def over_floor(self):
        return self.cost / (sum(floor.cost for floor in self.floors) / len(self.floors))

    @property
    def bytes_a_vote(self):
        return self.written / self.sample.votes

    def figures(self):
        return {"run": self.sample.values, "floors": [floor.values for floor in self.floors],
                "written_bytes": self.written, "afterwards_seconds": self.afterwards_seconds,
                "rests": self.rests}


def measure(tools, floor, row, in_flight, options):
    def measured_floor():
        return clients.pump(
            tools, floor, connections=options.connections, in_flight=in_flight,
            posts=options.posts, warmup=options.warmup, seconds=options.seconds)

    with disk.directory(options) as directory, contextlib.ExitStack() as stack:
        server = stack.enter_context(start(tools, row, directory, options.posts))
        wait_until_idle(server.pid)  # from being filled
        before = measured_floor()
        written = machine.written_bytes(server.pid)
        children = machine.children_seconds(server.pid)
        sample = vote(tools, server, row, in_flight, options)
        children = machine.children_seconds(server.pid) - children
        seconds, rests = wait_until_idle(server.pid)
        written = machine.written_bytes(server.pid) - written
        after = measured_floor()
    return Run(sample, [before, after], written, (seconds + children, rests))


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
                progress(f"durable {turn + 1}/{options.durable_rounds}: {row} at {in_flight}: "
                         f"{taken.cost:.3f} CPU-s/M, {taken.over_floor:.2f} floors, "
                         f"{taken.sample.votes_per_second:,.0f}/s, {taken.bytes_a_vote:.0f} B/vote")
    return {"runs": runs, "disk": disk.summary(syncs), "about": disk.describe(options)}


def figures(results):
    """The measurements, as JSON has them."""
    return {"disk": {**results["about"], **results["disk"]},
            "runs": [{"server": row, "in_flight": in_flight,
                      "rounds": [one.figures() for one in taken]}
                     for (row, in_flight), taken in results["runs"].items()]}


def over_redis(runs, row, in_flight):
    """How many times the votes per second of a row of Redis ours are, round by round."""
    pairs = zip(runs["service", in_flight], runs[row, in_flight])
    return middle(a.sample.votes_per_second / b.sample.votes_per_second for a, b in pairs)


def target(row, in_flight, over_floor, ratio):
    if row == "service":
        return verdict(over_floor, TARGET_OVER_FLOOR.get(in_flight), most=True)
    if row == "redis always":
        return verdict(ratio, TARGET_OVER_REDIS.get(in_flight), most=False)
    return ""


def table(results, options):
    runs = results["runs"]
    result = Table(
        f"Durable votes: {options.connections} connections, {options.posts:,} posts, one server "
        f"thread, {options.durable_seconds:g} s a run",
        ["In flight", "Server", "Votes/s", "of its core", "CPU-s per million votes", "× floor",
         "Disk bytes a vote", "Our votes/s ÷ its", "Target"])
    for in_flight in options.in_flight:
        for row, name in ROWS.items():
            taken = runs[row, in_flight]
            over_floor = middle(one.over_floor for one in taken)
            ratio = None if row == "service" else over_redis(runs, row, in_flight)
            result.add(
                in_flight, name, f"{middle(one.sample.votes_per_second for one in taken):,.0f}",
                f"{middle(one.sample.core_share for one in taken):.0%}",
                f"{middle(one.cost for one in taken):.3f}", f"{over_floor:.2f}",
                f"{middle(one.bytes_a_vote for one in taken):.0f}",
                "" if ratio is None else f"{ratio:.2f}",
                target(row, in_flight, over_floor, ratio))
    every = [one for taken in runs.values() for one in taken]
    result.note(
        f"Rounds: {options.durable_rounds}. Processor time is of the whole process, with the work "
        "that it did after the votes had ended: the journal, checkpoints, the rewriting of a log. "
        "The floor was measured before and after each run. "
        + quietness([sample for one in every for sample in (one.sample, *one.floors)]))
    result.note(disk.sentence(results["disk"], results["about"]))
    if not all(one.rests for one in every):
        result.note(f"**Some server still worked {LONGEST_WAIT} s after its votes had ended: it "
                    "cannot keep such a load up.**")
    return result
