"""Votes while every order and window of their feed is read once a second, beside TOP, NEW and HOT read so.

All posts were just created, so each window has all of them: it costs as much as it can.
"""

import collections
import contextlib
import time

import clients
import servers
from feedclient import Refused, feed
from report import COST, COSTS, RATE, Part, column, measured, middle, quietness, ratios, shown, verdict

POSTS = [100_000, 1_000_000]
TARGET_RATIO = 1.5
LEAST_SECONDS = 5    # of a measurement: the lists are read so many times
LEAST_READ = 0.9     # of the reads that are due; with fewer the votes are too cheap
MOST_TRIES = 10      # to build a list

# As (order, window).
KEPT = [(feed.TOP, 0), (feed.NEW, 0), (feed.HOT, 0)]
EVERY = [(order, 0) for order in feed.Order.values() if order]
EVERY += [(order, window) for order in (feed.TOP, feed.CONTROVERSIAL, feed.DISCUSSED)
          for window in feed.Window.values() if window]
ROWS = {"kept": ("TOP, NEW and HOT", KEPT), "every": (f"all {len(EVERY)}", EVERY)}


def read(connection, order, window):
    """Reads the first page of a list; the reason where it is refused, else None."""
    try:
        connection.list_posts(feed.ListPostsRequest(feed="posts", order=order, window=window, page_size=clients.PAGE_SIZE))
    except Refused as refused:
        return refused.reason
    return None


def build(server, lists):
    """Reads each list once, without votes beside it; a large one may need longer than a read waits."""
    with clients.connected(server) as connection:
        for one in lists:
            for _ in range(MOST_TRIES):
                reason = read(connection, *one)
                if reason is None:
                    break
            else:
                raise RuntimeError(f"list {one} was refused {MOST_TRIES} times, with {reason}")


class Reader(clients.Beside):
    """Reads one list once a second, on a connection of its own. No read waits for those of other lists."""

    def __init__(self, server, one, phase):
        super().__init__(f"a reader of list {one}", server)
        self.list, self.due = one, time.monotonic() + phase
        self.reads, self.longest, self.refused = 0, 0, collections.Counter()

    def step(self, connection):
        if self.ends_within(self.due - time.monotonic()):
            return
        began = time.monotonic()
        reason = read(connection, *self.list)
        self.longest = max(self.longest, time.monotonic() - began)
        self.reads += 1
        if reason:
            self.refused[reason] += 1
        self.due = max(self.due + 1, time.monotonic())


@contextlib.contextmanager
def reading(server, lists):
    """Each list is read once a second in the `with` block, at another moment of it; what was seen, at its end."""
    build(server, lists)
    readers, seen, began = [Reader(server, one, n / len(lists)) for n, one in enumerate(lists)], {}, time.monotonic()
    with contextlib.ExitStack() as stack:
        for reader in readers:
            stack.enter_context(reader)
        yield seen
        seconds = time.monotonic() - began
    refused = sum((reader.refused for reader in readers), collections.Counter())
    seen.update(reads_per_second=sum(reader.reads for reader in readers) / seconds,
                longest_read_ms=1e3 * max(reader.longest for reader in readers), refused=dict(refused))


def run(options, progress):
    """The samples with the readers' figures, by (posts, in flight, row)."""
    results = {}
    seconds = options.seconds if options.quick else max(LEAST_SECONDS, options.seconds)
    for posts in [options.posts] if options.quick else POSTS:
        with contextlib.ExitStack() as stack:
            running = {row: stack.enter_context(servers.Service(options)) for row in ROWS}
            for server in running.values():
                clients.fill(server, posts)

            def measure(cell, _, posts=posts, running=running):
                _, in_flight, row = cell
                with reading(running[row], ROWS[row][1]) as seen:
                    sample = clients.pump(options, running[row], in_flight=in_flight, posts=posts, seconds=seconds)
                return clients.Sample(sample.values, **seen)

            cells = [(posts, in_flight, row) for in_flight in options.in_flight for row in ROWS]
            results.update(measured("lists", options.growth_rounds, cells, measure, progress))
    return results


def over(row):
    """How many times as much a vote costs, round by round."""
    posts, in_flight, which = row.key
    return middle(ratios(row.taken, row.results[posts, in_flight, "kept"])) if which == "every" else ""


def notes(results, options):
    every = [sample for taken in results.values() for sample in taken]
    return [f"Rounds: {options.growth_rounds}. All posts are less than an hour old, so each window has all of them. "
            + quietness(every), *warnings(results)]


def warnings(results):
    """What makes a ratio too low: reads that were refused, or came too late."""
    seen = [(one.values, row) for (_, _, row), taken in results.items() for one in taken]
    refused = sum((collections.Counter(one["refused"]) for one, _ in seen), collections.Counter())
    if refused:
        told = ", ".join(f"{count} with {reason}" for reason, count in refused.items())
        yield f"**Reads were refused, {told}: a ratio beside them is too low.**"
    least = min(one["reads_per_second"] / len(ROWS[row][1]) for one, row in seen)
    if least < LEAST_READ:
        yield (f"**In some round lists were read {least:.2f} times a second, and not once: a ratio "
               "beside them is too low.**")


PART = Part(
    "lists", run,
    lambda _, options: f"Votes while lists are read once a second: {options.connections} connections, one service "
                       "thread, in memory",
    [("Posts", lambda row: f"{row.key[0]:,}"), ("In flight", lambda row: row.key[1]),
     ("Lists read", lambda row: ROWS[row.key[2]][0]), RATE, COST, COSTS,
     column("Reads/s", "reads_per_second", "{:.1f}"),
     ("Longest read", lambda row: f"{max(one.values['longest_read_ms'] for one in row.taken):.0f} ms"),
     ("Refused", lambda row: sum(sum(one.values["refused"].values()) for one in row.taken)),
     ("÷ TOP, NEW and HOT", lambda row: shown(over(row))),
     ("Target", lambda row: "" if over(row) == "" else verdict(over(row), TARGET_RATIO, most=True))],
    notes, keys=["posts", "in_flight", "lists"])
