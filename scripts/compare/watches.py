"""How long a durable vote takes at half of what the service can do, beside watches: of one list that all of
them show, and of different posts. And how soon a watch shows a vote."""

import contextlib
import os
import random
import selectors
import socket
import threading
import time

import clients
import disk
import frames
import latency
import servers
import votes
from report import Table, middle, quietness, spread, verdict

WATCHES_A_CONNECTION = 16  # the most that the service takes
LIST_WATCHES, POST_WATCHES = 10_000, 1_000
TOP, LISTED = 1, 20        # the order and the length of the watched list
INTERVAL_MS, DELAY_MS = 250, 50
TARGET_RATIO = 1.5
READ_BYTES = 1 << 18
COUNT_SECONDS = 30         # until the service counts the watches of a row, at its begin and at its end
WATCHES = 9                # the field of ServerStats
FEED, UP = b"posts", 1     # the feed of pump, and a direction
ROWS = {
    "none": "none",
    "list": f"{LIST_WATCHES:,} of the first {LISTED} posts",
    "posts": f"{POST_WATCHES:,} of a post each",
}


def requests(row, posts):
    """What the watches of a row ask for."""
    if row == "list":
        return [frames.message({1: FEED, 2: TOP, 4: LISTED})] * LIST_WATCHES
    count = POST_WATCHES if row == "posts" else 0
    return [frames.message({5: 1 + number * posts // count}) for number in range(count)]


def watch_count(connection):
    """The watches of all connections of the service."""
    answer = connection.call(frames.GET_SERVER_STATS, b"")
    return frames.fields_of(answer[frames.GET_SERVER_STATS]).get(WATCHES, 0)


class Watchers:
    """Connections with watches, whose events are taken and counted in bytes in the `with` block.

    All of them are there at its begin and at its end: one that was refused, or that the service has
    ended, would cost nothing."""

    def __init__(self, server, contents):
        self.server, self.count = server, len(contents)
        self.selector, self.ending, self.failure = selectors.DefaultSelector(), threading.Event(), None
        self.bytes, self.open = 0, contextlib.ExitStack()
        for first in range(0, len(contents), WATCHES_A_CONNECTION):
            connection = self.open.enter_context(
                socket.create_connection(("127.0.0.1", server.port), timeout=30))
            connection.sendall(b"".join(
                frames.framed(1 + number, frames.WATCH_POSTS, content) for number, content
                in enumerate(contents[first:first + WATCHES_A_CONNECTION])))
            self.selector.register(connection, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self.thread.start()
        try:
            self._await_all("have begun")
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None and not self.failure:
                self._await_all("are left")
        finally:
            self._close()
            if self.failure:
                raise RuntimeError(f"a connection with watches ended: {self.failure}")

    def _await_all(self, words):
        """Waits until the service counts these watches, and none of a row or a probe before; nobody reads the
        events here."""
        end = time.monotonic() + COUNT_SECONDS
        with frames.Connection(self.server) as connection:
            while (count := watch_count(connection)) != self.count:
                if time.monotonic() > end or self.failure:
                    raise RuntimeError(f"of {self.count:,} watches {count:,} {words}")

    def _close(self):
        self.ending.set()
        self.thread.join()
        self.selector.close()
        self.open.close()

    def _read(self):
        """Gives way to the client that votes, whose latencies count: real watchers have other processors."""
        servers.pinned(client=True)()
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        buffer = bytearray(READ_BYTES)
        try:
            while not self.ending.is_set():
                for key, _ in self.selector.select(0.1):
                    count = key.fileobj.recv_into(buffer)
                    if not count:
                        raise ConnectionError("the service closed it")
                    self.bytes += count
        except OSError as error:
            self.failure = error


class Probe(threading.Thread):
    """Votes on a post that nobody else votes on, and takes the time until a watch of it shows the vote.

    Half of the votes follow the event before at once, and wait the longest; the others come at random."""

    def __init__(self, server, post, seed):
        super().__init__(daemon=True)
        self.server, self.post, self.random = server, post, random.Random(seed)
        self.ending, self.delays, self.failure = threading.Event(), [], None
        self.shown = 0  # the revision of the last event

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.join()
        if self.failure:
            raise RuntimeError(f"the probe ended: {self.failure}")

    def run(self):
        servers.pinned(client=True)()
        try:
            with frames.Connection(self.server) as voter, frames.Connection(self.server) as watcher:
                watcher.call(frames.WATCH_POSTS, frames.message({5: self.post}))
                while not self.ending.is_set():
                    if len(self.delays) % 2:
                        self.ending.wait(self.random.random() * INTERVAL_MS / 1000)
                    answer = voter.call(frames.CAST_VOTE, frames.message({1: self.post, 2: UP}))
                    revision, voted = answer[frames.REVISION], time.monotonic()
                    while self.shown < revision:
                        self.shown = watcher.receive()[frames.REVISION]
                    self.delays.append(1e3 * (time.monotonic() - voted))
        except OSError as error:
            self.failure = error
        except KeyError as error:
            self.failure = f"an answer has no field {error}"


def measure(tools, service, row, rate, options):
    """Votes at the rate beside the watches of a row; the sample, and what the watches got."""
    seconds = max(options.seconds, options.durable_seconds / 6)
    with Watchers(service, requests(row, options.posts)) as watchers:
        with Probe(service, options.posts + 1, rate) as probe:
            began, before = time.monotonic(), watchers.bytes
            sample = clients.pump(
                tools, service, vote_rate=rate, burst=latency.IN_FLIGHT, seconds=seconds,
                connections=options.connections, posts=options.posts, warmup=options.warmup)
            taken = watchers.bytes - before
            bytes_per_second = taken / (time.monotonic() - began)
    return sample, {"bytes_per_second": bytes_per_second, "delays_ms": sorted(probe.delays)}


def run(tools, options, progress):
    """All rounds: the samples and what the watches got, by row."""
    results = {row: [] for row in ROWS}
    with disk.directory(options) as directory, servers.Service(tools, directory) as service:
        votes.fill(tools, service, options.posts + 1)
        for turn in range(options.growth_rounds):
            full = clients.pump(
                tools, service, in_flight=latency.IN_FLIGHT, seconds=options.seconds,
                connections=options.connections, posts=options.posts, warmup=options.warmup)
            rate = latency.rate_of(full.votes_per_second)
            rows = list(ROWS)
            random.Random(turn).shuffle(rows)
            for row in rows:
                sample, seen = measure(tools, service, row, rate, options)
                results[row].append((sample, {**seen, "rate": rate}))
                progress(f"watches {turn + 1}/{options.growth_rounds}: {row} at {rate:,}/s: p99 "
                         f"{sample.values['p99_ms']:.2f} ms, {seen['bytes_per_second'] / 1e6:.1f} "
                         f"MB/s, the longest of {len(seen['delays_ms'])} delays "
                         f"{seen['delays_ms'][-1]:.0f} ms")
    return results


def figures(results):
    return [{"watches": row, "rounds": [{**sample.values, **seen} for sample, seen in taken]}
            for row, taken in results.items()]


def table(results, options):
    result = Table(
        f"Votes beside watches, at half of the votes a second that {latency.IN_FLIGHT} in flight reach: "
        f"{options.connections} connections, {options.posts:,} posts, one service thread, fsync",
        ["Watches", "Votes/s", "of its core", "p50", "p99", "least – most", "÷ none", "Target",
         "Events, MB/s", "Change shown after, p50", "longest", "Target"])
    base = [sample for sample, _ in results["none"]]
    for row, taken in results.items():
        samples = [sample for sample, _ in taken]
        p99 = [sample.values["p99_ms"] for sample in samples]
        ratio = middle(one / other.values["p99_ms"] for one, other in zip(p99, base))
        delays = sorted(delay for _, seen in taken for delay in seen["delays_ms"])
        result.add(
            ROWS[row], f"{middle(seen['rate'] for _, seen in taken):,.0f}",
            f"{middle(sample.core_share for sample in samples):.0%}",
            f"{middle(sample.values['p50_ms'] for sample in samples):.2f} ms",
            f"{middle(p99):.2f} ms", spread(p99, "{:.2f}"),
            "" if row == "none" else f"{ratio:.2f}",
            "" if row == "none" else verdict(ratio, TARGET_RATIO, most=True),
            f"{middle(seen['bytes_per_second'] for _, seen in taken) / 1e6:.1f}",
            f"{middle(delays):.0f} ms", f"{delays[-1]:.0f} ms",
            verdict(delays[-1], INTERVAL_MS + DELAY_MS, most=True, form="{:.0f} ms"))
    result.note(
        f"Rounds: {options.growth_rounds}; ratios within a round. Each watch has the usual interval of "
        f"{INTERVAL_MS} ms, {WATCHES_A_CONNECTION} are on a connection. Votes are uniform, so a watched post "
        "changes in each interval. A change is shown by a watch of its own; half of the changes come "
        "right after an event, and wait a whole interval. What takes the events shares the client's core, "
        "gives way to it, and counts as another process. "
        f"{quietness([sample for taken in results.values() for sample, _ in taken])}")
    return result
