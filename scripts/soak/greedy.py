"""One host that votes at ten times its limit, beside the votes of another host.

The service refuses what is over the limit (RATE_LIMITED), and executes the rest. The other host is within
its limit: none of its votes is refused, all of them count, and they take no longer than without the greedy host.
"""

import collections
import contextlib
import select
import socket
import statistics
import struct
import time

import feed_pb2 as feed
import flags
import loadgen
import once
from service import Failure, Service
from wire import Connection, Lost, framed
from worker import Worker

HOST = "127.0.0.2"
CONNECTIONS = 4
MIX = "vote=90,list=10"  # of the others
SOCKET_SECONDS = 10
LEAST_SENT = 0.9  # of the votes that are due
OTHERS_SHARE = 0.5  # of the limit, which is also theirs
SLACK = 1.2  # clocks of the service and of this script


def add_flags(parser):
    parser.add_argument("--limit", type=flags.count, default=2000, help="votes a second of a host")
    parser.add_argument("--times", type=flags.count, default=10, help="the greedy host's votes, in limits")
    parser.add_argument("--seconds", type=flags.count, default=10, help="of each measurement")
    parser.add_argument("--rounds", type=flags.count, default=5,
                        help="without and with the greedy host; the median of their ratios counts")
    parser.add_argument("--factor", type=float, default=1.1,
                        help="the p99 of the others may be so many times as long")


class Greedy(Worker):
    """Votes at a rate from a host of its own; what is answered is read, and understood afterwards.

    Frames are made before the measurement, and answers are read whole: the client takes little of the
    processors, which it shares with the service here.
    """

    outlived = True

    def __init__(self, rate, seconds, post):
        super().__init__("the greedy host")
        self.rate, self.sent, self.seconds = rate, 0, 0
        vote = feed.CastVoteRequest(post_id=post, direction=feed.UP)
        count = rate * (seconds + 30) // CONNECTIONS
        self.frames = [framed(number, cast_vote=vote) for number in range(1, count)]
        self.sockets, self.received = [], {}

    @contextlib.contextmanager
    def connected(self, port):
        with contextlib.ExitStack() as stack:
            self.sockets = [
                stack.enter_context(socket.create_connection(
                    ("127.0.0.1", port), SOCKET_SECONDS, source_address=(HOST, 0)))
                for _ in range(CONNECTIONS)]
            self.received = {one: bytearray() for one in self.sockets}
            yield time.monotonic()
            end = time.monotonic() + SOCKET_SECONDS
            while self._answers() < self.sent and time.monotonic() < end:
                self._receive(0.1)

    def step(self, began):
        self.seconds = time.monotonic() - began
        each = min(int(self.seconds * self.rate) // CONNECTIONS, len(self.frames))
        first = self.sent // CONNECTIONS
        if each > first:
            data = b"".join(self.frames[first:each])
            for one in self.sockets:
                one.sendall(data)
            self.sent = each * CONNECTIONS
        self._receive(0.005)

    def _receive(self, seconds):
        ready, _, _ = select.select(self.sockets, [], [], seconds)
        for one in ready:
            data = one.recv(1 << 18)
            if not data:
                raise Lost("the service closed the connection")
            self.received[one] += data

    def _answers(self):
        return sum(1 for data in self.received.values() for _ in bodies(data))

    def answers(self):
        """How many votes counted, and how many did not. Raises Failure."""
        self.check_failure()
        if self.sent < LEAST_SENT * self.rate * self.seconds:
            raise Failure(f"only {self.sent} votes were sent in {self.seconds:.1f} s: the machine is too busy")
        reasons = collections.Counter()
        for data in self.received.values():
            for body in bodies(data):
                status = feed.ServerFrame.FromString(body).status
                if status.reason == "RATE_LIMITED" and not (status.not_executed and status.retry_after_ms):
                    raise Failure(f"a vote was refused without a time to come back: {status}")
                reasons[status.reason] += 1
        if sum(reasons.values()) != self.sent:
            raise Failure(f"{self.sent} votes got {sum(reasons.values())} answers")
        if set(reasons) - {"", "RATE_LIMITED"}:
            raise Failure(f"votes were answered with {dict(reasons)}")
        return {"counted": reasons[""], "refused": reasons["RATE_LIMITED"]}


def bodies(data):
    place = 0
    while len(data) - place >= 4:
        (length,) = struct.unpack_from(">I", data, place)
        if len(data) - place - 4 < length:
            return
        yield bytes(data[place + 4:place + 4 + length])
        place += 4 + length


def p99(options, port):
    """The p99 of the others, whose audit has to pass."""
    report = options.output + "/greedy-run.json"
    loadgen.finish(loadgen.start(
        options.binaries, port, "--clients", "50", "--threads", "1", "--mix", MIX, "--warmup", "1",
        "--duration", f"{options.seconds}s", "--rate", str(int(options.limit * OTHERS_SHARE)),
        "--json", report))
    try:
        return loadgen.read(report)["ops"]["vote"]["response_ms"]["p99"]
    except KeyError as error:
        raise Failure(f"too few votes for a percentile: no {error}") from error


def flooded(options, port, post):
    """The p99 beside the greedy host, and what that was answered."""
    greedy = Greedy(options.limit * options.times, options.seconds, post)
    greedy.start(port)
    try:
        greedy.await_connected()
        taken = p99(options, port)
    finally:
        greedy.stop()
    return taken, greedy.answers(), greedy.seconds


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    limits = ["--limit-loopback", "--max-votes-per-second", str(options.limit)]
    pairs, counted, refused = [], 0, 0
    with Service(options.binaries, directory + "/data", limits) as service:
        with Connection(service.port) as connection:
            post = connection.call(
                create_post=feed.CreatePostRequest(feed="posts", post=feed.Post(title="greedy"))).post.id
        for number in range(options.rounds):
            before = p99(options, service.port)
            after, answers, seconds = flooded(options, service.port, post)
            pairs.append((before, after))
            counted, refused = counted + answers["counted"], refused + answers["refused"]
            say(f"round {number + 1}: p99 {before} ms without, {after} ms with; {answers}")
            if answers["counted"] > SLACK * options.limit * (seconds + 1):
                raise Failure(f"{answers['counted']} votes of the greedy host counted in {seconds:.1f} s")
            if answers["refused"] == 0:
                raise Failure("the greedy host was never refused")
        with Connection(service.port) as connection:
            score = connection.call(get_post=feed.GetPostRequest(id=post)).post.upvote_count
        if score != counted:
            raise Failure(f"{counted} votes were answered as counted, and the post has {score}")
        service.stop()
    ratio = round(statistics.median(after / before for before, after in pairs), 3)
    say(f"the p99 of the others is {ratio} times as long")
    if ratio > options.factor:
        raise Failure(f"the p99 of the others is {ratio} times as long, over {options.factor}")
    return {"ratio": ratio, "rounds": pairs, "counted": counted, "refused": refused}


def run(options, say):
    tally = once.run("greedy", live_through, options, say)
    counts = [("runs", len(tally.pieces)), ("votes refused", tally.sum("refused")),
              ("votes counted", tally.sum("counted"))]
    return tally, counts, True
