"""What goes wrong in a cluster's soak, by name: kills, partitions, disks, clocks, members."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import time

from network import partitions
from process import Failure
from witness import MAY_WRITE

HEAL_SECONDS = 60  # within which the nodes have the same records after the last fault
LEADER_SECONDS = 5
STOPPED, KILLED = 0, -signal.SIGKILL
REPLICA_FAILED, SERVICE_FAILED = 74, 1  # as the disk did
LOST, OVER_LIMIT = 65, 69  # a replica must not vote again; the service has not taken its log
LOG_LIMIT = 128 << 20  # the least that --log-limit takes
COPY_RATE = 2 << 20  # so that the copy of a small state takes its time
BULK_SECONDS = 90  # within which so much is logged
REFUSAL_SECONDS = 20  # within which a replica reads its log
SECTOR = 512
# Steps at most. A service does not trust its clock after one of over five minutes: it refuses changes. One that starts
# with such a clock gives posts earlier times than others have, which the clients' models do not know.
SMALL_STEP, LARGE_STEP = 140, 3600
CONTROL_SECONDS = 30  # within which the cluster does what feedctl asks for


class Faults:
    """What goes wrong, by name. Each fault ends with the world as it was, but for what the keeper does."""

    def __init__(self, world, generator):
        self.world, self.random = world, generator
        self.keeper, self.network, self.cluster = world.keeper, world.network, world.cluster
        self.kinds = {
            "kill the leader's replica": lambda: self.kill(self.leader().replica),
            "kill the leader's service": lambda: self.kill(self.leader().service),
            "kill the leader's node": lambda: self.kill(*self.leader().programs),
            "kill a follower's node": lambda: self.kill(*self.follower().programs),
            "kill a follower's service": lambda: self.kill(self.follower().service),
            "kill two nodes": lambda: self.kill(*self.leader().programs, *self.follower().programs),
            "kill all": lambda: self.kill(*self.cluster.programs),
            "stop the leader's node": lambda: self.stand_still(*self.leader().programs),
            "stop the leader's replica": lambda: self.stand_still(self.leader().replica),
            "stop the leader's service": lambda: self.stand_still(self.leader().service),
            "stop a follower's node": lambda: self.stand_still(*self.follower().programs),
            "stop a follower's service": lambda: self.stand_still(self.follower().service),
            "hand over": lambda: self.restart(self.leader().replica),
            "restart the nodes, one after another": self.restart_all,
            "fill the leader's disk": lambda: self.fill(self.leader()),
            "fill a follower's disk": lambda: self.fill(self.follower()),
            "fail the syncs of the leader's replica": lambda: self.trace(self.leader().replica, "error=EIO"),
            "fail the syncs of a follower's replica": lambda: self.trace(self.follower().replica, "error=EIO"),
            "fail the syncs of the leader's service": lambda: self.trace(self.leader().service, "error=EIO"),
            "fail the syncs of a follower's service": lambda: self.trace(self.follower().service, "error=EIO"),
            "hang the syncs of the leader's replica": lambda: self.trace(self.leader().replica, "delay_enter=3s"),
            "hang the syncs of a follower's service": lambda: self.trace(self.follower().service, "delay_enter=3s"),
            "zero a sector of a follower's log": lambda: self.spoil(self.follower()),
            "hang a follower's service until its log is over the limit": lambda: self.hang(self.follower()),
            "step the leader's clock": lambda: self.step_clock(self.leader()),
            "step a follower's clock": lambda: self.step_clock(self.follower()),
            "start a follower with a wrong clock": lambda: self.start_with_wrong_clock(self.follower()),
            "upgrade the nodes, the leader last": self.upgrade,
            "transfer": lambda: self.transfer(self.follower()),
            "transfer to a node that stands still": lambda: self.transfer_to_stopped(self.follower()),
            "replace a follower": lambda: self.replace(self.follower()),
            "replace a follower, and kill the leader's node meanwhile": lambda: self.replace(
                self.follower(), lambda: self.kill(*self.leader().programs)),
            "a fourth node comes and goes": self.come_and_go,
            "the leader's network flaps": self.flap,
            "the leader is alone, while nobody changes anything there": self.part_in_silence,
            "part the network, and kill a node meanwhile": self.part_and_kill,
        }
        for name in partitions(0, [1, 2]):
            self.kinds[name] = lambda name=name: self.part(name)

    @property
    def nodes(self):
        return self.cluster.nodes

    def leader(self):
        """The node that leads; any one if none does for some seconds, as two faults in a row may have it."""
        end = time.monotonic() + LEADER_SECONDS
        while not (leader := self.cluster.leader()) and time.monotonic() < end:
            time.sleep(0.05)
        return leader or self.random.choice(self.nodes)

    def follower(self):
        leader = self.leader()
        return self.random.choice([node for node in self.nodes if node is not leader])

    def pause(self, least=0.3, most=3.0):
        time.sleep(self.random.uniform(least, most))

    def kill(self, *programs):
        for program in programs:
            self.keeper.expected[program] = {KILLED}
        for program in programs:
            program.send(signal.SIGKILL)
        time.sleep(0.1)

    def stand_still(self, *programs):
        for program in programs:
            program.send(signal.SIGSTOP)
        self.pause()
        for program in programs:
            program.send(signal.SIGCONT)

    def restart(self, *programs):
        before, end = [program.process for program in programs], time.monotonic() + HEAL_SECONDS
        for program in programs:
            self.keeper.expected[program] = {STOPPED, -signal.SIGTERM}  # by which one ends that has just begun
            program.send(signal.SIGTERM)
        while any(process.poll() is None for process in before):
            if time.monotonic() > end:
                raise Failure(f"{programs[0].name} or its like does not end on SIGTERM")
            time.sleep(0.02)

    def restart_all(self):
        for node in self.nodes:
            self.restart(*node.programs)
            self.world.await_healed()

    def upgrade(self):
        """As docs/CLUSTER.md has it: the followers are started anew, then another node leads, then the last one is."""
        leader = self.world.await_healed()
        for node in [each for each in self.nodes if each is not leader]:
            self.restart(*node.programs)
            self.world.await_healed()
        self.transfer(self.follower())
        self.world.await_healed()
        self.restart(*leader.programs)

    def fill(self, node):
        """No room is left on the disk of a node, for a while."""
        for program in node.programs:
            self.keeper.expected[program] = {REPLICA_FAILED, SERVICE_FAILED}
        path = node.directory + "/filler"
        try:
            with open(path, "wb") as file:
                place, size = 0, shutil.disk_usage(node.directory).free
                while size:
                    try:
                        os.posix_fallocate(file.fileno(), place, size)
                        place += size
                    except OSError:
                        size //= 2
            self.pause(2, 6)
        finally:
            os.unlink(path)

    def trace(self, program, fault):
        """Its syncs fail, or take long."""
        self.keeper.expected[program] = {REPLICA_FAILED, SERVICE_FAILED}
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync",
             "-e", f"inject=fdatasync,fsync:{fault}", "-p", str(program.process.pid)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.pause(2, 6)
        finally:
            tracer.terminate()
            tracer.wait()

    def cut(self, leader, name):
        others = [number for number, node in enumerate(self.nodes) if node is not leader]
        self.random.shuffle(others)
        self.network.deafen(partitions(self.nodes.index(leader), others)[name])

    def part(self, name):
        try:
            self.cut(self.leader(), name)
            self.pause(0.5, 5)
        finally:
            self.network.heal()

    def part_and_kill(self):
        """Any cut, and meanwhile a node is killed and comes back."""
        try:
            self.cut(self.leader(), self.random.choice(list(partitions(0, [1, 2]))))
            self.pause(0.2, 2)
            self.kill(*self.random.choice(self.nodes).programs)
            self.pause(0.5, 3)
        finally:
            self.network.heal()

    def part_in_silence(self):
        """Until there is another leader, and some time, the old one has no batch on its way: its reads would wait
        for it."""
        leader, end = self.leader(), time.monotonic() + LEADER_SECONDS
        try:
            with self.world.silence():
                self.cut(leader, "the leader is alone")
                while self.cluster.leader() in (leader, None) and time.monotonic() < end:
                    time.sleep(0.02)
                MAY_WRITE.set()
                self.pause(0.5, 2)
        finally:
            self.network.heal()

    def flap(self):
        for _ in range(self.random.randrange(2, 7)):
            try:
                self.cut(self.leader(), "the leader is alone")
                self.pause(0.1, 0.6)
            finally:
                self.network.heal()
            self.pause(0.1, 0.8)

    def spoil(self, node):
        """After a kill a sector of its log is zeros, which were synced entries: the replica has to refuse it. Then
        it gets the log back as it was."""
        log, kept = node.directory + "/log", node.directory + "/log-kept"
        self.world.await_healed()
        self.keeper.hold(*node.programs)
        try:
            for program in node.programs:
                program.end()
            shutil.copytree(log, kept)
            if zero_sector(log + "/wal", self.random):
                node.replica.start()
                self.await_end(node.replica, REFUSAL_SECONDS, "opened a log that has lost what was synced")
                if node.replica.code != LOST:
                    raise Failure(f"{node.replica.name} ended with {node.replica.code}, and a sector of its log was "
                                  f"zeros:\n{node.replica.tail()}")
            node.replica.end()
            shutil.rmtree(log)
            os.rename(kept, log)
        finally:
            for program in node.programs:
                self.keeper.expected[program] = {KILLED, LOST}
            self.keeper.release(*node.programs)

    def await_end(self, program, seconds, otherwise):
        end = time.monotonic() + seconds
        while program.is_running:
            if time.monotonic() > end:
                raise Failure(f"{program.name} {otherwise}:\n{program.tail()}")
            time.sleep(0.02)

    def hang(self, node):
        """A service stands still until its replica's log is over the limit, and that ends; the others go on."""
        self.world.await_healed()
        self.keeper.expected[node.replica] = {OVER_LIMIT}
        process = node.replica.process
        node.service.send(signal.SIGSTOP)
        try:
            with self.world.bulk():
                end = time.monotonic() + BULK_SECONDS
                while process.poll() is None:
                    self.world.check_failures()
                    if time.monotonic() > end:
                        raise Failure(f"the log of {node.name}, whose service hangs, is not over {LOG_LIMIT} bytes in "
                                      f"{BULK_SECONDS} s: {node.status()}")
                    time.sleep(0.05)
            self.pause()
        finally:
            node.service.send(signal.SIGCONT)
        self.world.await_healed()

    def step_clock(self, node):
        """The time of day of a service jumps, and back."""
        self.world.await_healed()
        self.keeper.hold(*node.programs)
        most = self.random.choice([SMALL_STEP, LARGE_STEP])
        for seconds in (self.random.uniform(-most, most), 0):
            set_clock(node, seconds)
            self.pause()
        self.keeper.release(*node.programs)

    def start_with_wrong_clock(self, node):
        """A service starts with a wrong time of day, which it cannot know, and may lead; then with the right one."""
        for seconds in (self.random.uniform(-SMALL_STEP, SMALL_STEP), 0):
            set_clock(node, seconds)
            self.kill(node.service)
            self.world.await_healed()
            self.kill(self.leader().service)
            self.pause()

    def control(self, *arguments):
        """Has feedctl do something, again until it is done; its document."""
        target, end = ",".join(node.address for node in self.nodes), time.monotonic() + CONTROL_SECONDS
        while True:
            finished = subprocess.run(
                [self.world.options.binaries + "/feedctl", "cluster", *arguments, "--target", target, "--json"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if finished.returncode == 0:
                return json.loads(finished.stdout)
            if time.monotonic() > end:
                raise Failure(f"feedctl cluster {' '.join(arguments)} ended with {finished.returncode}:\n"
                              f"{finished.stdout}{finished.stderr}")
            time.sleep(0.5)

    def transfer(self, node):
        self.control("transfer", node.name)

    def transfer_to_stopped(self, node):
        """A transfer that does not come to its end: the leader goes on, or another one does."""
        for program in node.programs:
            program.send(signal.SIGSTOP)
        try:
            with contextlib.suppress(Failure):
                self.control("transfer", node.name)
            self.pause()
        finally:
            for program in node.programs:
                program.send(signal.SIGCONT)

    def join(self, node):
        """Makes a node of nothing, which gets a copy of the state when its programs run."""
        self.cluster.join(node, self.control("add", node.name, node.peer)["token"])

    def await_voter(self, node):
        """Waits until a node has what the others have, and votes."""
        end = time.monotonic() + HEAL_SECONDS
        while True:
            leader = self.world.await_healed()
            voters = [each["name"] for each in leader.status().get("members", []) if each["voter"]]
            if node.name in voters:
                self.control("verify")
                return
            if time.monotonic() > end:
                raise Failure(f"the voters are {voters}, with {node.name} not among them")
            time.sleep(0.1)

    def remove(self, node):
        """Takes a node out of the cluster, which its replica finds, and ends its programs."""
        self.keeper.hold(*node.programs)
        self.control("remove", node.name)
        self.await_end(node.replica, HEAL_SECONDS, "runs on as a node that was removed")
        if node.replica.code != LOST:
            raise Failure(f"{node.replica.name} ended with {node.replica.code}, and was removed:\n{node.replica.tail()}")
        node.service.end()

    def replace(self, node, meanwhile=lambda: None):
        """Its machine is lost: it is removed, and another one of its name gets the state."""
        self.keeper.hold(*node.programs)
        for program in node.programs:
            program.end()
        self.control("remove", node.name)
        self.join(node)
        for program in node.programs:
            self.keeper.expected[program] = {KILLED}
        self.keeper.release(*node.programs)
        self.pause(0.1, 2)
        meanwhile()
        self.await_voter(node)

    def come_and_go(self):
        """A node more gets the state, votes, and is removed."""
        node = self.cluster.spares[0]
        self.join(node)
        for program in node.programs:
            program.start()
        self.cluster.nodes = [*self.nodes, node]
        self.await_voter(node)
        self.pause()
        if self.leader() is node:
            self.control("transfer", next(each.name for each in self.nodes if each is not node))
        self.remove(node)
        self.cluster.nodes = [each for each in self.nodes if each is not node]
        self.keeper.release(*node.programs)

    def some(self, only):
        """One of them, by chance."""
        return self.random.choice([name for name in self.kinds if not only or only in name])


def set_clock(node, seconds):
    """By how much a service's time of day is off, from now on."""
    with open(node.clock, "r+b", buffering=0) as file:
        file.write(ctypes.c_int64(int(seconds * 1e9)))


def zero_sector(directory, generator):
    """Makes zeros of a sector in the elder half of the newest file of a log, which is long synced; false if that is
    too short."""
    path = f"{directory}/{max(name for name in os.listdir(directory) if name.endswith('.wal'))}"
    with open(path, "r+b") as file:
        sectors = len(file.read().rstrip(b"\0")) // SECTOR // 2
        if sectors < 4:
            return False
        file.seek(generator.randrange(2, sectors) * SECTOR)
        file.write(bytes(SECTOR))
    return True
