"""A cluster of three under load gets other programs, one node after another: no request fails, nothing is lost.

A cycle: a new cluster of the programs of one folder, and loadgen on all of its nodes. Each follower is stopped and
started with the programs of the other folder, then the leader, whose replica hands over. Then loadgen must have had no
error but those of a change of the leader, which it sends again; its audits find all votes, each once; and `verify`
finds one state on all nodes.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import loadgen
import nodes
import tally
from process import Failure
from service import FAILURES, VERIFY_SECONDS

NODES = 3
HEAL_SECONDS = 60  # within which a node has the records of the others
STOPPED = 0
PROGRAMS = ("feed-service", "feed-replica")
# What a client sends again while another node begins to lead; a connection to one that stops ends.
TEMPORARY = {"NOT_LEADER", "DRAINING"}
COMMON = ["--threads", "1", "--warmup", "0", "--retry", "1000", "--mix", "vote=98,create=2", "--keys", "zipf:0.99"]
LOADS = {
    "votes": ["--clients", "10", "--pipeline", "16", "--posts", "500", "--feed", "posts", "--think", "50ms", *COMMON],
    "ballots": ["--voters", "500", "--clients", "4", "--pipeline", "8", "--posts", "100", "--think", "50ms", *COMMON],
}
COUNTS = [("upgrades", None), ("acknowledged votes", "votes"), ("requests sent again", "retries")]


def add_flags(parser):
    parser.add_argument("--from", dest="old", required=True, metavar="DIR",
                        help="with feed-service and feed-replica, as the cluster begins")
    parser.add_argument("--to", dest="new", required=True, metavar="DIR", help="with those that the nodes get")
    parser.add_argument("--cycles", type=tally.count, default=10, help="in all")
    parser.add_argument("--seconds", type=tally.amount, default=2, help="of load before and behind each node")


def upgrade(node, folder):
    """Stops both programs of a node, and starts those of another folder; as docs/CLUSTER.md has it."""
    for program in node.programs:  # the replica first: one that leads hands over
        if not program.is_running and program.code != nodes.DEPOSED:
            raise Failure(f"{program.name} ended by itself, with {program.code}:\n{program.tail()}")
        code = program.end(signal.SIGTERM)
        usual = {STOPPED} if program is node.replica else {STOPPED, nodes.DEPOSED}
        if code not in usual:
            raise Failure(f"{program.name} ended with {code} on SIGTERM:\n{program.tail()}")
        place = next(at for at, word in enumerate(program.command) if os.path.basename(word) in PROGRAMS)
        program.command[place] = os.path.join(folder, os.path.basename(program.command[place]))
    for program in node.programs:
        program.start()


def await_healed(cluster):
    """Waits until all services have on their disks what the log has now; the leader then. A service that has led is
    started again, as its unit does."""
    end, wanted = time.monotonic() + HEAL_SECONDS, 0
    while True:
        for node in cluster.nodes:
            if node.service.code == nodes.DEPOSED:
                node.service.start()
        said, leader = [node.status() for node in cluster.nodes], cluster.leader()
        if leader and all(said):
            wanted = wanted or max(one["last"] for one in said)
            if all(one["has_service"] and one["durable"] >= wanted for one in said):
                return leader
        for program in cluster.programs:
            if not program.is_running and program.code != nodes.DEPOSED:
                raise Failure(f"{program.name} ended by itself, with {program.code}:\n{program.tail()}")
        if time.monotonic() > end:
            raise Failure(f"the nodes are not well within {HEAL_SECONDS} s: {said}")
        time.sleep(0.05)


def upgrade_all(cluster, options):
    """The followers, and then the node that leads."""
    leader = await_healed(cluster)
    for node in [*(each for each in cluster.nodes if each is not leader), leader]:
        time.sleep(options.seconds)
        upgrade(node, options.new)
        await_healed(cluster)
    time.sleep(options.seconds)


def check_report(load, report):
    """What loadgen had to send again, if nothing failed otherwise. Raises Failure."""
    outcomes, errors = report["outcomes"], report["errors"]
    failed = {name: outcomes[name] for name in ("error", "lost", "timeout") if outcomes[name]}
    strange = [name for name in errors["server"] if name.rpartition("/")[2] not in TEMPORARY]
    if failed or strange:
        raise Failure(f"{load}: {failed or 'no'} requests failed, with {strange or errors}")
    return outcomes["retries"]


def left(binaries, node):
    """What `verify` finds in a node's directory: the last record, and the state's hash."""
    finished = subprocess.run(
        [binaries + "/feed-service", "verify", node.data], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=VERIFY_SECONDS)
    found = re.findall(r"^(?:journal up to record \d+|state hash \w+)", finished.stdout, re.MULTILINE)
    if finished.returncode != 0 or len(found) != 2:
        raise Failure(f"verify of {node.name} ended with {finished.returncode}:\n{finished.stdout}")
    return tuple(found)


def stop_all(cluster, binaries):
    """Stops everything, and compares what is left on the nodes."""
    await_healed(cluster)
    for node in cluster.nodes:  # at once: no other node begins to lead
        node.replica.send(signal.SIGKILL)
    for node in cluster.nodes:
        node.replica.end()
        if (code := node.service.end(signal.SIGTERM)) not in (STOPPED, nodes.DEPOSED):
            raise Failure(f"{node.service.name} ended with {code} on SIGTERM:\n{node.service.tail()}")
    found = {node.name: left(binaries, node) for node in cluster.nodes}
    if len(set(found.values())) != 1:
        raise Failure(f"the nodes have other last records or states: {found}")


def live_through(options, directory):
    """One cluster, and its upgrade; the results. Raises Failure."""
    cluster = nodes.Cluster(directory, options.old, os.path.join(options.old, "feed-replica"), NODES)
    runs = {}
    try:
        cluster.start()
        cluster.await_leader()
        target = ",".join(node.address for node in cluster.nodes)
        reports = {load: f"{directory}/{load}.json" for load in LOADS}
        for load, flags in LOADS.items():
            runs[load] = loadgen.start(
                options.binaries, "--target", target, *flags, "--duration", "10m", "--no-verify", "--json", reports[load])
        upgrade_all(cluster, options)
        for load, one in runs.items():
            one.send_signal(signal.SIGINT)
            loadgen.finish(one, load)
        retries = sum(check_report(load, loadgen.read(report)) for load, report in reports.items())
        leader = await_healed(cluster)
        for load, report in reports.items():
            audit = loadgen.start(options.binaries, "--target", leader.address, "--verify-only", report)
            loadgen.finish(audit, f"the audit of {load}")
        votes = sum(sum(loadgen.read(report)["record"]["acknowledged"]) for report in reports.values())
        stop_all(cluster, options.new)
        return {"votes": votes, "retries": retries}
    finally:
        for one in runs.values():
            one.kill()
            one.wait()
        cluster.end()


def run(options, say):
    for folder in (options.old, options.new):
        for program in PROGRAMS:
            if not os.access(os.path.join(folder, program), os.X_OK):
                sys.exit(f"soak: {folder} has no program {program}.")
    options.old, options.new = os.path.abspath(options.old), os.path.abspath(options.new)
    kept = tally.Tally(options.output, "upgrade")
    directory = os.path.abspath(options.output + "/upgrade-data")

    def is_reached():
        return len(kept.pieces) >= options.cycles

    def make():
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        piece = {"failures": []}
        try:
            piece.update(live_through(options, directory))
            shutil.rmtree(directory)
        except FAILURES as failure:
            piece["failures"] = [str(failure)]
        say(f"upgrade {len(kept.pieces) + 1}: {piece.get('votes', 0):,} votes, {piece.get('retries', 0):,} sent again: "
            f"{(piece['failures'] or ['OK'])[0]}")
        return piece

    kept.repeat(options.minutes, is_reached, make)
    return kept, [(text, kept.sum(key) if key else len(kept.pieces)) for text, key in COUNTS], is_reached()
