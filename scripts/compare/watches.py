"""How long a durable vote takes at half of what the service can do, beside watches: of one list that all of
them show, and of different posts. And how soon a watch shows a vote."""

import contextlib
import os
import random
import selectors
import socket
import time

import clients
import disk
import latency
import servers
from feedclient import Lost, feed, framed
from report import CORE, Part, column, measured, middle, quietness, ratios, shown, span, verdict

WATCHES_A_CONNECTION = 16  # the most that the service takes
LIST_WATCHES, POST_WATCHES = 10_000, 1_000
LISTED = 20                # the length of the watched list
INTERVAL_MS, DELAY_MS = 250, 50
TARGET_RATIO = 1.5
READ_BYTES = 1 << 18
COUNT_SECONDS = 30         # until the service counts the watches of a row, at its begin and at its end
ROWS = {
    "none": "none",
    "list": f"{LIST_WATCHES:,} of the first {LISTED} posts",
    "posts": f"{POST_WATCHES:,} of a post each",
}


def requests(row, posts):
    """What the watches of a row ask for."""
    if row == "list":
        return [feed.WatchPostsRequest(feed="posts", order=feed.TOP, top_count=LISTED)] * LIST_WATCHES
    count = POST_WATCHES if row == "posts" else 0
    return [feed.WatchPostsRequest(post_ids=[1 + number * posts // count]) for number in range(count)]


class Watchers(clients.Beside):
    """Connections with watches, whose events are taken and counted in bytes in the `with` block.

    All of them are there at its begin and at its end: one that was refused, or that the service has
    ended, would cost nothing."""

    def __init__(self, server, requests):
        super().__init__("a connection with watches", server)
        self.count, self.bytes = len(requests), 0
        self.selector, self.open = selectors.DefaultSelector(), contextlib.ExitStack()
        for first in range(0, len(requests), WATCHES_A_CONNECTION):
            connection = self.open.enter_context(
                socket.create_connection(("127.0.0.1", server.port), timeout=30))
            connection.sendall(b"".join(framed(1 + number, watch_posts=request) for number, request
                                        in enumerate(requests[first:first + WATCHES_A_CONNECTION])))
            self.selector.register(connection, selectors.EVENT_READ)

    def __enter__(self):
        super().__enter__()
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
            self.check_failure()

    def _await_all(self, words):
        """Waits until the service counts these watches, and none of a row or a probe before; nobody reads the
        events here."""
        end = time.monotonic() + COUNT_SECONDS
        with clients.connected(self.server) as connection:
            while (count := connection.stats().watches) != self.count:
                if time.monotonic() > end or self.failure:
                    raise RuntimeError(f"of {self.count:,} watches {count:,} {words}")

    def _close(self):
        self.stop()
        self.selector.close()
        self.open.close()

    def connected(self, port):
        """Gives way to the client that votes, whose latencies count: real watchers have other processors."""
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        return contextlib.nullcontext(bytearray(READ_BYTES))

    def step(self, buffer):
        for key, _ in self.selector.select(0.1):
            count = key.fileobj.recv_into(buffer)
            if not count:
                raise Lost("the service closed it")
            self.bytes += count


class Probe(clients.Beside):
    """Votes on a post that nobody else votes on, and takes the time until a watch of it shows the vote.

    Half of the votes follow the event before at once, and wait the longest; the others come at random."""

    def __init__(self, server, post, seed):
        super().__init__("the probe", server)
        self.vote = feed.CastVoteRequest(post_id=post, direction=feed.UP)
        self.random, self.delays = random.Random(seed), []
        self.shown = 0  # the revision of the last event

    @contextlib.contextmanager
    def connected(self, port):
        with clients.connected(self.server) as voter, clients.connected(self.server) as watcher:
            watch = watcher.watch(feed.WatchPostsRequest(post_ids=[self.vote.post_id]))
            next(watch)
            yield voter, watch

    def step(self, connections):
        voter, watch = connections
        if len(self.delays) % 2:
            self.ends_within(self.random.random() * INTERVAL_MS / 1000)
        revision, voted = voter.call(cast_vote=self.vote).revision, time.monotonic()
        while self.shown < revision:
            next(watch)
            self.shown = watch.revision
        self.delays.append(1e3 * (time.monotonic() - voted))


def measure(options, service, row, rate):
    """Votes at the rate beside the watches of a row; the sample, with what the watches got."""
    seconds = max(options.seconds, options.durable_seconds / 6)
    with Watchers(service, requests(row, options.posts)) as watchers:
        with Probe(service, options.posts + 1, rate) as probe:
            began, before = time.monotonic(), watchers.bytes
            sample = clients.pump(options, service, vote_rate=rate, burst=latency.IN_FLIGHT, seconds=seconds)
            bytes_per_second = (watchers.bytes - before) / (time.monotonic() - began)
    if not probe.delays:
        raise RuntimeError(f"no watch has shown a vote in {seconds:g} s")
    return clients.Sample(sample.values, bytes_per_second=bytes_per_second, delays_ms=sorted(probe.delays),
                          rate=rate)


def run(options, progress):
    """All rounds: the samples and what the watches got, by row."""
    rates = {}  # of each round
    with disk.directory(options) as directory, servers.Service(options, directory) as service:
        clients.fill(service, options.posts + 1)

        def measure_row(row, turn):
            if turn not in rates:
                full = clients.pump(options, service, in_flight=latency.IN_FLIGHT)
                rates[turn] = latency.rate_of(full.votes_per_second)
            return measure(options, service, row, rates[turn])

        return measured("watches", options.growth_rounds, ROWS, measure_row, progress)


def over_none(row):
    return "" if row.key == "none" else middle(ratios(row.taken, row.results["none"], "p99_ms"))


def delays(row):
    return sorted(delay for one in row.taken for delay in one.values["delays_ms"])


def notes(results, options):
    return [
        f"Rounds: {options.growth_rounds}; ratios within a round. Each watch has an interval of {INTERVAL_MS} ms, "
        "and half of the changes that are timed wait a whole one. What takes the events shares the client's core, "
        "and counts as another process. "
        + quietness([sample for taken in results.values() for sample in taken])]


PART = Part(
    "watches", run,
    lambda _, options: "Votes beside watches, at half of the votes a second that "
                       f"{latency.IN_FLIGHT} in flight reach: {options.connections} connections, "
                       f"{options.posts:,} posts, one service thread, fsync",
    [("Watches", lambda row: ROWS[row.key]), column("Votes/s", "rate", "{:,.0f}"), CORE,
     column("p50", "p50_ms", "{:.2f} ms"), column("p99", "p99_ms", "{:.2f} ms"), span("p99_ms", "{:.2f}"),
     ("÷ none", lambda row: shown(over_none(row))),
     ("Target", lambda row: "" if row.key == "none" else verdict(over_none(row), TARGET_RATIO, most=True)),
     ("Events, MB/s", lambda row: f"{middle(one.values['bytes_per_second'] for one in row.taken) / 1e6:.1f}"),
     ("Change shown after, p50", lambda row: shown(middle(delays(row)), "{:.0f} ms")),
     ("longest", lambda row: f"{delays(row)[-1]:.0f} ms"),
     ("Target", lambda row: verdict(delays(row)[-1], INTERVAL_MS + DELAY_MS, most=True, form="{:.0f} ms"))],
    notes, keys=["watches"])
