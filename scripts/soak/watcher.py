"""What an operator sees of a service: its log, /ready and /metrics, each with the time when it was seen."""

import fcntl
import http.client
import os
import re
import select
import tempfile
import threading
import time

from judge import Sample

SCRAPE_SECONDS = 0.5
PIPE_BYTES = 4096
LINE = re.compile(r"^(\S+) (\S+)$")


class Pipe:
    """Standard error of a service as a small pipe, which can be left unread. What is read goes into a file."""

    def __init__(self):
        self.file, self.lines, self.reads = tempfile.TemporaryFile("w+"), [], threading.Event()
        self.reads.set()
        self.end, self.theirs = os.pipe()
        fcntl.fcntl(self.theirs, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        threading.Thread(target=self._run, daemon=True).start()

    def fileno(self):
        return self.theirs

    def fill(self):
        """From now on it is not read, and full."""
        self.reads.clear()
        # The thread still waits for bytes, which it takes.
        while select.select([], [self.theirs], [], 0.2)[1]:
            os.write(self.theirs, b" " * (PIPE_BYTES - 1) + b"\n")

    def close(self):
        """It ends once the service has ended, too."""
        os.close(self.theirs)

    def _run(self):
        rest = b""
        while True:
            self.reads.wait()
            data = os.read(self.end, PIPE_BYTES)
            if not data:
                os.close(self.end)
                return
            now = time.monotonic()
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                self.lines.append((now, line.decode()))
            if not self.file.closed:
                self.file.write(data.decode(errors="replace"))
                self.file.flush()


def values(page):
    """The values of a page of metrics."""
    found = (LINE.match(line) for line in page.splitlines() if not line.startswith("#"))
    return {match.group(1): float(match.group(2)) for match in found if match}


class Watcher:
    """Asks the operator's address in a thread, until the `with` block ends."""

    def __init__(self, port):
        self.port, self.samples, self.stopping = port, [], threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def _run(self):
        while not self.stopping.wait(SCRAPE_SECONDS):
            try:
                status, text = self.get("/ready")
                page = values(self.get("/metrics")[1])
            except OSError as error:
                status, text, page = 0, str(error), {}
            self.samples.append(Sample(time.monotonic(), status, text, page))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
