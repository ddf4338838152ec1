"""Figures of a cluster in its namespaces: for how long nothing is acknowledged after a fault, and what commits and
votes cost. `--figures` of the cluster's soak makes them; nothing is judged."""

import contextlib
import multiprocessing
import os
import random
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

import loadgen
import machine
import nodes
import tally
from faults import Faults
from process import Server
from service import FAILURES

# By what is printed: the fault, and whether the programs stay ended until another leader has acknowledged something.
FAILOVERS = {"service killed": "kill the leader's service", "node killed": "kill the leader's node",
             "replica restarted": "hand over", "transfer": "transfer"}
FOLLOWING_COUNT = 20  # acknowledgements after which a failover is over
BODY_BYTES, WINDOW = 64 << 10, 4
ROUNDS, ROUND_SECONDS = 5, 4
FILE_BYTES = 64 << 20  # of a plain writer, written beforehand
HELLO, PROPOSE, DURABLE = 1, 2, 3
ENTRY, COMMITTED, ROLE = 65, 66, 67
DURABLE_SECONDS = 0.3
LOAD = ["--clients", "4", "--pipeline", "16", "--threads", "1", "--warmup", "0", "--duration", f"{ROUND_SECONDS}s"]


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def milliseconds(values):
    return (f"p50 {1000 * percentile(values, 0.5):.2f} ms, p99 {1000 * percentile(values, 0.99):.2f}, longest "
            f"{1000 * max(values):.2f}")


# ---- Failovers

def failovers(world, count, seed, say):
    """The longest times without an acknowledgement around each fault, as the writer has them."""
    faults, keeper, writer = Faults(world, random.Random(seed)), world.keeper, world.writer
    writer.start(world.leader_port)
    found = {}
    for name, kind in FAILOVERS.items():
        found[name] = []
        for _ in range(count):
            leader = world.await_healed()
            faults.pause(0.1, 0.3)
            began, until = time.monotonic(), len(writer.moments) + FOLLOWING_COUNT
            keeper.hold(*leader.programs)
            faults.kinds[kind]()
            while len(writer.moments) < until:
                world.check_failures()
                time.sleep(0.01)
            keeper.release(*leader.programs)
            found[name].append(writer.longest_wait(began))
        say(f"{name}, {count} times: {milliseconds(found[name])} without an acknowledgement")
    writer.stop()
    return {name: sorted(round(wait, 4) for wait in waits) for name, waits in found.items()}


# ---- Commits

class Proposer(threading.Thread):
    """Speaks to a replica as a service does, which proposes bodies of one size once it leads."""

    def __init__(self, node, cluster):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(node.socket) != 0:
            time.sleep(0.05)
        self.lock = threading.RLock()
        self.last = cluster.last_index
        self.term, self.leads, self.asked = 0, threading.Event(), threading.Event()
        self.body, self.waiting, self.times = os.urandom(BODY_BYTES), {}, []
        self.say(HELLO, 1, self.last, 1, 1, tail=bytes.fromhex(cluster.number))
        threading.Thread(target=self.say_durable, daemon=True).start()
        self.start()

    def say(self, kind, *numbers, tail=b""):
        with self.lock:
            self.socket.sendall(nodes.frame(kind, struct.pack(f"<{len(numbers)}Q", *numbers) + tail))

    def say_durable(self):
        with contextlib.suppress(OSError):  # the replica has ended
            while True:
                time.sleep(DURABLE_SECONDS)
                self.say(DURABLE, self.last)

    def propose(self):
        with self.lock:
            while self.asked.is_set() and len(self.waiting) < WINDOW:
                index = self.last + len(self.waiting) + 1
                self.waiting[index] = time.monotonic()
                self.say(PROPOSE, self.term, index, tail=self.body)

    def run(self):
        stream = self.socket.makefile("rb")
        with contextlib.suppress(OSError):
            while found := nodes.read_frame(stream):
                self.hear(*found)

    def hear(self, kind, body):
        if kind == ENTRY:
            self.last, = struct.unpack_from("<Q", body)
        elif kind == ROLE:
            leads, self.term = struct.unpack_from("<QQ", body)
            (self.leads.set if leads else self.leads.clear)()
        elif kind == COMMITTED:
            now = time.monotonic()
            with self.lock:
                _, self.last = struct.unpack_from("<QQ", body)
                for index in [index for index in self.waiting if index <= self.last]:
                    self.times.append(now - self.waiting.pop(index))
            self.propose()

    def commits(self):
        """The seconds of each commit in a round."""
        self.times = []
        self.asked.set()
        self.propose()
        time.sleep(ROUND_SECONDS)
        self.asked.clear()
        while self.waiting:
            time.sleep(0.01)
        return self.times


def sync_alone(path):
    """The seconds of each append of a body to a prepared file, with its fdatasync."""
    times, body = [], os.urandom(BODY_BYTES)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    for place in range(0, FILE_BYTES, BODY_BYTES):
        os.pwrite(descriptor, body, place)
    os.fsync(descriptor)
    end = time.monotonic() + ROUND_SECONDS
    while time.monotonic() < end:
        began = time.monotonic()
        os.pwrite(descriptor, body, len(times) * BODY_BYTES % FILE_BYTES)
        os.fdatasync(descriptor)
        times.append(time.monotonic() - began)
    os.close(descriptor)
    return times


def syncs(directories):
    """What as many writers as there are nodes have at once, one file each."""
    pool = multiprocessing.Pool(len(directories))
    found = pool.map(sync_alone, [directory + "/plain" for directory in directories], chunksize=1)
    pool.close()
    pool.join()
    return found


ECHO = """
import socket, sys
count = int(sys.argv[2])
if sys.argv[3:]:
    import time
    link, times = socket.create_connection((sys.argv[1], 7999)), []
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(500):
        began = time.monotonic()
        link.sendall(bytes(count))
        link.recv(1)
        times.append(time.monotonic() - began)
    print(sorted(times)[250])
else:
    listener = socket.create_server((sys.argv[1], 7999))
    print("ready", flush=True)
    link, _ = listener.accept()
    while link.recv(count, socket.MSG_WAITALL):
        link.sendall(b"x")
"""


def round_trip(network):
    """The seconds in which another machine answers a body, the middle one of many."""
    command = [sys.executable, "-c", ECHO, network.host(0), str(BODY_BYTES)]
    with subprocess.Popen([*network.prefix(0), *command], stdout=subprocess.PIPE, text=True) as server:
        server.stdout.readline()
        asked = subprocess.run([*network.prefix(1), *command, "ask"], capture_output=True, text=True, check=True)
    return float(asked.stdout)


def commits(cluster, network, say):
    """Commits of replicas alone, beside as many plain writers on the same disk."""
    for node in cluster.nodes:
        node.replica.start()
    proposers = [Proposer(node, cluster) for node in cluster.nodes]
    leader = None
    while not leader:
        leader = next((one for one in proposers if one.leads.wait(0.1)), None)
    found, trip = {"commits": [], "syncs": []}, round_trip(network)
    for number in range(ROUNDS):
        found["syncs"].append(syncs([node.directory for node in cluster.nodes]))
        found["commits"].append(leader.commits())
    committed = [one for times in found["commits"] for one in times]
    synced = [one for writers in found["syncs"] for times in writers for one in times]
    rate = statistics.median(len(times) / ROUND_SECONDS for times in found["commits"])
    plain = statistics.median(min(map(len, writers)) / ROUND_SECONDS for writers in found["syncs"])
    floor = percentile(synced, 0.5) + trip
    say(f"commits of {BODY_BYTES >> 10} KiB, {WINDOW} on their way: {rate:,.0f}/s, {milliseconds(committed)}")
    say(f"three plain writers at once, with fdatasync: {plain:,.0f}/s each, {milliseconds(synced)}")
    say(f"a round trip: {1000 * trip:.2f} ms; p50 of a commit over sync and round trip: "
        f"{1000 * (percentile(committed, 0.5) - floor):+.2f} ms, {percentile(committed, 0.5) / floor:.2f} times")
    return {"commits_per_second": rate, "plain_syncs_per_second": plain, "commit_p50_ms":
            1000 * percentile(committed, 0.5), "sync_p50_ms": 1000 * percentile(synced, 0.5), "round_trip_ms": 1000 * trip}


# ---- Votes

def votes(cluster, options, directory, say):
    """CPU a vote of the leader's programs, beside that of a service of one machine; in pairs."""
    cluster.start()
    leader, ratios = cluster.await_leader(), []
    with Server([options.binaries + "/feed-service", "--listen", "127.0.0.1:0", "--data-dir",
                 directory + "/single"]) as single:
        for number in range(ROUNDS):
            found = {}
            pairs = [(f"127.0.0.1:{single.port}", [single.pid]),
                     (leader.address, [leader.service.process.pid, leader.replica.process.pid])]
            for target, pids in pairs if number % 2 else reversed(pairs):
                before = [machine.cpu_seconds(pid) for pid in pids]
                report = loadgen.run(options.binaries, "--target", target, *LOAD)
                count = sum(report["record"]["acknowledged"])
                found[target] = [1e6 * (machine.cpu_seconds(pid) - was) / count for pid, was in zip(pids, before)], count
            (alone,), alone_count = found[pairs[0][0]]
            (service, replica), count = found[pairs[1][0]]
            ratios.append((alone, service, replica, service / alone, (service + replica) / alone, count / alone_count))
    alone, service, replica, one, both, rate = map(statistics.median, zip(*ratios))
    say(f"64 votes in flight: {alone:.2f} µs of CPU a durable vote alone; the leader of three {service:.2f} µs, its "
        f"replica {replica:.2f}: {one:.2f} times, with the replica {both:.2f}; {rate:.2f} times as many votes")
    return {"single_us": alone, "leader_us": service, "replica_us": replica, "service_ratio": one, "both_ratio": both}


def costs(options, network, say):
    """On the disk of --output: commits of replicas alone, then votes."""
    directory, piece = options.output + "/figures-data", {}
    for name, measure in (("commits", lambda cluster: commits(cluster, network, say)),
                          ("votes", lambda cluster: votes(cluster, options, directory, say))):
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        machines = range(3)
        cluster = nodes.Cluster(directory, options.binaries, options.replica, hosts=[network.host(n) for n in machines],
                                prefixes=[network.prefix(n) for n in machines])
        try:
            piece[name] = measure(cluster)
        finally:
            cluster.end()
    shutil.rmtree(directory)
    return piece


def run(options, network, make_world, say):
    """`make_world` makes a world in memory."""
    kept, piece, world = tally.Tally(options.output, "figures"), {"failures": []}, None
    say(f"load of the machine {os.getloadavg()[0]:.1f}")
    began = time.monotonic()
    try:
        piece.update(costs(options, network, say))
        world = make_world()
        piece["failovers"] = failovers(world, options.figures, options.seed, say)
    except FAILURES as failure:
        piece["failures"] = [str(failure)]
        say(str(failure))
    finally:
        if world:
            world.remove()
    kept.add({**piece, "seconds": round(time.monotonic() - began, 2)})
    return kept, [("runs", len(kept.pieces))], True
