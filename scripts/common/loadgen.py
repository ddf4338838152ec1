"""The load generator as a process, and its report."""

import contextlib
import json
import subprocess
import tempfile

from process import Failure

LONGEST_SECONDS = 600  # after which it has hung


def start(binaries, *flags, **options):
    return subprocess.Popen(
        [binaries + "/loadgen", *map(str, flags), "--quiet"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


@contextlib.contextmanager
def running(binaries, *flags, **options):
    """A run that ends with the `with` block."""
    with start(binaries, *flags, **options) as process:
        try:
            yield process
        finally:
            process.kill()


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


def run(binaries, *flags, seconds=LONGEST_SECONDS, **options):
    """A whole run; its report."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        finish(start(binaries, *flags, "--json", report.name, **options), seconds=seconds)
        return read(report.name)
