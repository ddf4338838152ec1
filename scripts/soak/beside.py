"""The latencies of a load without and with something beside it, in rounds; the median of their ratios counts."""

import collections
import contextlib
import select
import socket
import statistics
import time

import loadgen
import tally
from aside import Worker
from feedclient import FrameReader, Lost, feed
from process import Failure

MIX = "vote=90,list=10"  # of the load
NAMES = {"votes": "vote", "pages": "list"}  # what latencies are of, as loadgen calls it
SOCKET_SECONDS = 10
SPARE_SECONDS = 30  # in which loadgen starts, warms up and audits
LEAST_SENT = 0.9  # of what is due


def add_flags(parser, rounds, factor, whose):
    """The flags of rounds: how many, and how much longer the latencies may be."""
    parser.add_argument("--seconds", type=tally.count, default=10, help="of each measurement")
    parser.add_argument("--rounds", type=tally.count, default=rounds,
                        help="without and with what is beside; the median of their ratios counts")
    parser.add_argument("--factor", type=float, default=factor,
                        help=f"the p99 of {whose} may be so many times as long")


class Stream:
    """A connection that sends its frames one after another, and keeps what is answered."""

    def __init__(self, port, host, frames):
        self.socket = socket.create_connection(("127.0.0.1", port), SOCKET_SECONDS, source_address=(host, 0))
        self.frames, self.sent, self.reader, self.answers = frames, 0, FrameReader(), []

    def send_up_to(self, count):
        count = min(count, len(self.frames))
        if count > self.sent:
            self.socket.sendall(b"".join(self.frames[self.sent:count]))
            self.sent = count

    def receive(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise Lost("the service closed the connection")
        self.reader.append(data)
        while body := self.reader.next():
            self.answers.append(body)

    def fileno(self):
        return self.socket.fileno()


class Calls(Worker):
    """Sends calls at a rate over some connections of a host.

    Frames are made before and answers are understood afterwards: the client takes little of the
    processors, which it shares with the service here.
    """

    outlived = True

    def __init__(self, name, rate, frames, host="127.0.0.1"):
        super().__init__(name)
        self.rate, self.frames, self.host, self.streams = rate, frames, host, []
        self.seconds = self.sent = 0  # how long calls were due, and how many were sent
        self.answered_seconds = 0  # from the first call to the last answer

    @staticmethod
    def count(options, rate, connections):
        """The frames that each connection needs for a measurement."""
        return rate * (options.seconds + SPARE_SECONDS) // connections

    @contextlib.contextmanager
    def connected(self, port):
        with contextlib.ExitStack() as stack:
            self.streams = [Stream(port, self.host, frames) for frames in self.frames]
            for stream in self.streams:
                stack.enter_context(stream.socket)
            began = time.monotonic()
            yield began
            end = time.monotonic() + SOCKET_SECONDS
            while time.monotonic() < end and self._answered() < self.sent:
                # The service may read from a client later that sends far more than it may.
                if self._receive(0.1):
                    end = time.monotonic() + SOCKET_SECONDS
            self.answered_seconds = time.monotonic() - began

    def step(self, began):
        self.seconds = time.monotonic() - began
        due = int(self.seconds * self.rate)
        for place, stream in enumerate(self.streams):
            stream.send_up_to(-(-(due - place) // len(self.streams)))
        self.sent = sum(stream.sent for stream in self.streams)
        self._receive(0.005)

    def _receive(self, seconds):
        """Receives what is there; whether something was."""
        ready = select.select(self.streams, [], [], seconds)[0]
        for stream in ready:
            stream.receive()
        return bool(ready)

    def _answered(self):
        return sum(len(stream.answers) for stream in self.streams)

    def statuses(self):
        """What was answered, once it has ended: how often each reason. Raises Failure."""
        self.check_failure()
        if self.sent < LEAST_SENT * self.rate * self.seconds:
            raise Failure(f"only {self.sent} of {self.name} in {self.seconds:.1f} s: the machine is too busy")
        reasons = collections.Counter()
        for stream in self.streams:
            for body in stream.answers:
                status = feed.ServerFrame.FromString(body).status
                self.check(status)
                reasons[status.reason] += 1
        if sum(reasons.values()) != self.sent:
            raise Failure(f"{self.sent} of {self.name} got {sum(reasons.values())} answers")
        return reasons

    def check(self, status):
        """Raises Failure where a status is not what it has to be."""


def load(options, port, *flags):
    """One run of loadgen, whose audit has to pass; its report."""
    return loadgen.run(
        options.binaries, "--target", f"127.0.0.1:{port}", "--clients", 50, "--threads", 1, "--mix", MIX,
        "--warmup", 1, "--duration", f"{options.seconds}s", *flags)


def p99s(options, port, *flags):
    """The p99 of votes and pages in milliseconds, and how busy the processors were; of which there were too
    few, that has no p99."""
    told = load(options, port, *flags)
    found = {name: told["ops"][operation]["response_ms"]["p99"] for name, operation in NAMES.items()
             if "p99" in told["ops"].get(operation, {}).get("response_ms", {})}
    return found, told.get("cpu", {}).get("busy_share") or 0


def share_of_capacity(options, port, share, *flags):
    """A rate: a share of the requests a second that the service can do."""
    return max(1, int(share * load(options, port, *flags)["requests_per_second"]))


def compared(options, port, name, beside, say, *flags):
    """The rounds, as pairs of the p99 without and with what `beside` makes, their ratios, and the answers of that."""
    pairs, answers = [], collections.Counter()
    for number in range(options.rounds):
        before, busy_before = p99s(options, port, *flags)
        worker = beside()
        worker.start(port)
        try:
            worker.await_connected()
            after, busy = p99s(options, port, *flags)
        finally:
            worker.stop()
        told = worker.answers()
        answers.update(told)
        pairs.append((before, after))
        say(f"round {number + 1}: p99 in ms {before} without, {after} with {dict(told)}; "
            f"processors {busy_before:.0%} and {busy:.0%} busy")
    found = ratios(pairs)
    say(f"beside {name}, with ÷ without: {found}")
    return {"ratios": found, "rounds": pairs, "answers": answers}


def ratios(pairs):
    """With ÷ without, of each kind: the median of the rounds."""
    return {kind: round(statistics.median(after[kind] / before[kind] for before, after in pairs), 3)
            for kind in NAMES if all(kind in p99 for pair in pairs for p99 in pair)}


def check(options, name, found, kinds=tuple(NAMES)):
    """Raises Failure where votes or pages took too much longer."""
    for kind in kinds:
        if kind not in found:
            raise Failure(f"{name}: too few {kind} for a percentile")
        if found[kind] > options.factor:
            raise Failure(f"{name}: the p99 of {kind} is {found[kind]} times as long, over {options.factor}")
