"""TLS handshakes at 500 a second, and 10,000 that are never finished, beside votes and pages over TLS.

Handshakes have little time in each loop iteration, and few may be under way. So votes and pages at half of the
service's capacity take at most twice as long as without them, and a half handshake gets nothing.
"""

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
LONGEST_SECONDS = 12  # in which the client waits for the end of what it has begun


def add_flags(parser):
    parser.add_argument("--rate", type=flags.count, default=500, help="handshakes a second")
    parser.add_argument("--halves", type=flags.count, default=10_000, help="half handshakes in each measurement")
    beside.add_flags(parser, rounds=3, factor=2, whose="votes and pages")


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

    Clients stand for other machines, and share the processors with the service here. So theirs looks at no
    certificate, and takes less than half of the processor time of one with OpenSSL.
    """

    def __init__(self, client, rate, kind="whole"):
        self.rate, self.process = rate, None
        self.name = "the handshakes" if kind == "whole" else "the half handshakes"
        self.command = [client, kind, None, HOST, str(rate)]
        if kind == "whole":
            self.command.append(framed(1, ping=feed.PingRequest()).hex())

    def start(self, port):
        self.command[2] = str(port)
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def await_connected(self):
        """It begins at once."""

    def stop(self):
        """Lets it begin no more, and waits until all have ended, or should have."""
        self.process.stdin.close()
        self.process.wait()

    def answers(self):
        """How many have ended as they should. Raises Failure."""
        with self.process.stdout as told, self.process.stderr as fault:
            if self.process.returncode != 0:
                raise Failure(f"{self.name}: {fault.read().strip()}")
            told = json.load(told)
        if told["begun"] < beside.LEAST_SENT * self.rate * told["seconds"]:
            raise Failure(f"only {told['begun']} of {self.name} in {told['seconds']:.1f} s: the machine is too busy")
        if told["open"]:
            raise Failure(f"{told['open']} of {self.name} have no end after {LONGEST_SECONDS} s")
        return {self.name.removeprefix("the "): told["ended"]}


def built_client(directory):
    """Compiles the client of handshakes; its path."""
    client, sources = directory + "/handshakes", os.path.dirname(__file__) + "/tls/"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", client,
                    *(sources + name for name in ("handshakes.c", "client.c", "keys.c")), "-lcrypto"], check=True)
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
