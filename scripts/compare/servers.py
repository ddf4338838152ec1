"""Starts the servers that are compared, each on a free port of 127.0.0.1, and stops them."""

import os
import re
import socket
import subprocess
import tempfile
import time

import machine

START_SECONDS = 10
RECOVERY_SECONDS = 120
STOP_SECONDS = 20


def pinned(client):
    """Runs in a child before it starts: servers get the first core, clients the others."""
    available = machine.cores()
    chosen = available[1:] if client else available[:1]

    def pin():
        if len(available) > 1:
            os.sched_setaffinity(0, chosen)

    return pin


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server process: ends with the `with` block, and only it. Unless it is pinned, it shares all
    cores with its clients."""

    def __init__(self, command, address_pattern, start_seconds=START_SECONDS, is_pinned=True):
        self.start_seconds = start_seconds
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
            preexec_fn=pinned(client=False) if is_pinned else None,
            # Not a session: Linux gives each the same share of the processors, whatever is in it.
            process_group=0)
        self.pid = self.process.pid
        try:
            self.port = int(self._await(address_pattern))
        except BaseException:
            self.stop()
            raise

    def _await(self, pattern):
        end = time.monotonic() + self.start_seconds
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(pattern, self.text())
            if found:
                return found.group(1)
            time.sleep(0.005)
        raise RuntimeError(f"{self.process.args[0]} did not start:\n{self.text()}")

    def text(self):
        self.log.flush()
        with open(f"/proc/self/fd/{self.log.fileno()}") as file:
            return file.read()

    def kill(self):
        """As a crash ends it: nothing is flushed."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Certificate:
    """A certificate of 127.0.0.1 that vouches for itself, with a key on a curve, in a directory."""

    def __init__(self, directory):
        self.path, self.key = directory + "/server.pem", directory + "/server.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
             "-days", "2", "-keyout", self.key, "-out", self.path],
            check=True, capture_output=True)


class Floor(Server):
    """A server that echoes the bytes that it receives; with a certificate, over TLS. With a file of the
    service's answers it gives these."""

    def __init__(self, tools, certificate=None, answers=None):
        files = [] if certificate is None else ["0", certificate.path, certificate.key]
        files = files if answers is None else ["0", answers]
        super().__init__([tools.floor + "/echo", *files], r"listening on 127\.0\.0\.1:(\d+)")


class Service(Server):
    """The service, on one thread; in memory, or durable in a directory with each commit synced. With a
    certificate it speaks TLS. A watched one has an operator's address."""

    def __init__(self, tools, directory=None, is_pinned=True, certificate=None, is_watched=False):
        self.admin_port = free_port() if is_watched else None
        watched = ["--admin", f"127.0.0.1:{self.admin_port}"] if is_watched else []
        kept = ["--in-memory"] if directory is None else [
            "--data-dir", directory + "/feed-data", "--durability", "fsync"]
        super().__init__(
            [tools.binaries + "/feed-service", "--threads", "1", *self._listen(certificate), *kept,
             *watched],
            r"listening on 127\.0\.0\.1:(\d+)",
            START_SECONDS if directory is None else RECOVERY_SECONDS, is_pinned)

    @staticmethod
    def _listen(certificate):
        if certificate is None:
            return ["--listen", "127.0.0.1:0"]
        return ["--listen-tls", "127.0.0.1:0", "--tls-cert", certificate.path,
                "--tls-key", certificate.key]


class Redis(Server):
    """redis-server, and a connection to it; without persistence, or with its log in a directory,
    synced as `appendfsync` says. With a certificate its port for votes is one with TLS."""

    def __init__(self, _, directory=None, appendfsync=None, certificate=None):
        port = free_port()
        kept = ["--appendonly", "no"] if directory is None else [
            "--appendonly", "yes", "--appendfsync", appendfsync, "--dir", directory]
        super().__init__(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
             "--tcp-backlog", "4096", *kept, *self._tls(certificate)],
            rf"Running mode=standalone, port=({port})[\s\S]*Ready to accept")
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.input = self.connection.makefile("rb")
        if certificate is not None:
            self.port = self.tls_port

    def _tls(self, certificate):
        if certificate is None:
            return []
        self.tls_port = free_port()
        return ["--tls-port", str(self.tls_port), "--tls-cert-file", certificate.path,
                "--tls-key-file", certificate.key, "--tls-ca-cert-file", certificate.path,
                "--tls-auth-clients", "no"]

    def stop(self):
        if hasattr(self, "connection"):
            self.input.close()
            self.connection.close()
        super().stop()

    def call(self, *words):
        """The answer to one command."""
        encoded = [str(word).encode() for word in words]
        request = b"*%d\r\n" % len(encoded)
        request += b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)
        self.connection.sendall(request)
        return self._answer()

    def _answer(self):
        line = self.input.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise RuntimeError("redis: " + rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"*":
            return [self._answer() for _ in range(int(rest))]
        if kind == b"$" and int(rest) >= 0:
            return self.input.read(int(rest) + 2)[:-2].decode()
        return None if kind == b"$" else rest.decode()

    def votes(self):
        """How many votes it has counted."""
        found = re.search(r"cmdstat_zincrby:calls=(\d+)", self.call("INFO", "commandstats"))
        return int(found.group(1)) if found else 0

    def version(self):
        return re.search(r"redis_version:(\S+)", self.call("INFO", "server")).group(1)
