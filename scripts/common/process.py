"""Servers as processes that say in their log where they listen, and their certificates."""

import re
import subprocess
import tempfile
import time

LISTENING = r"listening on 127\.0\.0\.1:(\d+)"
STOP_SECONDS = 30


class Failure(RuntimeError):
    """Something that must hold does not."""


class Server:
    """A server as a process; ends with the `with` block, and only it. Its log goes into a file, or through a
    pipe, which keeps it in a file."""

    def __init__(self, command, address=LISTENING, start_seconds=120, pipe=None, wait=True, **options):
        self.name, self.start_seconds = command[0].rpartition("/")[2], start_seconds
        self.log = pipe.file if pipe else tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe or self.log, stderr=subprocess.STDOUT,
            # Not a session of its own: Linux gives each session the same share of the processors, and
            # the lowest thread of one would take from the clients what it must leave to the loops.
            process_group=0, **options)
        self.pid = self.process.pid
        if not wait:
            return
        try:
            self.started(address)
        except BaseException:
            self.kill()
            raise

    def started(self, address):
        """Waits until it listens."""
        self.port = int(self.awaited(address))

    def text(self):
        with open(f"/proc/self/fd/{self.log.fileno()}") as file:
            return file.read()

    def awaited(self, pattern):
        """What the group of the pattern is in its log, once that is there."""
        end = time.monotonic() + self.start_seconds
        while True:
            ended = self.process.poll() is not None  # before the log is read for the last time
            found = re.search(pattern, self.text())
            if found:
                return found.group(1)
            if ended or time.monotonic() > end:
                raise Failure(f"{self.name} did not start, or did not say {pattern}:\n{self.text()}")
            time.sleep(0.005)

    def kill(self):
        """kill -9: nothing is flushed."""
        self.process.kill()
        self.process.wait()
        self.log.close()

    def kill_if_alive(self):
        if self.process.poll() is None:
            self.kill()

    def stop(self):
        """Stops it by SIGTERM, which must end with 0; returns its log."""
        self.process.terminate()
        try:
            status = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure(f"{self.name} did not stop within {STOP_SECONDS} s") from None
        text = self.text()
        self.log.close()
        if status != 0:
            raise Failure(f"{self.name} stopped with {status}:\n{text}")
        return text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill_if_alive()


class Certificate:
    """A certificate of 127.0.0.1 that vouches for itself, and its key, in a directory."""

    def __init__(self, directory):
        self.path, self.key = directory + "/server.pem", directory + "/server.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
             "-keyout", self.key, "-out", self.path], check=True, capture_output=True)
        self.flags = ["--tls-cert", self.path, "--tls-key", self.key]  # of a service
