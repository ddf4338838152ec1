"""TLS handshakes at 500 a second, and 10,000 that are never finished, beside votes and pages over TLS.

Handshakes have little time in each loop iteration, and few may be under way. So votes and pages at half of the
service's capacity take at most twice as long as without them, and a half handshake gets no answer to a call.
"""

import glob
import json
import os
import subprocess

import beside
import flags
import feed_pb2 as feed
import once
from service import Failure, Service
from wire import framed

HOST = "127.0.0.2"  # of the handshakes; the load is of another
PIPELINE = ["--pipeline", "16"]
# The clients of handshakes stand for other machines, and share the processors with the service here.
NICENESS = 10
LONGEST_SECONDS = 12  # in which the client waits for the end of what it has begun
MOST_LATE_SECONDS = 1  # that a handshake may begin after it is due
MOST_SECONDS = 5  # for a whole handshake and its call


def add_flags(parser):
    parser.add_argument("--rate", type=flags.count, default=500, help="handshakes a second")
    parser.add_argument("--halves", type=flags.count, default=10_000, help="half handshakes in each measurement")
    beside.add_flags(parser, rounds=5, factor=2, whose="votes and pages")


class Certificate:
    """A certificate of 127.0.0.1 that vouches for itself, and its key, in a directory."""

    def __init__(self, directory):
        self.path, self.key = directory + "/server.pem", directory + "/server.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
             "-keyout", self.key, "-out", self.path], check=True, capture_output=True)


class Handshakes:
    """Handshakes at a rate beside a load, whole ones or half ones, by the client in `tls`.

    It takes less than half of the processor time of a client that has OpenSSL make its handshakes.
    """

    def __init__(self, client, rate, kind="whole"):
        self.rate, self.kind, self.process = rate, kind, None
        self.name = "handshakes" if kind == "whole" else "half handshakes"
        self.command = ["nice", "-n", str(NICENESS), client, kind]
        self.flags = [HOST, str(rate)]
        if kind == "whole":
            self.flags.append(framed(1, ping=feed.PingRequest()).hex())

    def start(self, port):
        self.process = subprocess.Popen(
            [*self.command, str(port), *self.flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def await_connected(self):
        """It begins at once."""

    def stop(self):
        """Lets it begin no more, and waits until all have ended, or should have."""
        self.process.stdin.close()
        try:
            self.process.wait(2 * LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def answers(self):
        """How many have ended as they should. Raises Failure."""
        with self.process.stdout as told, self.process.stderr as fault:
            if self.process.returncode != 0:
                raise Failure(f"the {self.name}: {fault.read().strip() or self.process.returncode}")
            told = json.load(told)
        self.check(told)
        return {self.name: told["ended"]}

    def check(self, told):
        """Raises Failure where they were not at their rate, or have not ended in time."""
        if told["begun"] < beside.LEAST_SENT * self.rate * told["seconds"]:
            raise Failure(f"only {told['begun']} of the {self.name} in {told['seconds']:.1f} s: "
                          "the machine is too busy")
        if told["most_late_seconds"] > MOST_LATE_SECONDS:
            raise Failure(f"one of the {self.name} began {told['most_late_seconds']:.1f} s late: "
                          "the machine is too busy")
        if told["open"]:
            raise Failure(f"{told['open']} of the {self.name} have no end after {LONGEST_SECONDS} s")
        if self.kind == "whole" and told["longest_seconds"] > MOST_SECONDS:
            raise Failure(f"one of the {self.name} took {told['longest_seconds']:.1f} s, over {MOST_SECONDS}")


def built_client(directory):
    """Compiles the client of handshakes; its path."""
    client = directory + "/handshakes"
    sources = glob.glob(os.path.dirname(__file__) + "/tls/*.c")
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", client, *sources, "-lcrypto"], check=True)
    return client


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    certificate = Certificate(directory)
    secured = ["--tls", "--ca", certificate.path]
    client = built_client(directory)
    kinds = {"handshakes": lambda: Handshakes(client, options.rate),
             "half handshakes": lambda: Handshakes(client, max(1, options.halves // options.seconds), "half")}
    piece = {}
    with Service(options.binaries, directory + "/data", certificate=certificate) as service:
        # With one call in flight a connection, each call is a read and a write of its own, as at a rate.
        capacity = beside.load(options, service.port, *secured)["requests_per_second"]
        piece["rate"] = max(1, int(capacity / 2))
        for name, begin in kinds.items():
            pairs, answers = beside.rounds(options, service.port, begin, say, *PIPELINE, *secured,
                                           "--rate", str(piece["rate"]))
            piece[name + " rounds"], piece[name + " ratios"] = pairs, beside.ratios(pairs)
            piece.update(answers)
            say(f"beside {name}, with ÷ without: {piece[name + ' ratios']}")
        service.stop()
    for name in kinds:
        beside.check(options, f"beside {name}", piece[name + " ratios"])
    return piece


def run(options, say):
    tally = once.run("handshakes", live_through, options, say)
    counts = [("runs", len(tally.pieces))]
    counts += [(name, tally.sum(name)) for name in ("handshakes", "half handshakes")]
    return tally, counts, True
