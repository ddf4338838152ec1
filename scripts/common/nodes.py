"""The nodes of a cluster as processes: each a feed-replica, and a feed-service beside it, below one directory."""

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

from process import Failure, Server

NAMES = "abcde"
HEAD = struct.Struct("<IB")
STATUS, STATUS_IS = 7, 78  # kinds of frames of the replica's socket
STATUS_SECONDS = 1
DEPOSED = 75  # how a service ends that has led: it is started again, and follows


class Ports:
    """Ports of 127.0.0.1 for programs that are started again: meanwhile no connection of this machine gets one
    from the system. The programs may listen beside this, as all set SO_REUSEADDR."""

    def __init__(self):
        self.sockets = []

    def take(self):
        holder = socket.socket()
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        self.sockets.append(holder)
        return holder.getsockname()[1]


def read_frame(stream):
    """Kind and bytes of a frame of the replica's socket; None at its end."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    length, kind = HEAD.unpack(head)
    body = stream.read(length - 1)
    return (kind, body) if len(body) == length - 1 else None


def frame(kind, body):
    return HEAD.pack(len(body) + 1, kind) + body


def status(path):
    """What the replica of a socket says of itself; {} if it says nothing."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(STATUS_SECONDS)
            connection.connect(path)
            connection.sendall(frame(STATUS, struct.pack("<Q", 1)))
            found = read_frame(connection.makefile("rb"))
            return json.loads(found[1][8:]) if found and found[0] == STATUS_IS else {}
    except OSError:
        return {}


class Program:
    """One of a node's programs, which may be started again; its log goes on."""

    def __init__(self, name, command, log, environment=None):
        self.name, self.command, self.log, self.environment = name, command, log, environment or {}
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0,
                env={**os.environ, **self.environment})

    @property
    def code(self):
        """How it has ended; None while it runs."""
        return self.process.poll() if self.process else None

    @property
    def is_running(self):
        return self.process is not None and self.code is None

    def send(self, number):
        if self.is_running:
            self.process.send_signal(number)

    def end(self, number=signal.SIGKILL, seconds=30):
        """Ends it, also while it stands still; its exit code."""
        self.send(number)
        self.send(signal.SIGCONT)
        if self.process:
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise Failure(f"{self.name} did not end within {seconds} s:\n{self.tail()}") from None
        return self.code

    def tail(self, count=12):
        with open(self.log, errors="replace") as log:
            return "".join(log.readlines()[-count:])


class Node:
    """A machine of the cluster: two programs, and the directory that they have."""

    def __init__(self, cluster, name, host, prefix):
        self.name, self.directory = name, f"{cluster.directory}/{name}"
        self.data, self.socket = self.directory + "/data", self.directory + "/socket"
        self.clock = self.directory + ".clock"  # by how much its service's is off, in runs that step it
        self.prefix, self.host = prefix, host
        self.port, self.metrics = cluster.ports.take(), cluster.ports.take()
        self.peer = f"https://{host}:{7440 if prefix else cluster.ports.take()}"
        self.settings = []  # of its replica, as flags
        self.replica = self.service = None

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def programs(self):
        return [self.replica, self.service]

    def status(self):
        return status(self.socket)


class Cluster:
    """Nodes that begin with one state, and `spares`, which are none until they join. `hosts` are where their replicas
    are, and `prefixes` what their commands begin with, if they are not all on 127.0.0.1; `mount` is called with each
    node's directory before anything is in it; services speak to the `socket`, which is the replicas' or in front of
    theirs. `flags` are of services, `replica_flags` of replicas, and `environment` gives a node's service more."""

    def __init__(self, directory, binaries, replica, count=3, *, spares=0, hosts=(), prefixes=(), flags=(),
                 replica_flags=(), environment=None, mount=None, socket="socket"):
        self.directory, self.binaries, self.replica_program = directory, binaries, replica
        self.socket_name = socket
        self.ports = Ports()
        made = [Node(self, NAMES[n], hosts[n] if hosts else "127.0.0.1", prefixes[n] if prefixes else [])
                for n in range(count + spares)]
        self.nodes, self.spares = made[:count], made[count:]
        for node in made:
            os.makedirs(node.directory)
            if mount:
                mount(node.directory)
        self._begin()
        os.mkdir(directory + "/keys")
        self._run(replica, "cert", "--dir", directory + "/keys", "--authority")
        for node in made:
            self._make(node, flags, replica_flags, environment(node) if environment else {})
        members = ",".join(f"{each.name}={each.peer}" for each in self.nodes)
        for node in self.nodes:
            self._run(replica, "init", "--last-index", str(self.last_index), "--cluster", self.number,
                      "--members", members, *node.settings)

    def _begin(self):
        """Makes a state, and begins the cluster with it."""
        data = self.nodes[0].data
        with Server([self.binaries + "/feed-service", "--listen", "127.0.0.1:0", "--data-dir", data]) as service:
            service.stop()
        said = self._run(self.binaries + "/feed-service", "begin-cluster", data)
        self.last_index = int(re.search(r"^last index (\d+)$", said, re.MULTILINE).group(1))
        self.number = re.search(r"^cluster ([0-9a-f]{32})$", said, re.MULTILINE).group(1)
        for node in self.nodes[1:]:
            shutil.copytree(data, node.data)

    def _make(self, node, flags, replica_flags, environment):
        """Makes a node's certificate, and says how its programs are run."""
        keys = self.directory + "/keys"
        self._run(self.replica_program, "cert", "--dir", keys, "--name", node.name, "--hosts", node.host)
        node.settings = [
            "--dir", node.directory + "/log", "--name", node.name, "--listen", node.peer, "--socket", node.socket,
            "--metrics", f"127.0.0.1:{node.metrics}", "--certificate", f"{keys}/{node.name}.crt",
            "--key", f"{keys}/{node.name}.key", "--authority", keys + "/ca.crt", *replica_flags]
        node.replica = Program(
            f"feed-replica {node.name}", [*node.prefix, self.replica_program, "run", *node.settings],
            node.directory + "/replica.log")
        node.service = Program(
            f"feed-service {node.name}",
            [self.binaries + "/feed-service", "--listen", node.address, "--data-dir", node.data,
             "--replica", f"{node.directory}/{self.socket_name}", "--advertise", node.address, *flags],
            node.directory + "/service.log", environment)

    def join(self, node, token):
        """Makes a node of a token, with nothing in its directory but logs of its programs."""
        for path in (node.directory + "/log", node.data):
            shutil.rmtree(path, ignore_errors=True)
        self._run(self.replica_program, "join", token, *node.settings)

    def _run(self, *command):
        finished = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if finished.returncode != 0:
            raise Failure(f"{' '.join(command)} ended with {finished.returncode}:\n{finished.stdout}")
        return finished.stdout

    @property
    def programs(self):
        return [program for node in self.nodes for program in node.programs if program]

    def start(self):
        for program in self.programs:
            program.start()

    def leader(self):
        """The node whose replica leads, and has its service; None if there is none now."""
        leading = [(said["term"], node.name, node) for node in self.nodes
                   if (said := node.status()).get("role") == "leader" and said["has_service"]]
        return max(leading)[2] if leading else None

    def await_leader(self, seconds=60):
        end = time.monotonic() + seconds
        while not (leader := self.leader()):
            if time.monotonic() > end:
                raise Failure(f"no node leads within {seconds} s:\n" + "".join(each.tail(4) for each in self.programs))
            time.sleep(0.05)
        return leader

    def end(self):
        """Ends all programs by their ids, at once."""
        for program in self.programs:
            program.send(signal.SIGKILL)
        for program in self.programs:
            program.end()

