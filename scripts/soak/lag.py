"""Votes at full speed while the syncs of state.db are slow, and while they stand still.

No client waits for the slow disk: Ping and reads are answered in time, and each vote is counted, or refused
with a time to wait. Once the disk is quick again, everything is as before.
"""

import json
import os
import re
import shutil
import subprocess
import threading
import time

import feed_pb2 as feed
from service import Failure, Service
from tally import Tally
from wire import Connection, Lost, Refused

PAUSE_SECONDS = 0.002  # between two probes
STILL_MILLISECONDS = 3_600_000
LET_IN_BYTES = 64 << 20  # what may be let in before the limit is noticed, and to spare
LOADGEN_SECONDS = 600


class Probe(threading.Thread):
    """Ping and GetPost, one after the other, on a connection of their own; how long each took."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.ended, self.failure = port, threading.Event(), None
        self.phase, self.times, self.stats = None, {}, []

    def run(self):
        try:
            with Connection(self.port, timeout=60) as connection:
                while not self.ended.is_set():
                    self._ask(connection)
                    time.sleep(PAUSE_SECONDS)
        except (Lost, Refused) as failure:
            self.failure = f"a probe was not answered: {failure}"

    def _ask(self, connection):
        phase, began = self.phase, time.monotonic()
        connection.call(ping=feed.PingRequest())
        middle = time.monotonic()
        connection.call(get_post=feed.GetPostRequest(id=1))
        ended = time.monotonic()
        if phase is not None and phase == self.phase:
            self.times.setdefault(phase, []).extend([middle - began, ended - middle])

    def milliseconds(self, phase, share):
        ordered = sorted(self.times.get(phase, [0.0]))
        return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def journal(port):
    with Connection(port, timeout=60) as connection:
        return connection.call(
            get_server_stats=feed.GetServerStatsRequest()).server_stats.journal


def resident_mebibytes(pid):
    """The most that the process has had in memory."""
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) >> 10


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    library, delay = directory + "/slow_sync.so", directory + "/milliseconds"
    source = os.path.join(os.path.dirname(__file__), "slow_sync.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)

    def set_delay(milliseconds):
        with open(delay + ".new", "w") as file:
            file.write(str(milliseconds))
        os.rename(delay + ".new", delay)

    set_delay(0)
    service = Service(options.binaries, directory + "/data", environment={
        **os.environ, "LD_PRELOAD": library, "SLOW_SYNC_FILE": delay})
    report = directory + "/run.json"
    seconds = options.seconds
    load = subprocess.Popen(
        [options.binaries + "/loadgen", "--target", f"127.0.0.1:{service.port}", "--clients",
         str(options.clients), "--pipeline", str(options.pipeline), "--posts", str(options.posts),
         "--mix", "vote", "--warmup", "0", "--duration", f"{3 * seconds}s", "--retry", "1000",
         "--timeout", "30s", "--quiet", "--json", report],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    probe = Probe(service.port)
    piece = {}
    try:
        while load.poll() is None:  # the posts are created first
            with Connection(service.port) as connection:
                if connection.count_of("cast_vote") > 0:
                    break
            time.sleep(0.05)
        probe.start()
        for phase, milliseconds in (("slow", options.sync_ms), ("still", STILL_MILLISECONDS),
                                    ("quick", 0)):
            set_delay(milliseconds)
            probe.phase = phase
            time.sleep(seconds)
            found = journal(service.port)
            piece[phase] = {
                "p999_ms": round(probe.milliseconds(phase, 0.999), 1),
                "max_ms": round(probe.milliseconds(phase, 1), 1),
                "probes": len(probe.times.get(phase, [])),
                "unfolded": found.unfolded_bytes, "limit": found.unfolded_limit_bytes,
                "refused": found.unfolded_refusals, "folded": found.folded_position,
                "effects": found.commit_effects, "journal_bytes": found.journal_bytes,
                "longest_slice_ms": found.checkpoint_slice_max_us // 1000}
            say(f"{phase}: {json.dumps(piece[phase])}")
        probe.ended.set()
        probe.join(60)
        piece["resident_mib"] = resident_mebibytes(service.process.pid)
        output, _ = load.communicate(timeout=LOADGEN_SECONDS)
        if load.returncode != 0:
            raise Failure(f"loadgen ended with {load.returncode}:\n{output}")
        log = service.text()
        service.stop()
    finally:
        probe.ended.set()
        set_delay(0)
        load.kill()
        service.kill_if_alive()
    with open(report) as file:
        told = json.load(file)
    piece["votes"] = told["audit"]["votes_acknowledged"]
    piece["unanswered"] = told["outcomes"]["timeout"] + told["outcomes"]["lost"]
    check(options, piece, probe, log)
    return piece


def check(options, piece, probe, log):
    """Raises Failure for each rule that does not hold."""
    if probe.failure:
        raise Failure(probe.failure)
    for phase in ("slow", "still", "quick"):
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


def run(options, say):
    tally = Tally(options.output, "lag")
    directory = options.output + "/lag-data"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    started = time.monotonic()
    piece = {"failures": []}
    try:
        piece.update(live_through(options, directory, say))
        shutil.rmtree(directory)
    except (Failure, Lost, Refused, subprocess.SubprocessError) as failure:
        piece["failures"] = [str(failure)]
        say(str(failure))
    piece["seconds"] = round(time.monotonic() - started, 2)
    tally.add(piece)
    counts = [("runs", len(tally.pieces)), ("votes found counted once", tally.sum("votes"))]
    return tally, counts, True
