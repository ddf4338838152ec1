"""The durable service as a process: started, killed, verified."""

import re
import socket
import subprocess
import tempfile
import time

START_SECONDS = 120
STOP_SECONDS = 30
VERIFY_SECONDS = 600
HASH = r"state hash ([0-9a-f]{16})\b"
REPLAYED_HASH = r"replayed hash ([0-9a-f]{16})\b"


class Failure(Exception):
    """Something that must hold does not."""


class ReservedPort:
    """A port for a service that is started twice: while that is down, no connection of this machine gets
    it from the system. The service may listen beside it, as both set SO_REUSEADDR."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", 0))
        self.number = self.socket.getsockname()[1]

    def __enter__(self):
        return self.number

    def __exit__(self, *_):
        self.socket.close()


class Service:
    """A service on a data directory, or in memory where that is None; with a certificate, over TLS alone.
    Ends with the `with` block, and only it. Its log goes into a file, or through a pipe."""

    def __init__(self, binaries, directory, flags=(), port=0, wait=True, environment=None,
                 certificate=None, pipe=None):
        secured = ["--tls-cert", certificate.path, "--tls-key", certificate.key] if certificate else []
        self.log = pipe.file if pipe else tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [binaries + "/feed-service", "--listen-tls" if certificate else "--listen",
             f"127.0.0.1:{port}", *secured,
             *(["--data-dir", directory] if directory else ["--in-memory"]), "--state-hash", *flags],
            stdin=subprocess.DEVNULL, stdout=pipe or self.log, stderr=subprocess.STDOUT,
            # Not a session of its own: Linux gives each session the same share of the processors, and
            # the lowest thread of one would take from the clients what it must leave to the loops.
            process_group=0, env=environment)
        if not wait:
            return
        try:
            self.port = int(self._await(r"listening on 127\.0\.0\.1:(\d+)"))
            self.hash = self._await(HASH) if directory else None
        except BaseException:
            self.kill()
            raise

    def text(self):
        with open(f"/proc/self/fd/{self.log.fileno()}") as file:
            return file.read()

    def _await(self, pattern):
        end = time.monotonic() + START_SECONDS
        while True:
            ended = self.process.poll() is not None  # before the log is read for the last time
            found = re.search(pattern, self.text())
            if found:
                return found.group(1)
            if ended or time.monotonic() > end:
                raise Failure(f"the service did not start, or did not say {pattern}:\n{self.text()}")
            time.sleep(0.005)

    def kill(self):
        """kill -9: nothing is flushed."""
        self.process.kill()
        self.process.wait()
        self.log.close()

    def kill_in_life(self):
        """kill -9 of a service that must be running."""
        if self.process.poll() is not None:
            raise Failure(f"the service ended by itself, with {self.process.returncode}:\n"
                          f"{self.text()}")
        self.kill()

    def kill_if_alive(self):
        if self.process.poll() is None:
            self.kill()

    def stop(self):
        """Stops the service by SIGTERM, which must end with 0; returns the hash of its last state."""
        self.process.terminate()
        try:
            status = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"the service did not stop within {STOP_SECONDS} s") from None
        text = self.text()
        self.log.close()
        if status != 0:
            raise Failure(f"the service stopped with {status}:\n{text}")
        return next(reversed(re.findall(HASH, text)), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill_if_alive()


def verify(binaries, directory, replays=False):
    """The state hash that `feed-service verify` finds, also by replaying the whole journal."""
    finished = subprocess.run(
        [binaries + "/feed-service", "verify", *["--replay-all"] * replays, directory],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=VERIFY_SECONDS)
    output = finished.stdout + finished.stderr
    found, replayed = re.search(HASH, output), re.search(REPLAYED_HASH, output)
    if found and replayed and found.group(1) != replayed.group(1):
        raise Failure(f"replaying the whole journal gives another state:\n{output}")
    if finished.returncode != 0 or not found or bool(replayed) != replays:
        raise Failure(f"verify ended with {finished.returncode}:\n{output}")
    return found.group(1)
