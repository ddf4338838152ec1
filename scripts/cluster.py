"""A cluster on this machine, to try it. scripts/cluster.sh runs it; see there."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

import nodes
from process import Failure

LOST = 65  # how a replica ends that must not vote again: it is not started again
MOST_NODES = len(nodes.NAMES)
RESTART_SECONDS = 1  # after which others are, as their units do it; a service that was deposed at once


def read_options():
    parser = argparse.ArgumentParser(
        prog="scripts/cluster.sh", description="A cluster on this machine, to try it, until Ctrl-C.")
    parser.add_argument("--nodes", type=int, choices=[1, 3, 5], default=3, help="how many (default: %(default)s)")
    parser.add_argument("--stop-after", type=float, metavar="SECONDS", help="end by itself")
    parser.add_argument("--binaries", required=True, help=argparse.SUPPRESS)  # cluster.sh builds both
    parser.add_argument("--replica", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def describe(cluster, leader, options):
    """Says where the nodes are, and what to type next."""
    print("\nnode  role      clients          status of the replica           processes")
    for node in cluster.nodes:
        role = "leader" if node is leader else "follower"
        print(f"{node.name:<5} {role:<9} {node.address:<16} http://127.0.0.1:{node.metrics}/status  "
              f"{node.replica.process.pid} feed-replica, {node.service.process.pid} feed-service")
    target = ",".join(node.address for node in cluster.nodes)
    both = f"{leader.replica.process.pid} {leader.service.process.pid}"
    print(f"""
Type next, in another terminal:
  export FEEDCTL_TARGET={target}
  {options.binaries}/loadgen --target {target} --retry 100 --duration 20s
  {options.binaries}/feedctl list
  {options.binaries}/feedctl cluster status
  {options.binaries}/feedctl cluster transfer    # another node leads
  kill -9 {both}    # the leader's programs: another node leads, and they are started again
  {options.binaries}/feedctl cluster verify    # all nodes have the same
  less {cluster.directory}/{leader.name}/service.log""")
    for node in cluster.spares:
        print(f"""One node more, which gets the state from the leader:
  {options.binaries}/feedctl cluster add {node.name} {node.peer}    # prints a token
  echo TOKEN >{cluster.directory}/join    # the node is made of it, and started
  {options.binaries}/feedctl cluster remove {node.name}    # it has to go again""")
    print("Ctrl-C ends the cluster and removes it.\n", flush=True)


def join(cluster):
    """Makes a node of the token that somebody has put into the file `join`, and starts its programs."""
    path = cluster.directory + "/join"
    if not cluster.spares or not os.path.exists(path):
        return
    with open(path) as file:
        token = file.read().strip()
    if not token:
        return  # the shell has made the file, and has not written yet
    os.remove(path)
    node = cluster.spares[0]
    try:
        cluster.join(node, token)
    except Failure as failure:
        print(f"{node.name} does not join: {failure}", flush=True)
        return
    cluster.nodes.append(cluster.spares.pop(0))
    for program in node.programs:
        program.start()
    print(f"{node.name} joins: {node.address}, processes {node.replica.process.pid} {node.service.process.pid}",
          flush=True)


def revive(cluster, due):
    """Starts programs again that have ended, as systemd would; `due` has when."""
    for node in cluster.nodes:
        for program in node.programs:
            if program.is_running or program is node.replica and program.code == LOST:
                continue
            is_deposed = program is node.service and program.code == nodes.DEPOSED
            at = due.setdefault(program, time.monotonic() + (0 if is_deposed else RESTART_SECONDS))
            if time.monotonic() >= at:
                del due[program]
                code = program.code
                program.start()
                print(f"{program.name} ended with {code}: started again as process {program.process.pid}", flush=True)


def watch(cluster, leader, seconds):
    """Lives until its time is over, or Ctrl-C."""
    end, due = time.monotonic() + seconds if seconds else float("inf"), {}
    while time.monotonic() < end:
        join(cluster)
        revive(cluster, due)
        found = cluster.leader()
        if found and found is not leader:
            leader = found
            print(f"{leader.name} leads: {leader.address}, processes {leader.replica.process.pid} "
                  f"{leader.service.process.pid}", flush=True)
        time.sleep(0.1)


def stop(number, frame):
    raise KeyboardInterrupt


def main():
    options = read_options()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    os.makedirs(".build/cluster", exist_ok=True)
    directory = tempfile.mkdtemp(prefix="", dir=".build/cluster")
    cluster = None
    try:
        cluster = nodes.Cluster(directory, options.binaries, options.replica, options.nodes,
                                spares=min(1, MOST_NODES - options.nodes))
        cluster.start()
        leader = cluster.await_leader()
        describe(cluster, leader, options)
        watch(cluster, leader, options.stop_after)
    except KeyboardInterrupt:
        pass
    except Failure as failure:
        sys.exit(f"cluster: {failure}")
    finally:
        if cluster:
            cluster.end()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
