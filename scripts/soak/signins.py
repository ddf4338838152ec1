"""Sign-ins at 1,000 a second, on one account and on many, beside votes and pages.

Passwords are hashed on one thread of the lowest priority, and most sign-ins are refused without a hash.
So votes and pages at a quarter of the service's capacity take no longer than without the sign-ins.
"""

import collections
import contextlib
import random
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
from wire import Lost, framed
from worker import Worker

CONNECTIONS = 16
MIX = "vote=90,list=10"
LEAST_SENT = 0.9    # of the sign-ins that are due
FLOODS = ("one", "many")
SOCKET_SECONDS = 10
# Of sign-ins with wrong passwords; any other answer is a fault.
REASONS = {"BAD_CREDENTIALS", "RATE_LIMITED", "OVERLOADED", "DEADLINE_EXCEEDED"}


def add_flags(parser):
    parser.add_argument("--rate", type=flags.count, default=1000, help="sign-ins a second")
    parser.add_argument("--accounts", type=flags.count, default=100_000, help="of many accounts")
    parser.add_argument("--seconds", type=flags.count, default=10, help="of each measurement")
    parser.add_argument("--rounds", type=flags.count, default=3,
                        help="without and with sign-ins; the median of their ratios counts")
    parser.add_argument("--factor", type=float, default=1.5,
                        help="the p99 of votes and pages may be so many times as long")


class SignIns(Worker):
    """Sign-ins with wrong passwords, at a rate, over some connections; counts what is answered."""

    outlived = True

    def __init__(self, rate, accounts):
        super().__init__("the sign-ins")
        self.rate, self.accounts = rate, accounts
        self.random = random.Random(accounts)
        self.sent, self.seconds, self.reasons = 0, 0, collections.Counter()
        self.sockets, self.pending = [], {}

    @contextlib.contextmanager
    def connected(self, port):
        with contextlib.ExitStack() as stack:
            self.sockets = [
                stack.enter_context(socket.create_connection(("127.0.0.1", port), SOCKET_SECONDS))
                for _ in range(CONNECTIONS)]
            self.pending = dict.fromkeys(self.sockets, b"")
            yield time.monotonic()

    def step(self, began):
        self.seconds = time.monotonic() - began
        for _ in range(int(self.seconds * self.rate) - self.sent):
            self._send()
        self._receive()

    def _send(self):
        account = f"account-{self.random.randrange(self.accounts)}"
        sign_in = feed.SignInRequest(email=f"{account}@example.org", password="not the password")
        self.sockets[self.sent % CONNECTIONS].sendall(
            framed(self.sent // CONNECTIONS + 1, sign_in=sign_in))
        self.sent += 1

    def _receive(self):
        ready, _, _ = select.select(self.sockets, [], [], 0.002)
        for one in ready:
            received = one.recv(1 << 16)
            if not received:
                raise Lost("the service closed the connection")
            data = self.pending[one] + received
            while len(data) >= 4 and len(data) >= (end := 4 + struct.unpack(">I", data[:4])[0]):
                self.reasons[feed.ServerFrame.FromString(data[4:end]).status.reason] += 1
                data = data[end:]
            self.pending[one] = data

    def answers(self):
        """What was answered, once it has ended. Raises Failure."""
        self.check_failure()
        if self.sent < LEAST_SENT * self.rate * self.seconds:
            raise Failure(f"only {self.sent} sign-ins were sent in {self.seconds:.1f} s: the machine "
                          "is too busy")
        if "" in self.reasons:
            raise Failure("a sign-in with a wrong password succeeded")
        if not REASONS.issuperset(self.reasons):
            raise Failure(f"sign-ins were answered with {dict(self.reasons)}")
        return {"sent": self.sent, "answers": dict(self.reasons)}


def load(options, port, *flags):
    """One run of loadgen; its report."""
    report = options.output + "/signins-run.json"
    loadgen.finish(loadgen.start(
        options.binaries, port, "--clients", "50", "--threads", "1", "--pipeline", "16",
        "--mix", MIX, "--warmup", "1", "--duration", f"{options.seconds}s", "--json", report, *flags))
    return loadgen.read(report)


def p99s(options, port, rate):
    told = load(options, port, "--rate", str(rate))
    try:
        return {name: told["ops"][operation]["response_ms"]["p99"]
                for name, operation in (("votes", "vote"), ("pages", "list"))}
    except KeyError as error:
        raise Failure(f"too few votes or pages for a percentile: no {error}") from error


def flooded(options, port, rate, accounts):
    """The latencies beside sign-ins on so many accounts, and what these were answered."""
    sign_ins = SignIns(options.rate, accounts)
    sign_ins.start(port)
    try:
        sign_ins.await_connected()
        taken = p99s(options, port, rate)
    finally:
        sign_ins.stop()
    return taken, sign_ins.answers()


def ratios(pairs):
    """With ÷ without, of each kind: the median of the rounds."""
    return {kind: round(statistics.median(after[kind] / before[kind] for before, after in pairs), 2)
            for kind in ("votes", "pages")}


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    with Service(options.binaries, directory + "/data") as service:
        capacity = load(options, service.port)["requests_per_second"]
        rate = max(1, int(capacity / 4))
        piece = {"rate": rate, "signins": 0}
        for name, accounts in zip(FLOODS, (1, options.accounts)):
            pairs = []
            for number in range(options.rounds):
                before = p99s(options, service.port, rate)
                after, answers = flooded(options, service.port, rate, accounts)
                pairs.append((before, after))
                say(f"{name}, round {number + 1}: {before} without, {after} with {answers}")
            piece[name] = {"ratios": ratios(pairs), "rounds": pairs, **answers}
            piece["signins"] += answers["sent"]
            say(f"{name}: {piece[name]['ratios']}")
        service.stop()
    check(options, piece)
    return piece


def check(options, piece):
    """Raises Failure where votes or pages took too much longer."""
    for name in FLOODS:
        for kind, ratio in piece[name]["ratios"].items():
            if ratio > options.factor:
                raise Failure(f"sign-ins on {name} account{'s' * (name == 'many')}: the p99 of "
                              f"{kind} is {ratio} times as long, over {options.factor}")


def run(options, say):
    tally = once.run("signins", live_through, options, say)
    counts = [("runs", len(tally.pieces)), ("sign-ins beside the last rounds", tally.sum("signins"))]
    return tally, counts, True
