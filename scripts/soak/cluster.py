"""A cluster of three under load, with faults at random: nothing acknowledged is lost, doubled or seen too late.

A cycle: clients change posts, people sign in, loadgen votes, witnesses read of every node; one fault comes
after another, and what has ended is started again. Then all is healed: the nodes must have the same records,
what was acknowledged must be there once, and all programs are stopped at once: `verify` must find one state.
The network and all processes are in namespaces of the soak's own (network.py).
"""

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import figures
import lists
import loadgen
import mixed
import nodes
import tally
from faults import COPY_RATE, HEAL_SECONDS, LOG_LIMIT, STOPPED, Faults
from liar import LIES, OF_CLIENTS, RULES, Liar
from network import Network, enter, run as run_command
from process import Failure
from service import FAILURES, VERIFY_SECONDS, Connection, Patient
from witness import MAY_CHANGE, MAY_WRITE, Bulk, Client, Importer, Lists, Persons, Plain, Voter, Witness, Writer

NODES, SPARES = 3, 1
BULKS = 4  # connections that fill the log
SILENCE_SECONDS = 0.5  # until all that was on its way is answered
DISK = "1g"  # of each node, in memory
LOADGEN_SECONDS = 20  # after which a run still waits for a leader
COMMON = ["--threads", "1", "--warmup", "0", "--retry", "1000", "--mix", "vote=98,create=2", "--keys", "zipf:0.99"]
# Runs of loadgen: votes that add up, and ballots of users; single ones and batches. Each has a feed of its own: a clock
# that was stepped lets later posts have the same time as earlier ones, by which an audit would tell them apart.
LOADS = {
    "votes": ["--clients", "10", "--pipeline", "16", "--posts", "500", "--think", "50ms", *COMMON],
    "batches": ["--clients", "4", "--pipeline", "4", "--batch", "32", "--posts", "100", "--think", "100ms", *COMMON],
    "batched-ballots": ["--voters", "500", "--clients", "2", "--pipeline", "2", "--batch", "16",
                        "--posts", "100", "--think", "100ms", *COMMON],
    "ballots": ["--voters", "500", "--clients", "4", "--pipeline", "8", "--posts", "100", "--think", "50ms", *COMMON],
}
COUNTS = [("cycles", None), ("faults", "faults"), ("acknowledged votes", "votes"), ("other changes", "changes"),
          ("reads of leaders", "leader_reads"), ("of followers", "follower_reads")]


def add_flags(parser):
    parser.add_argument("--cycles", type=tally.count, default=500, help="in all")
    parser.add_argument("--seconds", type=tally.amount, default=30, help="of faults in a cycle")
    parser.add_argument("--directory-cycles", type=tally.count, default=5, help="of a cluster, then of a new one")
    parser.add_argument("--only", help="the faults with this in their names, as 'the leader is alone'")
    parser.add_argument("--lie", choices=LIES, help="a rule is not kept: it has to be found")
    parser.add_argument("--figures", type=tally.count, metavar="COUNT",
                        help="in place of cycles: times without an acknowledgement of so many failovers each, and costs")
    parser.add_argument("--no-loadgen", action="store_true", help="without loadgen's votes")
    parser.add_argument("--replica", help=argparse.SUPPRESS)  # otherwise it is built
    parser.add_argument("--seed", type=int, default=None, help="of the moments and requests; as printed")


class Keeper(threading.Thread):
    """Starts programs again that have ended, as a unit does, and says which ended otherwise than they may."""

    def __init__(self, cluster, seed):
        super().__init__(daemon=True)
        self.cluster, self.random = cluster, random.Random(f"{seed} keeper")
        self.failure = None
        self.expected = {}  # of a program: the codes with which it may end now
        self.held = set()   # programs that are not started again now
        self.codes = {}     # how often each code of a kind of program was seen
        self.lock = threading.Lock()  # of starting one
        self.stopping = threading.Event()

    def run(self):
        due = {}
        while not self.stopping.wait(0.02):
            for program in self.cluster.programs:
                with self.lock:
                    self.look(program, due)

    def look(self, program, due):
        if program.is_running or program in self.held:
            due.pop(program, None)
        elif program not in due:
            self.judge(program)
            is_deposed = program.code == nodes.DEPOSED
            due[program] = time.monotonic() + (0 if is_deposed else self.random.uniform(0, 1))
        elif time.monotonic() >= due[program]:
            del due[program]
            program.start()

    def hold(self, *programs):
        """Does not start them from now on."""
        with self.lock:
            self.held.update(programs)

    def release(self, *programs):
        self.held.difference_update(programs)

    def judge(self, program):
        kind = program.name.split()[0]
        self.codes[f"{kind} {program.code}"] = self.codes.get(f"{kind} {program.code}", 0) + 1
        usual = {nodes.DEPOSED} if kind == "feed-service" else set()
        if program.code not in self.expected.get(program, set()) | usual:
            self.failure = self.failure or Failure(
                f"{program.name} ended by itself, with {program.code}:\n{program.tail()}")

    def stop(self):
        self.stopping.set()
        self.join()


class World:
    """A cluster over some cycles, and the clients that know its content."""

    def __init__(self, path, options, network, seed):
        self.path, self.options, self.network = path, options, network
        self.mounted = []
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        self.cluster = self.keeper = None
        try:
            machines, lies = range(NODES + SPARES), options.lie and options.lie not in {*RULES, *OF_CLIENTS}
            clocks = step_clock(path)
            self.cluster = nodes.Cluster(
                path, options.binaries, options.replica, NODES, spares=SPARES,
                hosts=[network.host(n) for n in machines], prefixes=[network.prefix(n) for n in machines],
                flags=["--state-hash"], environment=clocks, mount=self.mount,
                replica_flags=["--log-limit", str(LOG_LIMIT), "--copy-rate", str(COPY_RATE)],
                socket="lies" if lies else "socket")
            for node in [*self.cluster.nodes, *self.cluster.spares] if lies else []:
                Liar(options.lie, node.directory + "/lies", node.socket)
            self.cluster.start()
        except BaseException:
            self.end()
            raise
        self.clients = [Client(f"c{number}", seed) for number in range(3)]
        self.people, self.writer, self.voter = Persons(seed), Writer(), Voter()
        self.counters = [self.writer, Plain(), Importer()]
        self.followers = [*self.clients, self.people, *self.counters]  # of the leader
        self.readers = {
            node: [Witness(self.writer, node, seed, options.lie == "revision"), Lists(mixed.FEED, f"{seed} {node.name}")]
            for node in self.cluster.nodes}
        self.workers = [*self.followers, self.voter, *(reader for some in self.readers.values() for reader in some)]
        self.cycles = 0

    def mount(self, directory):
        run_command("mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", directory)
        self.mounted.append(directory)

    def end(self):
        """Ends what runs. The logs of a failure stay; the states are in memory, and are copied for it."""
        if self.keeper:
            self.keeper.stop()
        if self.cluster:
            self.cluster.end()

    def keep(self):
        """Copies the nodes' directories to the disk, to be looked at."""
        kept = self.path + "-kept"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.path, kept, ignore=shutil.ignore_patterns("ballast", "spare.log", "socket", "lies"))

    def remove(self):
        self.end()
        for directory in self.mounted:
            run_command("umount", "--lazy", directory)
        shutil.rmtree(self.path)

    def leader_port(self):
        leader = self.cluster.leader()
        return leader.port if leader else self.cluster.nodes[0].port

    def cycle(self, piece, say):
        self.cycles += 1
        if self.keeper is None or not self.keeper.is_alive():
            self.keeper = Keeper(self.cluster, piece["seed"])
            self.keeper.start()
        with Patient(self.await_healed().port) as connection:
            mixed.create_feed(connection)
            mixed.create_feed(connection, Importer.into, mixed.feed.TALLY)
            for load, flags in LOADS.items():
                modes = [mixed.feed.BALLOT, mixed.feed.USERS] if "--voters" in flags else [mixed.feed.TALLY, 0]
                mixed.create_feed(connection, f"{load}-{self.cycles}", modes[0], voters=modes[1])
        self.await_healed()  # all have the feeds, which are read everywhere
        before = self.acknowledged()
        self.load(piece, say)
        leader = self.await_healed()
        self.check(leader)
        piece["votes"] = self.audit(leader)
        piece["changes"] = self.acknowledged() - before
        for leads, name in ((True, "leader_reads"), (False, "follower_reads")):
            piece[name] = sum(some[0].reads[leads] for some in self.readers.values())
            for some in self.readers.values():
                some[0].reads[leads] = 0
        piece["codes"] = self.keeper.codes
        self.stop_all()

    def acknowledged(self):
        return sum(one.acknowledged for one in [*self.followers, self.voter])

    def load(self, piece, say):
        """Loads the cluster, with one fault after another."""
        generator = random.Random(piece["seed"])
        faults = Faults(self, generator)
        for worker in self.followers:
            worker.start(self.leader_port)
        self.voter.start([node.address for node in self.cluster.nodes])
        for node, some in self.readers.items():
            for worker in some:
                worker.start(lambda port=node.port: port)
        self.runs = [] if self.options.no_loadgen else self.start_loadgen(generator)
        piece["faults"], piece["gaps"] = 0, []
        end = time.monotonic() + self.options.seconds
        try:
            while time.monotonic() < end:
                faults.pause(0.2, 1.5)
                name, began = faults.some(self.options.only or LIES.get(self.options.lie)), time.monotonic()
                faults.kinds[name]()
                faults.pause(0.2, 2.0)
                gap = self.writer.longest_wait(began)
                piece["faults"] += 1
                piece["gaps"].append([name, round(gap, 3)])
                say(f"  {name}: {gap:.3f} s without an acknowledgement")
                self.check_failures()
            self.await_healed()
            self.finish_loadgen(say)
        finally:
            for one in self.runs:
                one.kill()
            for worker in self.workers:
                worker.stop()
        self.check_failures()

    @contextlib.contextmanager
    def silence(self):
        """Nobody changes anything meanwhile, unless the writer may."""
        MAY_CHANGE.clear()
        MAY_WRITE.clear()
        for one in self.runs:
            one.send_signal(signal.SIGSTOP)
        time.sleep(SILENCE_SECONDS)
        try:
            yield
        finally:
            MAY_WRITE.set()
            MAY_CHANGE.set()
            for one in self.runs:
                one.send_signal(signal.SIGCONT)

    @contextlib.contextmanager
    def bulk(self):
        """Much is logged meanwhile."""
        bulks = [Bulk() for _ in range(BULKS)]
        for one in bulks:
            one.start(self.leader_port)
        try:
            yield
        finally:
            for one in bulks:
                one.stop()
        for one in bulks:
            one.check_failure()

    def check_failures(self):
        if self.keeper.failure:
            raise self.keeper.failure
        for worker in self.workers:
            worker.check_failure()

    def start_loadgen(self, generator):
        target = ",".join(node.address for node in self.cluster.nodes)
        return [loadgen.start(
            self.options.binaries, "--target", target, "--feed", f"{load}-{self.cycles}", *flags,
            "--duration", f"{self.options.seconds}s",
            "--seed", str(generator.randrange(1 << 32)), "--no-verify", "--json", self.report(load, self.cycles))
            for load, flags in LOADS.items()]

    def finish_loadgen(self, say):
        for one in self.runs:
            output, _ = one.communicate(timeout=self.options.seconds + LOADGEN_SECONDS + HEAL_SECONDS)
            if one.returncode not in (0, 1):
                raise Failure(f"loadgen ended with {one.returncode}:\n{output}")
            if one.returncode == 1:
                say(f"  a run of loadgen has failed: {output.strip()[-300:]}")

    def report(self, load, cycle):
        return f"{self.path}/{load}-{cycle}.json"

    def audit(self, leader):
        """Has loadgen look for the votes of all cycles; those of the last one."""
        votes = 0
        for cycle in range(1, self.cycles + 1):
            for load in LOADS:
                report = self.report(load, cycle)
                if os.path.exists(report):
                    run = loadgen.start(
                        self.options.binaries, "--target", leader.address, "--verify-only", report)
                    loadgen.finish(run, f"the audit of {report}")
                    votes += sum(loadgen.read(report)["record"]["acknowledged"]) if cycle == self.cycles else 0
        return votes

    def check(self, leader):
        """Finds on the leader what was acknowledged, and the same posts on each follower."""
        mixed.check(self.clients, leader.port)
        self.people.check(leader.port)
        with Patient(leader.port) as connection:
            lists.check(connection, mixed.FEED)
            for one in [*self.counters, self.voter]:
                one.check(connection)
            shown = mixed.shown_to(connection, self.clients)
            revision = connection.call(ping=mixed.feed.PingRequest()).revision
        for node in self.cluster.nodes:
            with Connection(node.port) as connection:
                connection.call(min_revision=revision, ping=mixed.feed.PingRequest())
                if mixed.shown_to(connection, self.clients) != shown:
                    raise Failure(f"{node.name} shows other posts than the leader, at revision {revision} or later")

    def await_healed(self):
        """Waits until all programs run, and all services have on their disks what the log has now; the leader then."""
        end, wanted, leader = time.monotonic() + HEAL_SECONDS, 0, None
        while True:
            said = [node.status() for node in self.cluster.nodes]
            if all(program.is_running for program in self.cluster.programs) and all(said):
                leader = self.cluster.leader()
                wanted = wanted or leader and max(one["last"] for one in said)
                if leader and all(one["durable"] >= wanted for one in said):
                    return leader
            self.check_failures()
            if time.monotonic() > end:
                shown = ("role", "term", "last", "durable", "has_service")
                raise Failure(f"the nodes are not well {HEAL_SECONDS} s after the last fault: " + "; ".join(
                    str({key: one.get(key) for key in shown}) for one in said))
            time.sleep(0.05)

    def await_same(self):
        """Waits until all services have the same records on their disks: nothing is changed any more."""
        end = time.monotonic() + HEAL_SECONDS
        while True:
            self.await_healed()
            said = [node.status() for node in self.cluster.nodes]
            if all(said) and len({one[key] for one in said for key in ("last", "committed", "durable")}) == 1:
                return
            if time.monotonic() > end:
                raise Failure(f"records come although nobody changes anything: {said}")

    def stop_all(self):
        """Stops everything at once, and compares what is left on the nodes."""
        self.await_same()
        self.keeper.hold(*self.cluster.programs)
        for node in self.cluster.nodes:
            node.replica.send(signal.SIGKILL)
        for node in self.cluster.nodes:
            node.replica.end()
            if (code := node.service.end(signal.SIGTERM)) not in (STOPPED, nodes.DEPOSED):
                raise Failure(f"{node.service.name} ended with {code} on SIGTERM:\n{node.service.tail()}")
        found = {node.name: self.left(node) for node in self.cluster.nodes}
        if len(set(found.values())) != 1:
            raise Failure(f"the nodes have other last records or states: {found}")
        for program in self.cluster.programs:
            program.start()
        self.keeper.release(*self.cluster.programs)

    def left(self, node):
        """What `verify` finds in a node's directory: the last record, its chain, and the state's hash."""
        finished = subprocess.run(
            [self.options.binaries + "/feed-service", "verify", node.data], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=VERIFY_SECONDS)
        found = re.findall(r"^(?:journal up to record \d+|chain .*|state hash \w+)", finished.stdout, re.MULTILINE)
        if finished.returncode != 0 or len(found) < 2:
            raise Failure(f"verify of {node.name} ended with {finished.returncode}:\n{finished.stdout}")
        return tuple(found)


def step_clock(directory):
    """What gives a node's service a clock that steps: its environment."""
    library = os.path.abspath(directory + "/step_clock.so")
    source = os.path.join(os.path.dirname(__file__), "step_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)

    def environment(node):
        with open(node.clock, "wb") as file:
            file.write(bytes(8))
        return {"LD_PRELOAD": library, "STEP_CLOCK_FILE": os.path.abspath(node.clock)}

    return environment


def run(options, say):
    rule = RULES.get(options.lie)
    if not options.replica:
        subprocess.run(["scripts/replica.sh", "build", *["--faults"] * bool(rule)], stdout=sys.stderr, check=True)
        options.replica = ".build/replica/feed-replica" + "-faults" * bool(rule)
    if rule:
        os.environ["FEED_REPLICA_FAULTS"] = rule
    enter(["--binaries", options.binaries, "--replica", options.replica])
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    say(f"--seed {options.seed}")
    network = Network(NODES + SPARES)
    if options.figures:
        def make_world():
            made = World(options.output + "/cluster-data", options, network, options.seed)
            made.keeper = Keeper(made.cluster, options.seed)
            made.keeper.start()
            return made

        return figures.run(options, network, make_world, say)
    kept, world = tally.Tally(options.output, "cluster"), None

    def is_reached():
        return len(kept.pieces) >= options.cycles

    def make():
        nonlocal world
        piece = {"seed": f"{options.seed} {len(kept.pieces)}", "failures": []}
        try:
            world = world or World(options.output + "/cluster-data", options, network, piece["seed"])
            world.cycle(piece, say)
            if world.cycles == options.directory_cycles:
                world.remove()
                world = None
        except FAILURES as failure:
            piece["failures"] = [str(failure)]
        say(f"cycle {len(kept.pieces) + 1}, seed '{piece['seed']}': {piece.get('faults', 0)} faults, "
            f"{piece.get('votes', 0):,} votes, {piece.get('changes', 0):,} changes: "
            f"{(piece['failures'] or ['OK'])[0]}")
        return piece

    try:
        kept.repeat(options.minutes, is_reached, make)
    finally:
        if world:
            world.end()
            if kept.failures:
                world.keep()
            world.remove()
    return kept, [(text, kept.sum(key) if key else len(kept.pieces)) for text, key in COUNTS], is_reached()
