"""Machines in network namespaces of their own, on one bridge, and what one does not hear of another.

All is in a namespace of processes, mounts and networks that the soak has for itself: it is gone with the
soak, however that ends, and so is every process in it.
"""

import os
import subprocess
import sys

INSIDE = "FEED_SOAK_INSIDE"
TABLE = "table inet soak { chain heard { type filter hook input priority 0; }; }"


def enter(arguments):
    """Runs the soak again in its namespaces, with these arguments added; returns in there."""
    if os.environ.get(INSIDE):
        run("mount", "-t", "tmpfs", "tmpfs", "/run")  # where names of namespaces are kept
        run("ip", "link", "set", "lo", "up")
        return
    if os.geteuid() != 0:
        sys.exit("soak: the cluster's needs root, for networks of its own.")
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
               sys.executable, "-B", *sys.argv, *arguments]
    os.execvpe(command[0], command, {**os.environ, INSIDE: "yes"})


def run(*command):
    finished = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if finished.returncode != 0:
        raise OSError(f"{' '.join(command)}: {finished.stderr.strip()}")


class Network:
    """A network of machines, by their numbers from 0."""

    def __init__(self, count):
        self.count = count
        run("ip", "link", "add", "soak", "type", "bridge")
        run("ip", "link", "set", "soak", "up")
        for n in range(count):
            run("ip", "netns", "add", f"soak{n}")
            run("ip", "link", "add", f"soak{n}", "type", "veth", "peer", "name", "eth0", "netns", f"soak{n}")
            run("ip", "link", "set", f"soak{n}", "master", "soak", "up")
            run("ip", "-n", f"soak{n}", "address", "add", self.host(n) + "/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                run("ip", "-n", f"soak{n}", "link", "set", link, "up")
            run(*self.prefix(n), "nft", TABLE)

    def host(self, n):
        return f"10.77.0.{n + 1}"

    def prefix(self, n):
        """What a command begins with that runs on a machine."""
        return ["nsenter", f"--net=/run/netns/soak{n}"]

    def deafen(self, pairs):
        """The first machine of each pair hears nothing more of the second."""
        for hearer, speaker in pairs:
            run(*self.prefix(hearer), "nft", f"add rule inet soak heard ip saddr {self.host(speaker)} drop")

    def heal(self):
        for n in range(self.count):
            run(*self.prefix(n), "nft", "flush chain inet soak heard")


def both(pairs):
    return [one for first, second in pairs for one in ((first, second), (second, first))]


def partitions(leader, others):
    """What may be cut, by name, as pairs of who does not hear whom."""
    first = others[0]
    return {
        "the leader is alone": both((leader, other) for other in others),
        "the leader is deaf": [(leader, other) for other in others],
        "the leader is mute": [(other, leader) for other in others],
        "the leader and a follower are apart": both([(leader, first)]),
        "a follower is alone": both((first, other) for other in [leader, *others[1:]]),
        "a follower is deaf": [(first, other) for other in [leader, *others[1:]]],
        "a follower is mute": [(other, first) for other in [leader, *others[1:]]],
        "all are apart": [(one, other) for one in [leader, *others] for other in [leader, *others] if one != other],
    }
