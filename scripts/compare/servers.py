"""Starts the servers that are compared, each on a free port of 127.0.0.1, and ends them."""

import ctypes
import functools
import os
import re
import signal
import socket

import machine
from process import LISTENING, Server

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def pin(client):
    """Servers get the first core, clients the others."""
    available = machine.cores()
    if len(available) > 1:
        os.sched_setaffinity(0, available[1:] if client else available[:1])


def prepared(client, is_pinned=True):
    """Runs in a child before it starts: the child ends with this process, whatever ends that."""
    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if is_pinned:
            pin(client)

    return prepare


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Compared(Server):
    """A server that is compared. Unless it is pinned, it shares all cores with its clients."""

    def __init__(self, command, address=LISTENING, is_pinned=True):
        super().__init__(command, address, preexec_fn=prepared(client=False, is_pinned=is_pinned))


class Floor(Compared):
    """A server that echoes the bytes that it receives. With a file of the service's answers it gives these."""

    def __init__(self, options, answers=None):
        super().__init__([options.floor + "/echo", "0", *[answers] * bool(answers)])


class Service(Compared):
    """The service, on one thread; in memory, or durable in a directory with each commit synced."""

    def __init__(self, options, directory=None, is_pinned=True):
        kept = ["--data-dir", directory + "/feed-data", "--durability", "fsync"] if directory else ["--in-memory"]
        super().__init__([options.binaries + "/feed-service", "--threads", "1", "--listen", "127.0.0.1:0", *kept],
                         is_pinned=is_pinned)


class Redis(Compared):
    """redis-server, and a connection to it; without persistence, or with its log in a directory,
    synced as `appendfsync` says."""

    def __init__(self, _, directory=None, appendfsync=None):
        port = free_port()
        kept = ["--appendonly", "yes", "--appendfsync", appendfsync, "--dir", directory] if directory \
            else ["--appendonly", "no"]
        super().__init__(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--tcp-backlog", "4096", *kept],
            rf"Running mode=standalone, port=({port})[\s\S]*Ready to accept")

    @functools.cached_property
    def connection(self):
        return socket.create_connection(("127.0.0.1", self.port)).makefile("rwb")

    def call(self, *words):
        """The answer to one command."""
        encoded = [str(word).encode() for word in words]
        self.connection.write(b"*%d\r\n" % len(encoded))
        self.connection.writelines(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)
        self.connection.flush()
        return self._answer()

    def _answer(self):
        line = self.connection.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind in (b"-", b""):
            raise RuntimeError("redis: " + (rest.decode() or "it closed the connection"))
        if kind == b":":
            return int(rest)
        if kind == b"*":
            return [self._answer() for _ in range(int(rest))]
        if kind == b"$" and int(rest) >= 0:
            return self.connection.read(int(rest) + 2)[:-2].decode()
        return None if kind == b"$" else rest.decode()

    def votes(self):
        """How many votes it has counted."""
        found = re.search(r"cmdstat_zincrby:calls=(\d+)", self.call("INFO", "commandstats"))
        return int(found.group(1)) if found else 0

    def version(self):
        return re.search(r"redis_version:(\S+)", self.call("INFO", "server")).group(1)
