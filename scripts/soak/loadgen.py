"""The load generator as a process, and its report."""

import json
import subprocess
import time

from service import Failure
from wire import Connection

LONGEST_SECONDS = 600  # after which it has hung
POLL_SECONDS = 0.02


def start(binaries, port, *flags):
    return subprocess.Popen(
        [binaries + "/loadgen", *flags, "--target", f"127.0.0.1:{port}", "--quiet"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process, what="loadgen", seconds=LONGEST_SECONDS):
    """Waits for its end, which must be with 0."""
    try:
        output, _ = process.communicate(timeout=seconds)
    finally:
        process.kill()
    if process.returncode != 0:
        raise Failure(f"{what} ended with {process.returncode}:\n{output}")


def read(report):
    with open(report) as file:
        return json.load(file)


def await_votes(process, port, wanted):
    """Waits until the service has executed so many votes; false where loadgen ended first."""
    with Connection(port) as connection:
        while process.poll() is None:
            if connection.count_of("cast_vote") >= wanted:
                return True
            time.sleep(POLL_SECONDS)
    return False
