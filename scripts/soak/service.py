"""The durable service as a process: started, killed, verified; and connections to it."""

import re
import socket
import subprocess
import time

import feedclient
from feedclient import Lost, Refused
from process import LISTENING, Failure, Server

VERIFY_SECONDS = 600
TAKEN_SECONDS = 60  # until then a call is sent again; checkpoints are behind for seconds
HASH = r"state hash ([0-9a-f]{16})\b"
REPLAYED_HASH = r"replayed hash ([0-9a-f]{16})\b"
# What a soak that is run notes as its failure.
FAILURES = (Failure, Lost, Refused, OSError, subprocess.SubprocessError)


class Connection(feedclient.Connection):
    """Calls to the service on a port of this machine."""

    def __init__(self, port, timeout=10, source=""):
        super().__init__(f"127.0.0.1:{port}", timeout=timeout, source=source)
        self.port = port


class Patient(Connection):
    """Sends a call again after each temporary refusal."""

    def call(self, **request):
        end = time.monotonic() + TAKEN_SECONDS
        while True:
            try:
                return super().call(**request)
            except Refused as refused:
                if not refused.is_temporary or time.monotonic() > end:
                    raise
                time.sleep(refused.status.retry_after_ms / 1000)


class ReservedPort:
    """A port for a service that is started twice: while that is down, no connection of this machine gets
    it from the system. The service may listen beside it, as both set SO_REUSEADDR."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", 0))

    def __enter__(self):
        return self.socket.getsockname()[1]

    def __exit__(self, *_):
        self.socket.close()


class Service(Server):
    """A service on a data directory; with a certificate, over TLS alone."""

    def __init__(self, binaries, directory, flags=(), port=0, certificate=None, **options):
        self.hash = None
        secured = certificate.flags if certificate else []
        super().__init__(
            [binaries + "/feed-service", "--listen-tls" if certificate else "--listen", f"127.0.0.1:{port}", *secured,
             "--data-dir", directory, "--state-hash", *flags], **options)

    def started(self, address=LISTENING):
        super().started(address)
        self.hash = self.awaited(HASH)

    def kill_in_life(self):
        """kill -9 of a service that must be running."""
        if self.process.poll() is not None:
            raise Failure(f"the service ended by itself, with {self.process.returncode}:\n{self.text()}")
        self.kill()

    def stop(self):
        """Stops it; the hash of its last state."""
        return next(reversed(re.findall(HASH, super().stop())), None)


def count_of(connection, method):
    """How often a method was called since the service started."""
    return sum(one.num_requests for one in connection.stats().methods if one.method == method)


def await_votes(load, port, wanted):
    """Waits until the service has executed so many votes; false where the load ended first."""
    with Connection(port) as connection:
        while load.poll() is None:
            if count_of(connection, "cast_vote") >= wanted:
                return True
            time.sleep(0.02)
    return False


def verify(binaries, directory, replays=False):
    """The state hash that `feed-service verify` finds, also by replaying the whole journal."""
    finished = subprocess.run(
        [binaries + "/feed-service", "verify", *["--replay-all"] * replays, directory],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=VERIFY_SECONDS)
    output = finished.stdout
    found, replayed = re.search(HASH, output), re.search(REPLAYED_HASH, output)
    if found and replayed and found.group(1) != replayed.group(1):
        raise Failure(f"replaying the whole journal gives another state:\n{output}")
    if finished.returncode != 0 or not found or bool(replayed) != replays:
        raise Failure(f"verify ended with {finished.returncode}:\n{output}")
    return found.group(1)
