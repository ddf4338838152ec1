"""The disk that durable servers write to: its file system, its time for a sync, its free room."""

import contextlib
import os
import tempfile
import time

IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs"}
APPEND_BYTES = 4096
WARMUP_APPENDS = 20


def mount_of(path, table="/proc/self/mountinfo"):
    """The type of the file system that holds a path, and the device that it is mounted from."""
    path = os.path.realpath(path)
    longest, found = -1, ("unknown", "unknown")
    with open(table) as file:
        for line in file:
            before, _, after = line.partition(" - ")
            # Spaces and the like stand there as octal numbers.
            point = before.split()[4].encode().decode("unicode_escape")
            holds = path == point or path.startswith(point.rstrip("/") + "/")
            if holds and len(point) >= longest:  # of two on one point the later one hides the other
                longest, found = len(point), tuple(after.split()[:2])
    return found


@contextlib.contextmanager
def directory(options):
    """A directory for one server's files, on a real disk, which is gone afterwards."""
    os.makedirs(options.disk, exist_ok=True)
    kind, _ = mount_of(options.disk)
    if kind in IN_MEMORY:
        raise RuntimeError(f"--disk: {options.disk} is a {kind}, which syncs nothing: name a "
                           "directory on a disk")
    with tempfile.TemporaryDirectory(prefix="compare-", dir=options.disk) as path:
        yield path


def describe(options):
    kind, source = mount_of(options.disk)
    return {"file_system": kind, "device": source}


def syncs(options, appends):
    """The seconds of each append of 4 KiB to a file written beforehand, with its fdatasync."""
    taken = []
    block = b"\xa5" * APPEND_BYTES
    with directory(options) as path:
        descriptor = os.open(path + "/appended", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # As the journal has it: with blocks of zeros, so that a sync changes no metadata.
            for number in range(appends + WARMUP_APPENDS):
                os.pwrite(descriptor, bytes(APPEND_BYTES), number * APPEND_BYTES)
            os.fsync(descriptor)
            for number in range(appends + WARMUP_APPENDS):
                started = time.perf_counter()
                os.pwrite(descriptor, block, number * APPEND_BYTES)
                os.fdatasync(descriptor)
                taken.append(time.perf_counter() - started)
        finally:
            os.close(descriptor)
    return taken[WARMUP_APPENDS:]


def percentile(values, share):
    """The least value that so large a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(share * 10_000) // 10_000) - 1)]


def summary(taken):
    """The figures of many syncs that are printed and kept."""
    return {"appends": len(taken), "p50_ms": percentile(taken, 0.5) * 1e3,
            "p99_ms": percentile(taken, 0.99) * 1e3, "max_ms": max(taken) * 1e3}


def sentence(found, about):
    return (f"The files are on {about['file_system']}; of {found['appends']:,} appends of 4 KiB to a "
            f"prepared file, with fdatasync, p50 was {found['p50_ms']:.2f} ms, p99 "
            f"{found['p99_ms']:.2f} ms and the longest {found['max_ms']:.2f} ms.")
