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
FEED = b"posts"      # of pump

# As (order, window), with the numbers of the contract.
TOP, NEW, OLD, HOT, BEST, CONTROVERSIAL, RISING, DISCUSSED = range(1, 9)
KEPT = [(TOP, 0), (NEW, 0), (HOT, 0)]
EVERY = [(order, 0) for order in range(TOP, DISCUSSED + 1)]
EVERY += [(order, window) for order in (TOP, CONTROVERSIAL, DISCUSSED) for window in range(1, 6)]
ROWS = {"kept": ("TOP, NEW and HOT", KEPT), "every": (f"all {len(EVERY)}", EVERY)}


class Reader(threading.Thread):
    """Reads the first page of each list once a second, in the `with` block; counts from when each was
    read once, so that all are built. What is refused is counted by its reason, from the start."""

    def __init__(self, server, lists):
        super().__init__(daemon=True)
        self.server, self.lists = server, lists
        self.reads, self.longest, self.seconds, self.refused = 0, 0, 0, collections.Counter()
        self.built, self.ending, self.failure = threading.Event(), threading.Event(), None

    def __enter__(self):
        self.start()
        self.built.wait()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.join()
        if self.failure:
            raise RuntimeError(f"the reader of lists ended: {self.failure}")

    def run(self):
        servers.pinned(client=True)()
        try:
            with frames.Connection(self.server) as connection:
                self._pass(connection)
                self.reads, self.longest, begun = 0, 0, time.monotonic()
                self.built.set()
                due = begun
                while not self.ending.is_set():
                    self._pass(connection)
                    due += 1
                    self.ending.wait(max(0, due - time.monotonic()))
                self.seconds = time.monotonic() - begun
        except (OSError, ValueError) as error:
            self.failure = error
        finally:
            self.built.set()

    def _pass(self, connection):
        for order, window in self.lists:
            began = time.monotonic()
            answer = connection.call(frames.LIST_POSTS, frames.message(
                {1: FEED, 2: order, 3: window, 4: PAGE_SIZE}))
            self.reads += 1
            self.longest = max(self.longest, time.monotonic() - began)
            if frames.STATUS in answer:
                reason = frames.fields_of(answer[frames.STATUS])[2].decode()
                self.refused[reason] += 1
            elif frames.LIST_POSTS not in answer:
                raise ValueError(f"an answer to ListPosts has no posts: {answer}")

    def figures(self):
        return {"reads_per_second": self.reads / self.seconds, "longest_read_ms": 1e3 * self.longest,
                "refused": dict(self.refused)}


def measure(tools, server, row, posts, in_flight, options):
    """The votes, and what their reader counted."""
    seconds = options.seconds if options.quick else max(LEAST_SECONDS, options.seconds)
    with Reader(server, ROWS[row][1]) as reader:
        sample = clients.pump(
            tools, server, connections=options.connections, in_flight=in_flight, posts=posts,
            warmup=options.warmup, seconds=seconds)
    return sample, reader.figures()


def run(tools, options, progress):
    """All rounds: the samples and the reader's figures by (posts, in flight, row)."""
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
                    sample, read = measure(tools, running[row], row, posts, in_flight, options)
                    results[posts, in_flight, row].append((sample, read))
                    progress(f"lists {turn + 1}/{options.growth_rounds}: {row} of {posts:,} posts at "
                             f"{in_flight}: {sample.cost:.3f} CPU-s/M, {read}")
    return results


def figures(results):
    """The measurements, as JSON has them."""
    return [{"posts": posts, "in_flight": in_flight, "lists": row,
             "rounds": [{**sample.values, **read} for sample, read in taken]}
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
        reads = [read for _, read in taken]
        over = ratio(results, posts, in_flight) if row == "every" else None
        result.add(
            f"{posts:,}", in_flight, ROWS[row][0],
            f"{middle(sample.votes_per_second for sample, _ in taken):,.0f}",
            f"{middle(costs):.3f}", spread(costs, "{:.3f}"),
            f"{middle(read['reads_per_second'] for read in reads):.1f}",
            f"{max(read['longest_read_ms'] for read in reads):.0f} ms",
            sum(sum(read["refused"].values()) for read in reads),
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
    reads = [(read, row) for (_, _, row), taken in results.items() for _, read in taken]
    refused = sum((collections.Counter(read["refused"]) for read, _ in reads), collections.Counter())
    if refused:
        told = ", ".join(f"{count} with {reason}" for reason, count in refused.items())
        yield f"**Reads were refused, {told}: a ratio beside them is too low.**"
    least = min(read["reads_per_second"] / len(ROWS[row][1]) for read, row in reads)
    if least < LEAST_READ:
        yield (f"**In some round lists were read {least:.2f} times a second, and not once: a ratio "
               "beside them is too low.**")
