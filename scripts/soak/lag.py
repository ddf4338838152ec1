"""Votes at full speed while the syncs of state.db are slow, and while they stand still.

No client waits for the slow disk longer than a commit is put off: Ping and reads are answered in time, and each
vote is counted, or refused with a time to wait. Once the disk is quick again, everything is as before.
"""

import json
import os
import subprocess
import time

import loadgen
import machine
import tally
from aside import Worker
from process import Failure
from service import Connection, Service, await_votes

PAUSE_SECONDS = 0.002  # between two probes
# By how many milliseconds a sync takes longer: as --sync-ms says, for an hour, and not at all.
PHASES = {"slow": None, "still": 3_600_000, "quick": 0}
LET_IN_BYTES = 64 << 20  # what may be let in before the limit is noticed, and to spare
COUNTS = [("runs", ""), ("votes found counted once", "votes")]  # of the summary


def add_flags(parser):
    parser.add_argument("--seconds", type=tally.count, default=30,
                        help="of each phase: slow syncs, none at all, quick ones")
    parser.add_argument("--sync-ms", type=tally.count, default=100,
                        help="a slow sync takes longer by")
    parser.add_argument("--within-ms", type=float, default=50,
                        help="p99.9 of Ping and reads, on a quiet machine")
    parser.add_argument("--posts", type=tally.count, default=100_000)
    parser.add_argument("--clients", type=tally.count, default=50)
    parser.add_argument("--pipeline", type=tally.count, default=64)


class Probe(Worker):
    """Ping and GetPost, one after the other, on a connection of their own; how long each took."""

    outlived = True

    def __init__(self):
        super().__init__("the probe")
        self.phase, self.times = None, {}

    def step(self, connection):
        phase, began = self.phase, time.monotonic()
        connection.ping()
        middle = time.monotonic()
        connection.get_post(1)
        ended = time.monotonic()
        if phase is not None and phase == self.phase:
            self.times.setdefault(phase, []).extend([middle - began, ended - middle])
        time.sleep(PAUSE_SECONDS)

    def milliseconds(self, phase, share):
        ordered = sorted(self.times.get(phase, [0.0]))
        return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def journal(port):
    with Connection(port, timeout=60) as connection:
        return connection.stats().journal


def preloaded(directory, path):
    """The environment of a service with slow syncs of files with such a path, and what sets their milliseconds."""
    library, delay = directory + "/slow_sync.so", directory + "/milliseconds"
    source = os.path.join(os.path.dirname(__file__), "slow_sync.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)

    def set_delay(milliseconds):
        with open(delay + ".new", "w") as file:
            file.write(str(milliseconds))
        os.rename(delay + ".new", delay)

    set_delay(0)
    return {**os.environ, "LD_PRELOAD": library, "SLOW_SYNC_FILE": delay, "SLOW_SYNC_PATH": path}, set_delay


def figures(phase, probe, port):
    """What a phase has come to."""
    found = journal(port)
    return {
        "p999_ms": round(probe.milliseconds(phase, 0.999), 1),
        "max_ms": round(probe.milliseconds(phase, 1), 1),
        "probes": len(probe.times.get(phase, [])),
        "unfolded": found.unfolded_bytes, "limit": found.unfolded_limit_bytes,
        "refused": found.unfolded_refusals, "folded": found.folded_position,
        "effects": found.commit_effects, "journal_bytes": found.journal_bytes,
        "longest_slice_ms": found.checkpoint_slice_max_us // 1000}


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    environment, set_delay = preloaded(directory, "/state.db")
    report, probe, piece = directory + "/run.json", Probe(), {}
    with Service(options.binaries, directory + "/data", env=environment) as service, loadgen.running(
            options.binaries, "--target", f"127.0.0.1:{service.port}", "--clients", options.clients,
            "--pipeline", options.pipeline, "--posts", options.posts, "--mix", "vote", "--warmup", 0,
            "--duration", f"{len(PHASES) * options.seconds}s", "--retry", 1000, "--timeout", "30s",
            "--json", report) as load:
        try:
            await_votes(load, service.port, 1)  # the posts are created first
            probe.start(service.port)
            for phase, milliseconds in PHASES.items():
                set_delay(options.sync_ms if milliseconds is None else milliseconds)
                probe.phase = phase
                time.sleep(options.seconds)
                piece[phase] = figures(phase, probe, service.port)
                say(f"{phase}: {json.dumps(piece[phase])}")
        finally:
            set_delay(0)
            probe.stop()
        piece["resident_mib"] = machine.resident_bytes(service.pid, "VmHWM") >> 20
        loadgen.finish(load)
        log = service.text()
        service.stop()
    told = loadgen.read(report)
    piece["votes"] = told["audit"]["votes_acknowledged"]
    piece["unanswered"] = told["outcomes"]["timeout"] + told["outcomes"]["lost"]
    probe.check_failure()
    check(options, piece, log)
    return piece


def check(options, piece, log):
    """Raises Failure for a rule that does not hold."""
    for phase in PHASES:
        if piece[phase]["p999_ms"] > options.within_ms:
            raise Failure(f"{phase}: p99.9 of Ping and reads is {piece[phase]['p999_ms']} ms, over "
                          f"{options.within_ms}")
        if piece[phase]["unfolded"] > piece[phase]["limit"] + LET_IN_BYTES:
            raise Failure(f"{phase}: {piece[phase]['unfolded']} bytes wait for a checkpoint, over the "
                          f"limit of {piece[phase]['limit']}")
    if piece["unanswered"] > 0:
        raise Failure(f"{piece['unanswered']} votes were not answered")
    if piece["quick"]["folded"] <= piece["still"]["folded"]:
        raise Failure("nothing was checkpointed once syncs were quick again")
    if piece["still"]["refused"] > 0 and "checkpoints lag" not in log:
        raise Failure("changes were refused, and the log says nothing of it")
