"""TLS handshakes at a rate, and 10,000 that are never finished, beside votes and pages over TLS.

Handshakes have little time in each loop iteration, and few may be under way. So votes and pages at half of the
service's capacity take at most twice as long as without them, and a half handshake gets no answer to a call.
"""

import collections
import concurrent.futures
import itertools
import time

import beside
import tally
from aside import Aside
from crowd import Crowd
from feedclient import Connection, FeedError, tls_context
from hostile import client_hello, paced
from process import Certificate, Failure
from service import Service

HOST = "127.0.0.2"  # of the handshakes; the load is of another
GROUP = "X25519"  # of half ones, as most clients offer it
PIPELINE = ["--pipeline", 16]
# The clients of handshakes stand for other machines, and share the processors with the service here.
NICENESS = 10
THREADS = 32  # handshakes that are under way at once
LONGEST_SECONDS = 12  # in which the client waits for the end of what it has begun
MOST_LATE_SECONDS = 1  # that a handshake may begin after it is due
MOST_SECONDS = 5  # for a whole handshake and its call
MOST_BYTES = 4096  # that half a handshake is worth

# What a client has come to: handshakes that were begun and that ended as they should, the seconds of all, the
# longest of one and of being late, and the first fault.
Told = collections.namedtuple("Told", "begun ended seconds longest most_late fault")
COUNTS = [("runs", ""), *((name, name) for name in ("handshakes", "half handshakes"))]  # of the summary


def add_flags(parser):
    parser.add_argument("--rate", type=tally.count, default=200, help="handshakes a second")
    parser.add_argument("--halves", type=tally.count, default=10_000, help="half handshakes in each measurement")
    beside.add_flags(parser, rounds=5, factor=2, whose="votes and pages")


def whole(port, rate, authority, stopping):
    """Handshakes at a rate, each with a Ping, until it is stopped."""
    context, took, late, faults = tls_context(authority), [], [], []

    def handshake(due):
        start = time.monotonic()
        late.append(start - due)
        try:
            with Connection(f"127.0.0.1:{port}", tls=context, timeout=LONGEST_SECONDS, source=HOST) as one:
                one.ping()
            took.append(time.monotonic() - start)
        except FeedError as error:
            faults.append(str(error))

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
        for number in itertools.count():
            due = began + number / rate
            if stopping.wait(max(0, due - time.monotonic())):
                break
            threads.submit(handshake, due)
        seconds = time.monotonic() - began
    return Told(len(late), len(took), seconds, max(took, default=0), max(late, default=0),
                faults[0] if faults else "")


def halves(port, rate, stopping):
    """Handshakes at a rate of which only the first message is sent, until it is stopped. Each has to be ended by
    the service within LONGEST_SECONDS, with no more than its part of a handshake in answer."""
    crowd, hello, begun, late = Crowd(), client_hello(GROUP), [], 0
    began = time.monotonic()
    for number in paced(rate, stopping, crowd):
        late = max(late, time.monotonic() - began - number / rate)
        begun.append(crowd.connect(port, HOST))
        crowd.send(begun[-1], hello)
    seconds, end = time.monotonic() - began, time.monotonic() + LONGEST_SECONDS
    while crowd.peers and time.monotonic() < end:
        crowd.read(0.1)
    fault = f"{len(crowd.peers)} have no end after {LONGEST_SECONDS} s" if crowd.peers else ""
    if any(peer and peer.received > MOST_BYTES for peer in begun):
        fault = "one got more than an answer to its half"
    ended = len(begun) - len(crowd.peers)
    crowd.close()
    return Told(len(begun), ended, seconds, 0, late, fault)


class Handshakes:
    """Handshakes beside a load, by a client in a process of its own; `name` says which."""

    def __init__(self, name, rate, client, *arguments):
        self.name, self.rate, self.client, self.arguments = name, rate, client, arguments

    def start(self, port):
        self.aside = Aside(self.client, port, self.rate, *self.arguments, niceness=NICENESS)

    def await_connected(self):
        """It begins at once."""

    def stop(self):
        """Lets it begin no more, and waits until all have ended, or should have."""
        self.told = self.aside.stop()

    def answers(self):
        """How many have ended as they should. Raises Failure."""
        check(self.name, self.rate, self.told)
        return {self.name: self.told.ended}


def check(name, rate, told):
    """Raises Failure where handshakes were not at their rate, or have not ended as they should."""
    if told.fault:
        raise Failure(f"{told.begun - told.ended} of the {name} failed: {told.fault}")
    if told.begun < beside.LEAST_SENT * rate * told.seconds:
        raise Failure(f"only {told.begun} of the {name} in {told.seconds:.1f} s: the machine is too busy")
    if told.most_late > MOST_LATE_SECONDS:
        raise Failure(f"one of the {name} began {told.most_late:.1f} s late: the machine is too busy")
    if told.longest > MOST_SECONDS:
        raise Failure(f"one of the {name} took {told.longest:.1f} s, over {MOST_SECONDS}")


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    certificate = Certificate(directory)
    secured = ["--tls", "--ca", certificate.path]
    half_rate = max(1, options.halves // options.seconds)
    kinds = {"handshakes": lambda: Handshakes("handshakes", options.rate, whole, certificate.path),
             "half handshakes": lambda: Handshakes("half handshakes", half_rate, halves)}
    piece = {}
    with Service(options.binaries, directory + "/data", certificate=certificate) as service:
        # With one call in flight a connection, each call is a read and a write of its own, as at a rate.
        piece["rate"] = beside.share_of_capacity(options, service.port, 0.5, *secured)
        for name, begin in kinds.items():
            found = beside.compared(options, service.port, name, begin, say, *PIPELINE, *secured,
                                    "--rate", piece["rate"])
            piece[name + " rounds"], piece[name + " ratios"] = found["rounds"], found["ratios"]
            piece.update(found["answers"])
        service.stop()
    for name in kinds:
        beside.check(options, f"beside {name}", piece[name + " ratios"])
    return piece
