"""Runs on servers of their own: each is newly filled, and the floor is measured between its slices.

So no server writes for another's votes, and both have the same moments of a machine whose speed
changes within seconds. The work that a server does after its votes have ended (checkpoints, rewriting
a log) is a part of their cost.
"""

import collections
import math
import time

import disk
import machine
import servers
from clients import total
from report import CORE, COST, IN_FLIGHT, RATE, Part, cells, column, figure, measured, middle, quietness, rows_of, \
    server

PROBE_APPENDS = 200
SLICE_SECONDS = 10  # of votes, between two measurements of the floor
IDLE_SHARE = 0.02   # of a core
LONGEST_WAIT = 60   # seconds
IDLE_STEP = 0.5     # seconds

# What a table measures: its name and its rows; how a server is filled (options, server), is voted on for some
# seconds (options, server, row, in flight, seconds, seed), and how the floor echoes such votes (options, floor,
# in flight).
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
        self.votes_per_second, self.core_share = self.sample.votes_per_second, self.sample.core_share

    def __str__(self):
        return (f"{self.cost:.3f} CPU-s/M, {self.over_floor:.2f} floors, {self.votes_per_second:,.0f}/s, "
                f"{self.bytes_a_vote:.0f} B/vote, {self.resident / 1e6:.0f} MB")

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

    @property
    def values(self):
        return {"run": self.sample, "slices": self.samples, "floors": self.floors,
                "written_bytes": self.written, "resident_bytes": self.resident,
                "afterwards_seconds": self.afterwards_seconds, "rests": self.rests}


def processor_seconds(pid):
    return machine.cpu_seconds(pid) + machine.children_seconds(pid)


def wait_until_idle(pid):
    """Waits until the server is idle, at most a minute; its processor time, and whether it is idle."""
    first = last = processor_seconds(pid)
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end:
        time.sleep(IDLE_STEP)
        before, last = last, processor_seconds(pid)
        if last - before < IDLE_SHARE * IDLE_STEP:
            return last - first, True
    return last - first, False


def start(options, row, directory):
    kind, kept = row.split()
    directory = None if kept == "memory" else directory
    return servers.Redis(options, directory, kept) if kind == "redis" else servers.Service(options, directory)


def slices(seconds):
    """The seconds of each slice of a run."""
    count = math.ceil(seconds / SLICE_SECONDS)
    return [seconds / count] * count


def measure(load, options, floor, row, in_flight):
    with disk.directory(options) as directory, start(options, row, directory) as server:
        load.fill(options, server)
        wait_until_idle(server.pid)  # from being filled
        samples, afterwards, rests, written = [], 0, True, 0
        floors = [load.echo(options, floor, in_flight)]
        for number, seconds in enumerate(slices(options.durable_seconds)):
            before = machine.written_bytes(server.pid), machine.children_seconds(server.pid)
            samples.append(load.vote(options, server, row, in_flight, seconds, 1 + number))
            children = machine.children_seconds(server.pid) - before[1]
            more, idle = wait_until_idle(server.pid)
            rests = rests and idle
            # The votes of the warm-up are not counted, and what was written for them is not, either.
            share = seconds / (seconds + options.warmup)
            afterwards += (more + children) * share
            written += (machine.written_bytes(server.pid) - before[0]) * share
            floors.append(load.echo(options, floor, in_flight))
        resident = machine.resident_bytes(server.pid)
    return Run(samples, floors, written, (afterwards, rests), resident)


class Runs(Part):
    """A table of such runs, with columns beside those that all have; by (row, in flight)."""

    def __init__(self, load, title, columns, notes):
        def run(options, progress):
            syncs = []

            def one(cell, _):
                syncs.extend(disk.syncs(options, PROBE_APPENDS))
                return measure(load, options, floor, *cell)

            with servers.Floor(options) as floor:
                runs = measured(load.name, options.durable_rounds, cells(load.rows, options), one, progress)
            return {"runs": runs, "disk": disk.summary(syncs), "about": disk.describe(options)}

        super().__init__(
            load.name, run,
            lambda _, options: f"{title(options)}, one server thread, {options.durable_seconds:g} s a run in slices",
            [IN_FLIGHT, server(load.rows), RATE, CORE, COST, column("× floor", "over_floor", "{:.2f}"), *columns],
            lambda results, options: [*notes(results, options), *disk_notes(results)],
            lambda results, options: rows_of(results["runs"], options, cells(load.rows, options)))

    def figures(self, results):
        return {"disk": {**results["about"], **results["disk"]},
                "runs": [{"server": row, "in_flight": in_flight, "rounds": taken}
                         for (row, in_flight), taken in results["runs"].items()]}


def over_floor(row):
    return middle(figure(one, "over_floor") for one in row.taken)


def quiet(results):
    every = [one for taken in results["runs"].values() for one in taken]
    return quietness([sample for one in every for sample in (*one.samples, *one.floors)])


def disk_notes(results):
    """What the reader has to know of the disk, and of servers that did not come to rest."""
    yield disk.sentence(results["disk"], results["about"])
    if not all(one.rests for taken in results["runs"].values() for one in taken):
        yield (f"**Some server still worked {LONGEST_WAIT} s after its votes had ended: it cannot keep such a load "
               "up.**")
