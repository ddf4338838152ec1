"""Runs on servers of their own: each is newly filled, and the floor is measured between its slices.

So no server writes for another's votes, and both have the same moments of a machine whose speed
changes within seconds. The work that a server does after its votes have ended (checkpoints, rewriting
a log) is a part of their cost.
"""

import collections
import math
import random
import time

import disk
import machine
import servers
from clients import total
from report import quietness

PROBE_APPENDS = 200
SLICE_SECONDS = 10  # of votes, between two measurements of the floor
IDLE_SHARE = 0.02   # of a core
LONGEST_WAIT = 60   # seconds
IDLE_STEP = 0.5     # seconds

# What a table measures: its name and its rows; how a server is filled (tools, server, options), is
# voted on for some seconds (tools, server, row, in flight, options, seconds, seed), and how the floor
# echoes such votes (tools, floor, in flight, options).
#
# A row names a server, and how it keeps its votes: "service memory", "service fsync", "redis memory",
# or "redis" and a value of appendfsync.
Load = collections.namedtuple("Load", "name rows fill vote echo")


class Run:
    """One server's votes in all slices, and the floor around them."""

    def __init__(self, samples, floors, written, afterwards, resident):
        self.samples, self.floors = samples, floors
        self.sample, self.floor = total(samples), total(floors)
        self.written, self.resident = written, resident
        self.afterwards_seconds, self.rests = afterwards

    @property
    def cost(self):
        """CPU-seconds per million votes, with the work that was done after them."""
        return self.sample.cost + self.afterwards_seconds / self.sample.votes * 1e6

    @property
    def over_floor(self):
        return self.cost / self.floor.cost

    @property
    def bytes_a_vote(self):
        return self.written / self.sample.votes

    def figures(self):
        return {"run": self.sample.values, "slices": [one.values for one in self.samples],
                "floors": [one.values for one in self.floors],
                "written_bytes": self.written, "resident_bytes": self.resident,
                "afterwards_seconds": self.afterwards_seconds, "rests": self.rests}


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


def start(tools, row, directory):
    kind, kept = row.split()
    if kind == "redis":
        return servers.Redis(tools) if kept == "memory" else servers.Redis(tools, directory, kept)
    return servers.Service(tools, None if kept == "memory" else directory)


def slices(seconds):
    """The seconds of each slice of a run."""
    count = math.ceil(seconds / SLICE_SECONDS)
    return [seconds / count] * count


def measure(load, tools, floor, row, in_flight, options):
    with disk.directory(options) as directory, start(tools, row, directory) as server:
        load.fill(tools, server, options)
        wait_until_idle(server.pid)  # from being filled
        floors, samples, afterwards, rests, written = [], [], 0, True, 0
        floors.append(load.echo(tools, floor, in_flight, options))
        for number, seconds in enumerate(slices(options.durable_seconds)):
            before = machine.written_bytes(server.pid), machine.children_seconds(server.pid)
            samples.append(load.vote(tools, server, row, in_flight, options, seconds, 1 + number))
            children = machine.children_seconds(server.pid) - before[1]
            more, idle = wait_until_idle(server.pid)
            rests = rests and idle
            # The votes of the warm-up are not counted, and what was written for them is not, either.
            share = seconds / (seconds + options.warmup)
            afterwards += (more + children) * share
            written += (machine.written_bytes(server.pid) - before[0]) * share
            floors.append(load.echo(tools, floor, in_flight, options))
        resident = machine.resident_bytes(server.pid)
    return Run(samples, floors, written, (afterwards, rests), resident)


def run(load, tools, options, progress):
    """All rounds: the runs by (row, in flight), and the syncs of the disk between them."""
    runs = {(row, in_flight): [] for in_flight in options.in_flight for row in load.rows}
    syncs = []
    with servers.Floor(tools) as floor:
        for turn in range(options.durable_rounds):
            cells = list(runs)
            random.Random(turn).shuffle(cells)
            for row, in_flight in cells:
                syncs += disk.syncs(options, PROBE_APPENDS)
                taken = measure(load, tools, floor, row, in_flight, options)
                runs[row, in_flight].append(taken)
                progress(f"{load.name} {turn + 1}/{options.durable_rounds}: {row} at {in_flight}: "
                         f"{taken.cost:.3f} CPU-s/M, {taken.over_floor:.2f} floors, "
                         f"{taken.sample.votes_per_second:,.0f}/s, {taken.bytes_a_vote:.0f} B/vote, "
                         f"{taken.resident / 1e6:.0f} MB")
    return {"runs": runs, "disk": disk.summary(syncs), "about": disk.describe(options)}


def figures(results):
    """The measurements, as JSON has them."""
    return {"disk": {**results["about"], **results["disk"]},
            "runs": [{"server": row, "in_flight": in_flight,
                      "rounds": [one.figures() for one in taken]}
                     for (row, in_flight), taken in results["runs"].items()]}


def quiet(results):
    every = [one for taken in results["runs"].values() for one in taken]
    return quietness([sample for one in every for sample in (*one.samples, *one.floors)])


def note(table, results):
    """What the reader has to know of the disk, and of servers that did not come to rest."""
    table.note(disk.sentence(results["disk"], results["about"]))
    if not all(one.rests for taken in results["runs"].values() for one in taken):
        table.note(f"**Some server still worked {LONGEST_WAIT} s after its votes had ended: it "
                   "cannot keep such a load up.**")
