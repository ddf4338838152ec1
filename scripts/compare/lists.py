"""Votes while every order and window of their feed is read once a second, beside TOP, NEW and HOT read so.

All posts were just created, so each window has all of them: it costs as much as it can.
"""

import collections
import contextlib
import random
import threading
import time

import clients
import frames
import servers
import votes
from report import Table, middle, quietness, spread, verdict

POSTS = [100_000, 1_000_000]
TARGET_RATIO = 1.5
LEAST_SECONDS = 5    # of a measurement: the lists are read so many times
LEAST_READ = 0.9     # of the reads that are due; with fewer the votes are too cheap
PAGE_SIZE = 20
MOST_TRIES = 10      # to build a list
FEED = b"posts"      # of pump

# As (order, window), with the numbers of the contract.
TOP, NEW, OLD, HOT, BEST, CONTROVERSIAL, RISING, DISCUSSED = range(1, 9)
KEPT = [(TOP, 0), (NEW, 0), (HOT, 0)]
EVERY = [(order, 0) for order in range(TOP, DISCUSSED + 1)]
EVERY += [(order, window) for order in (TOP, CONTROVERSIAL, DISCUSSED) for window in range(1, 6)]
ROWS = {"kept": ("TOP, NEW and HOT", KEPT), "every": (f"all {len(EVERY)}", EVERY)}


def read(connection, order, window):
    """Reads the first page of a list; the reason where it is refused, else None."""
    answer = connection.call(frames.LIST_POSTS, frames.message(
        {1: FEED, 2: order, 3: window, 4: PAGE_SIZE}))
    if frames.STATUS in answer:
        return frames.fields_of(answer[frames.STATUS])[2].decode()
    if frames.LIST_POSTS not in answer:
        raise RuntimeError(f"an answer to ListPosts has no posts: {answer}")
    return None


def build(server, lists):
    """Reads each list once, without votes beside it; a large one may need longer than a read waits."""
    with frames.Connection(server) as connection:
        for one in lists:
            for _ in range(MOST_TRIES):
                reason = read(connection, *one)
                if reason is None:
                    break
            else:
                raise RuntimeError(f"list {one} was refused {MOST_TRIES} times, with {reason}")


class Reader(threading.Thread):
    """Reads one list once a second, on a connection of its own, until `ending`. No read waits for those of
    other lists."""

    def __init__(self, server, one, phase, ending):
        super().__init__(daemon=True)
        self.server, self.list, self.phase, self.ending = server, one, phase, ending
        self.reads, self.longest, self.refused, self.failure = 0, 0, collections.Counter(), None

    def run(self):
        servers.pinned(client=True)()
        try:
            with frames.Connection(self.server) as connection:
                due = time.monotonic() + self.phase
                while not self.ending.wait(max(0, due - time.monotonic())):
                    began = time.monotonic()
                    reason = read(connection, *self.list)
                    self.longest = max(self.longest, time.monotonic() - began)
                    self.reads += 1
                    if reason:
                        self.refused[reason] += 1
                    due = max(due + 1, time.monotonic())
        except (OSError, RuntimeError) as error:
            self.failure = error


class Readers:
    """Each list is read once a second in the `with` block, at another moment of it."""

    def __init__(self, server, lists):
        build(server, lists)
        self.ending, self.begun, self.seconds = threading.Event(), time.monotonic(), 0
        self.readers = [Reader(server, one, number / len(lists), self.ending)
                        for number, one in enumerate(lists)]

    def __enter__(self):
        for reader in self.readers:
            reader.start()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.begun
        self.ending.set()
        for reader in self.readers:
            reader.join()
        for reader in self.readers:
            if reader.failure:
                raise RuntimeError(f"a reader of list {reader.list} ended: {reader.failure}")

    def figures(self):
        """Of all lists, once they are no longer read."""
        refused = sum((reader.refused for reader in self.readers), collections.Counter())
        return {"reads_per_second": sum(reader.reads for reader in self.readers) / self.seconds,
                "longest_read_ms": 1e3 * max(reader.longest for reader in self.readers),
                "refused": dict(refused)}


def measure(tools, server, row, posts, in_flight, options):
    """The votes, and what the readers beside them counted."""
    seconds = options.seconds if options.quick else max(LEAST_SECONDS, options.seconds)
    with Readers(server, ROWS[row][1]) as readers:
        sample = clients.pump(
            tools, server, connections=options.connections, in_flight=in_flight, posts=posts,
            warmup=options.warmup, seconds=seconds)
    return sample, readers.figures()


def run(tools, options, progress):
    """All rounds: the samples and the readers' figures by (posts, in flight, row)."""
    results = {(posts, in_flight, row): [] for posts in ([options.posts] if options.quick else POSTS)
               for in_flight in options.in_flight for row in ROWS}
    for posts in dict.fromkeys(key[0] for key in results):
        with contextlib.ExitStack() as stack:
            running = {row: stack.enter_context(servers.Service(tools)) for row in ROWS}
            for server in running.values():
                votes.fill(tools, server, posts)
            for turn in range(options.growth_rounds):
                cells = [key for key in results if key[0] == posts]
                random.Random(turn).shuffle(cells)
                for _, in_flight, row in cells:
                    sample, seen = measure(tools, running[row], row, posts, in_flight, options)
                    results[posts, in_flight, row].append((sample, seen))
                    progress(f"lists {turn + 1}/{options.growth_rounds}: {row} of {posts:,} posts at "
                             f"{in_flight}: {sample.cost:.3f} CPU-s/M, {seen}")
    return results


def figures(results):
    """The measurements, as JSON has them."""
    return [{"posts": posts, "in_flight": in_flight, "lists": row,
             "rounds": [{**sample.values, **seen} for sample, seen in taken]}
            for (posts, in_flight, row), taken in results.items()]


def ratio(results, posts, in_flight):
    """How many times as much a vote costs, round by round."""
    pairs = zip(results[posts, in_flight, "every"], results[posts, in_flight, "kept"])
    return middle(every.cost / kept.cost for (every, _), (kept, _) in pairs)


def table(results, options):
    result = Table(
        f"Votes while lists are read once a second: {options.connections} connections, one service "
        "thread, in memory",
        ["Posts", "In flight", "Lists read", "Votes/s", "CPU-s per million votes", "least – most",
         "Reads/s", "Longest read", "Refused", "÷ TOP, NEW and HOT", "Target"])
    for (posts, in_flight, row), taken in results.items():
        costs = [sample.cost for sample, _ in taken]
        seen = [one for _, one in taken]
        over = ratio(results, posts, in_flight) if row == "every" else None
        result.add(
            f"{posts:,}", in_flight, ROWS[row][0],
            f"{middle(sample.votes_per_second for sample, _ in taken):,.0f}",
            f"{middle(costs):.3f}", spread(costs, "{:.3f}"),
            f"{middle(one['reads_per_second'] for one in seen):.1f}",
            f"{max(one['longest_read_ms'] for one in seen):.0f} ms",
            sum(sum(one["refused"].values()) for one in seen),
            f"{over:.2f}" if over else "", verdict(over, TARGET_RATIO, most=True) if over else "")
    every = [sample for taken in results.values() for sample, _ in taken]
    result.note(
        f"Rounds: {options.growth_rounds}; medians, and ratios taken within a round. The lists are all "
        "eight orders, and TOP, CONTROVERSIAL and DISCUSSED of the five windows. All posts are less "
        "than an hour old, so each window has all of them. The lists are built before the votes "
        f"begin. {quietness(every)}")
    for text in warnings(results):
        result.note(text)
    return result


def warnings(results):
    """What makes a ratio too low: reads that were refused, or came too late."""
    seen = [(one, row) for (_, _, row), taken in results.items() for _, one in taken]
    refused = sum((collections.Counter(one["refused"]) for one, _ in seen), collections.Counter())
    if refused:
        told = ", ".join(f"{count} with {reason}" for reason, count in refused.items())
        yield f"**Reads were refused, {told}: a ratio beside them is too low.**"
    least = min(one["reads_per_second"] / len(ROWS[row][1]) for one, row in seen)
    if least < LEAST_READ:
        yield (f"**In some round lists were read {least:.2f} times a second, and not once: a ratio "
               "beside them is too low.**")
