"""TLS handshakes at 500 a second, and 10,000 that are never finished, beside votes and pages over TLS.

Handshakes have little time in each loop iteration, and few may be under way. So votes and pages at half of the
service's capacity take at most twice as long as without them, and a half handshake gets nothing.
"""

import contextlib
import os
import select
import socket
import ssl
import subprocess
import threading
import time

import beside
import flags
import feed_pb2 as feed
import once
from service import Failure, Service
from wire import framed

HOST = "127.0.0.2"  # of the handshakes; the load is of another
# The clients of handshakes stand for other machines, and share the processors with the service here.
NICENESS = 10
PIPELINE = ["--pipeline", "16"]
# The service gives a handshake ten seconds, and looks after them each second.
LONGEST_SECONDS = 12
# The answer to a ClientHello: the hello, the certificate and what proves it. An answer to a call follows none.
MOST_BYTES = 4096


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


def client_context():
    """A client that does not look at the certificate, which would cost this machine's processors more."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["feed/1"])
    return context


class Connections(beside.Paced):
    """Connections at a rate; a subclass says how one begins, and whether it has ended."""

    def __init__(self, name, rate):
        super().__init__(name, rate)
        self.poller, self.open = None, {}

    @contextlib.contextmanager
    def connected(self, port):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        with select.epoll() as self.poller:
            try:
                yield port, time.monotonic()
                end = time.monotonic() + LONGEST_SECONDS
                while self.open and time.monotonic() < end:
                    self._go_on(0.1)
            finally:
                for one in self.open.values():
                    one.close()

    def step(self, beginning):
        port, began = beginning
        while self.sent < self.due(began):
            one = self.begin(socket.create_connection(
                ("127.0.0.1", port), LONGEST_SECONDS, source_address=(HOST, 0)))
            self.sent += 1
            # The service may have answered all of it already, and would say nothing more.
            if self.has_ended(one):
                one.close()
                continue
            self.open[one.fileno()] = one
            self.poller.register(one, select.EPOLLIN)
        self._go_on(0.002)

    def _go_on(self, seconds):
        for descriptor, _ in self.poller.poll(seconds):
            if self.has_ended(self.open[descriptor]):
                self.open.pop(descriptor).close()

    def check_ended(self):
        """Raises Failure where a connection is open that should not be."""
        self.check_sent()
        if self.open:
            raise Failure(f"{len(self.open)} of {self.name} have no end after {LONGEST_SECONDS} s")


class Handshakes(Connections):
    """Whole handshakes, each with one call, for which it has to be done on both sides."""

    CALL = framed(1, ping=feed.PingRequest())

    def __init__(self, rate):
        super().__init__("the handshakes", rate)
        self.context = client_context()

    def begin(self, plain):
        plain.setblocking(False)
        return self.context.wrap_socket(plain, do_handshake_on_connect=False, server_hostname="localhost")

    def has_ended(self, one):
        try:
            if one.version() is None:
                one.do_handshake()
                one.sendall(self.CALL)
            if not one.recv(4096):
                raise Failure("the service closed the connection of a handshake")
            return True
        except ssl.SSLWantReadError:
            return False
        except OSError as error:
            raise Failure(f"a handshake failed: {error}") from error

    def answers(self):
        """How many were done. Raises Failure."""
        self.check_ended()
        return {"handshakes": self.sent}


class HalfHandshakes(Connections):
    """Handshakes that end after the client's first message, or in the middle of it."""

    def __init__(self, rate):
        super().__init__("the half handshakes", rate)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        with contextlib.suppress(ssl.SSLWantReadError):
            client_context().wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
        self.hello, self.received = outgoing.read(), {}

    def begin(self, plain):
        plain.sendall(self.hello if self.sent % 2 else self.hello[:len(self.hello) // 2])
        plain.setblocking(False)
        return plain

    def has_ended(self, one):
        try:
            data = one.recv(1 << 16)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        total = self.received.pop(one, 0) + len(data)
        if total > MOST_BYTES:
            raise Failure(f"a half handshake got {total} bytes")
        if data:
            self.received[one] = total
        return not data

    def answers(self):
        """How many the service has ended. Raises Failure."""
        self.check_ended()
        return {"half handshakes": self.sent}


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    certificate = Certificate(directory)
    secured = ["--tls", "--ca", certificate.path]
    kinds = {"handshakes": lambda: Handshakes(options.rate),
             "half handshakes": lambda: HalfHandshakes(max(1, options.halves // options.seconds))}
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
