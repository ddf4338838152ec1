"""kill -9 at random moments under load: nothing acknowledged is lost, nothing counts twice.

A cycle: loadgen votes and creates, a second one changes ballots of users, other clients create, edit,
vote, mark and delete, people sign up, in and out, and a reader walks STABLE lists; the service is
killed; `verify` reads what is left, by itself and from the whole journal where it is kept; the service
is started, sometimes killed while it recovers and started again; it must find the same state, and
loadgen and the clients must find in it what was acknowledged to them.
"""

import os
import random
import shutil
import time

import lists
import loadgen
import mixed
import tally
from people import People
from process import Failure
from service import FAILURES, Connection, Service, verify

LOADGEN_SECONDS = 120
MOST_RECOVERY_KILLS = 2
CHECKPOINT_BYTES = [1 << 14, 1 << 18, 1 << 22]  # of journal between checkpoints: runs have each
COMMON = ["--threads", "1", "--mix", "vote=98,create=2", "--keys", "zipf:0.99", "--warmup", "0",
          "--duration", f"{LOADGEN_SECONDS}s", "--retry", "0"]
LOADGEN_FEED = "posts"  # which is there before loadgen, for those who read it meanwhile
# What each run of loadgen loads: votes that add up, and users who change their ballots.
LOADS = {
    "votes": ["--clients", "50", "--pipeline", "64", "--posts", "500", "--feed", LOADGEN_FEED, *COMMON],
    "ballots": ["--voters", "1000", "--clients", "20", "--pipeline", "16", "--posts", "200", *COMMON],
}


def add_flags(parser):
    parser.add_argument("--cycles", type=tally.count, default=1000, help="in all")
    parser.add_argument("--votes", type=int, default=10_000_000, help="acknowledged, in all")
    parser.add_argument("--longest", type=tally.amount, default=1.5,
                        help="seconds under load before the service is killed")
    parser.add_argument("--mixed", type=int, default=3,
                        help="clients that create, edit, vote, mark and delete")
    parser.add_argument("--directory-cycles", type=tally.count, default=20,
                        help="in a data directory, then in a new one: audits walk all that is in it")
    parser.add_argument("--seed", type=int, default=None,
                        help="of the moments and requests; as printed")


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
        self.people = People(seed)
        # What loads the service beside loadgen.
        self.workers = [*self.clients, self.people, lists.Reader(LOADGEN_FEED, seed)]
        self.cycles = 0
        self.service = None

    def check(self):
        """Finds what was acknowledged to the workers, and every post in each list."""
        mixed.check(self.clients, self.service.port)
        self.people.check(self.service.port)
        with Connection(self.service.port) as connection:
            lists.check(connection, mixed.FEED)

    def end(self):
        """Ends the processes that run."""
        if self.service:
            self.service.kill_if_alive()

    def start(self, wait=True):
        return Service(self.options.binaries, self.path + "/data", self.flags, wait=wait)

    def loadgen(self, *flags):
        return loadgen.start(self.options.binaries, "--target", f"127.0.0.1:{self.service.port}", *flags)

    def report(self, load, cycle):
        """The file in which a run of loadgen keeps the votes that were acknowledged to it."""
        return f"{self.path}/{load}-{cycle}.json"

    def cycle(self, piece):
        """Runs one cycle with the seed in `piece`, and adds its counts to `piece`. Raises Failure."""
        if self.service is None:
            self.service = self.start()
            self.check()
        generator = random.Random(piece["seed"])
        delay = generator.uniform(0, self.options.longest)
        piece.update(delay=round(delay, 4), keeps_journal=self.keeps_journal)
        self.cycles += 1
        before = self.acknowledged()
        self.load(delay, generator)
        piece["recovery_kills"] = self.recover(generator)
        piece.update({load: self.audit(self.report(load, self.cycles)) for load in LOADS})
        self.check()
        piece["changes"] = self.acknowledged() - before

    def acknowledged(self):
        return sum(one.acknowledged for one in [*self.clients, self.people])

    def load(self, delay, generator):
        """Loads the service, and kills it after `delay` seconds."""
        runs = [self.loadgen(*LOADS[load], "--seed", str(generator.randrange(1 << 32)),
                             "--json", self.report(load, self.cycles))
                for load in LOADS]
        for worker in self.workers:
            worker.start(self.service.port)
        try:
            time.sleep(delay)
            self.service.kill_in_life()
            outputs = [run.communicate(timeout=LOADGEN_SECONDS)[0] for run in runs]
        finally:
            for run in runs:
                run.kill()
            self.service.kill_if_alive()
            for worker in self.workers:
                worker.join()
        for worker in self.workers:
            worker.check_failure()
        for run, output in zip(runs, outputs):
            if run.returncode != 1:
                raise Failure(f"loadgen lost its service and ended with {run.returncode}:\n{output}")

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

    def audit(self, report):
        """Has loadgen look for its acknowledged votes; returns their number."""
        record = record_of(report)
        if record is None:
            return 0
        loadgen.finish(self.loadgen("--verify-only", report), f"the audit of {report}")
        return sum(record["acknowledged"])

    def audit_all(self):
        """Checks that the acknowledged votes of earlier cycles are there too."""
        for cycle in range(1, self.cycles + 1):
            for load in LOADS:
                self.audit(self.report(load, cycle))

    def stop(self):
        """Ends the service as supervisors do: it must end with 0, and leave the state that it served."""
        self.audit_all()
        served = self.service.stop()
        left = verify(self.options.binaries, self.path + "/data")
        if left != served:
            raise Failure(f"stopped with state hash {served}, verify says {left}")
        shutil.rmtree(self.path)


def record_of(report):
    """The acknowledged votes of a run of loadgen; None if the service was killed before the run had
    reached it, or had made its posts."""
    if not os.path.exists(report):
        return None
    try:
        return loadgen.read(report)["record"]
    except (ValueError, KeyError) as error:
        raise Failure(f"loadgen left {report} without a record: {error!r}") from error


def run(options, say):
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    say(f"--seed {options.seed}")
    kept = tally.Tally(options.output, "kill")
    directory = None

    def is_reached():
        return len(kept.pieces) >= options.cycles and kept.sum("votes") >= options.votes

    def make():
        nonlocal directory
        piece = {"seed": f"{options.seed} {len(kept.pieces)}", "failures": []}
        try:
            directory = directory or Directory(options.output + "/kill-data", options, piece["seed"])
            directory.cycle(piece)
            if directory.cycles == options.directory_cycles:
                directory.stop()
                directory = None
        except FAILURES as failure:
            piece["failures"] = [str(failure)]
        say(f"cycle {len(kept.pieces) + 1}, seed '{piece['seed']}': {piece.get('votes', 0):,} votes, "
            f"{piece.get('ballots', 0):,} ballots, {piece.get('changes', 0):,} changes, "
            f"killed after {piece.get('delay', 0):.3f} s: {(piece['failures'] or ['OK'])[0]}")
        return piece

    try:
        kept.repeat(options.minutes, is_reached, make)
    finally:
        if directory:
            directory.end()
            if not kept.failures:
                shutil.rmtree(directory.path)
    counts = [("cycles", len(kept.pieces)), ("acknowledged votes", kept.sum("votes")),
              ("ballots of users", kept.sum("ballots")), ("other changes", kept.sum("changes")),
              ("kills in recovery", kept.sum("recovery_kills"))]
    return kept, counts, is_reached()
