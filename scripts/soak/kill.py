"""kill -9 at random moments under load: nothing acknowledged is lost, nothing counts twice.

A cycle: loadgen votes and creates, one more changes ballots of users, other clients create, edit, vote,
mark and delete, people sign up, in and out, and a reader walks stable lists; the service is killed; `verify` reads what is left, by itself and from the whole journal where it is kept; the
service is started, sometimes killed while it recovers and started again; it must find the same
state, and loadgen and the clients must find in it what was acknowledged to them.
"""

import json
import os
import random
import shutil
import subprocess
import time

import features
import lists
import mixed
from people import People
from service import Failure, Service, verify
from tally import Deadline, Tally
from wire import Lost, Refused

LOADGEN_SECONDS = 120
MOST_RECOVERY_KILLS = 2
CHECKPOINT_BYTES = [1 << 14, 1 << 18, 1 << 22]  # of journal between checkpoints: runs have each
LOAD = ["--clients", "50", "--threads", "1", "--pipeline", "64", "--posts", "500",
        "--mix", "vote=98,create=2", "--keys", "zipf:0.99", "--warmup", "0",
        "--duration", f"{LOADGEN_SECONDS}s", "--retry", "0"]


# Users who change their ballots, beside it.
BALLOTS = ["--voters", "1000", "--clients", "20", "--threads", "1", "--pipeline", "16", "--posts", "200",
           "--mix", "vote=98,create=2", "--keys", "zipf:0.99", "--warmup", "0",
           "--duration", f"{LOADGEN_SECONDS}s", "--retry", "0"]


class Directory:
    """A data directory over some cycles, and the clients that know its content."""

    def __init__(self, path, options, seed):
        self.path, self.options = path, options
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        generator = random.Random(f"{seed} directory")
        # Half of the directories keep the whole journal, to be replayed; the others do as in life.
        self.keeps_journal = generator.random() < 0.5
        self.flags = ["--fold-bytes", str(generator.choice(CHECKPOINT_BYTES))]
        self.flags += ["--keep-journal"] * self.keeps_journal
        self.clients = [mixed.MixedClient(f"c{number}", seed) for number in range(options.mixed)]
        self.people = People("people", seed)
        self.reader = lists.Reader("posts", generator)
        self.served = set()  # of what a service may not have
        self.runs = 0
        self.service = None

    def begin(self):
        self.service = self.start()
        with mixed.Connection(self.service.port) as connection:
            mixed.create_feed(connection)
        self.served = features.found(self.service.port, mixed.FEED)
        for client in self.clients:
            client.features = self.served
        self.check()

    def workers(self):
        """What loads the service beside loadgen."""
        return [*self.clients, *[self.people] * ("accounts" in self.served),
                *[self.reader] * ("stable" in self.served)]

    def check(self):
        """Finds what was acknowledged to the workers, and every post in each list."""
        mixed.check(self.clients, self.service.port)
        if "accounts" in self.served:
            self.people.check(self.service.port)
        if "orders" in self.served:
            with mixed.Connection(self.service.port) as connection:
                lists.check(connection, mixed.FEED, "stable" in self.served)

    def end(self):
        """Ends the processes that run."""
        if self.service:
            self.service.kill_if_alive()

    def start(self, wait=True):
        return Service(self.options.binaries, self.path + "/data", self.flags, wait=wait)

    def loadgen(self, *flags):
        return subprocess.Popen(
            [self.options.binaries + "/loadgen", "--target", f"127.0.0.1:{self.service.port}",
             "--quiet", *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, number):
        """The file in which the loadgen of a cycle keeps the acknowledged votes."""
        return f"{self.path}/run-{number}.json"

    def runs_of(self, number):
        """The same for all loads of a cycle: of votes that add up, and of ballots."""
        return [self.run(number), *[f"{self.path}/ballots-{number}.json"] * ("users" in self.served)]

    def cycle(self, piece):
        """Runs one cycle with the seed in `piece`, and adds its counts to `piece`. Raises Failure."""
        if self.service is None:
            self.begin()
        generator = random.Random(piece["seed"])
        delay = generator.uniform(0, self.options.longest)
        piece.update(delay=round(delay, 4), keeps_journal=self.keeps_journal)
        piece["left_out"] = sorted(set(features.ALL) - self.served)
        self.runs += 1
        runs = self.runs_of(self.runs)
        before = self.acknowledged()
        self.load(runs, delay, generator)
        piece["recovery_kills"] = self.recover(generator)
        # Killed before loadgen had reached it, there is nothing to look for.
        piece["votes"], *ballots = [self.audit(run) if os.path.exists(run) else 0 for run in runs]
        piece["ballots"] = sum(ballots)
        self.check()
        piece["changes"] = self.acknowledged() - before

    def acknowledged(self):
        return sum(one.acknowledged for one in [*self.clients, self.people])

    def load(self, runs, delay, generator):
        """Loads the service, and kills it after `delay` seconds."""
        loads = [self.loadgen(*flags, "--seed", str(generator.randrange(1 << 32)), "--json", run)
                 for flags, run in zip((LOAD, BALLOTS), runs)]
        for worker in self.workers():
            worker.start(self.service.port)
        try:
            time.sleep(delay)
            self.service.kill_in_life()
            outputs = [load.communicate(timeout=LOADGEN_SECONDS)[0] for load in loads]
        finally:
            for load in loads:
                load.kill()
            self.service.kill_if_alive()
            for worker in self.workers():
                worker.thread.join()
        for worker in self.workers():
            worker.join()
        for load, output in zip(loads, outputs):
            if load.returncode != 1:
                raise Failure(f"loadgen lost its service and ended with {load.returncode}:\n{output}")

    def recover(self, generator):
        """Starts the service on the directory; every way to read it must give one state."""
        data = self.path + "/data"
        left = verify(self.options.binaries, data, replays=self.keeps_journal)
        kills = 0
        while kills < MOST_RECOVERY_KILLS and generator.random() < 0.2:
            kills += 1
            dying = self.start(wait=False)
            time.sleep(generator.uniform(0, 0.1))
            dying.kill()
        self.service = self.start()
        if self.service.hash != left:
            raise Failure(f"after recovery ({kills} times killed in it) the state hash is "
                          f"{self.service.hash}, verify said {left}")
        return kills

    def audit(self, run):
        """Has loadgen look for its acknowledged votes; returns their number."""
        record = record_of(run)
        if record is None:
            return 0  # killed before it had made its posts
        audit = self.loadgen("--verify-only", run)
        try:
            output, _ = audit.communicate(timeout=LOADGEN_SECONDS)
        finally:
            audit.kill()
        if audit.returncode != 0:
            raise Failure(f"the audit of {run} ended with {audit.returncode}:\n{output}")
        return sum(record["acknowledged"])

    def audit_all(self):
        """Checks that the acknowledged votes of earlier cycles are there too."""
        for number in range(1, self.runs + 1):
            for run in self.runs_of(number):
                if os.path.exists(run):
                    self.audit(run)

    def stop(self):
        """Ends the service as supervisors do: it must end with 0, and leave the state that it served."""
        self.audit_all()
        served = self.service.stop()
        left = verify(self.options.binaries, self.path + "/data")
        if left != served:
            raise Failure(f"stopped with state hash {served}, verify says {left}")
        shutil.rmtree(self.path)


def record_of(run):
    """The acknowledged votes of a run of loadgen; None if it had created no post."""
    try:
        with open(run) as file:
            return json.load(file)["record"]
    except (ValueError, KeyError) as error:
        raise Failure(f"loadgen left {run} without a record: {error!r}") from error


def describe(number, piece):
    return (f"cycle {number}, seed '{piece['seed']}': {piece.get('votes', 0):,} votes, "
            f"{piece.get('ballots', 0):,} ballots, {piece.get('changes', 0):,} changes, "
            + (f"without {', '.join(piece['left_out'])}, " if piece.get("left_out") else "")
            + f"killed after {piece.get('delay', 0):.3f} s: "
            + (piece["failures"][0] if piece["failures"] else "OK"))


def run(options, say):
    tally = Tally(options.output, "kill")
    deadline = Deadline(options.minutes)
    directory = None

    def reached():
        return (len(tally.pieces) >= options.cycles and tally.sum("votes") >= options.votes)

    try:
        while not (reached() or deadline.passed or tally.failures):
            started = time.monotonic()
            piece = {"seed": f"{options.seed} {len(tally.pieces)}", "failures": []}
            try:
                directory = directory or Directory(
                    options.output + "/kill-data", options, piece["seed"])
                directory.cycle(piece)
                if directory.runs == options.directory_cycles:
                    directory.stop()
                    directory = None
            except (Failure, Lost, Refused, subprocess.TimeoutExpired) as failure:
                piece["failures"] = [str(failure)]
            piece["seconds"] = round(time.monotonic() - started, 2)
            tally.add(piece)
            say(describe(len(tally.pieces), piece))
    finally:
        if directory:
            directory.end()
            if not tally.failures:
                shutil.rmtree(directory.path)
    counts = [("cycles", len(tally.pieces)), ("acknowledged votes", tally.sum("votes")),
              ("ballots of users", tally.sum("ballots")), ("other changes", tally.sum("changes")),
              ("kills in recovery", tally.sum("recovery_kills"))]
    return tally, counts, reached()
