"""The long versions of the tests of durability. scripts/soak.sh runs it; see there."""

import argparse
import signal
import subprocess
import sys
import time

import attack
import attackers
import build
import cluster
import dataset
import greedy
import handshakes
import kill
import lag
import signins
import suites
import tally
import upgrade

SOAKS = {
    "kill": (kill, "kill -9 at random moments under load"),
    "cluster": (cluster, "kills, partitions and failing disks of the nodes of a cluster"),
    "upgrade": (upgrade, "other programs for a cluster under load, one node after another"),
    "power": (suites, "power cuts of simulated disks"),
    "replica": (suites, "power cuts under feed-replica, alone and three at once"),
    "flips": (suites, "flipped bits"),
    "codecs": (suites, "frames through protobuf-c and through the codec in Swift"),
    "losses": (suites, "connections of FeedClient that break, and kill -9, while it votes"),
    "outbox": (suites, "kill -9 of programs that send an outbox, and of their service"),
    "combinations": (suites, "FeedProto and FeedClient with each codec over each transport"),
    "histories": (suites, "two offline devices of one person, beside a model"),
    "copy": (suites, "the first sync of a bounded copy of many posts"),
    "dataset": (dataset, "real votes through a service that is killed half way"),
    "attack": (attack, "one host that takes what it can get, beside a client of another host"),
    "attackers": (attackers, "ten hosts that attack in six ways, beside a client of another host"),
    "lag": (lag, "full-speed votes while the syncs of state.db are slow, and stand still"),
    "greedy": (greedy, "a host that votes at ten times its limit, beside the votes of another one"),
    "handshakes": (handshakes, "TLS handshakes, whole and half ones, beside votes and pages over TLS"),
    "signins": (signins, "sign-ins at a rate beside votes and pages, on one and on many accounts"),
}


def read_options():
    parser = argparse.ArgumentParser(
        prog="scripts/soak.sh", description="The long versions of the tests of durability: docs/SOAK.md has them.")
    common = argparse.ArgumentParser(
        add_help=False, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    common.add_argument("--output", metavar="DIR", default=".build/soak",
                        help="where what was reached is kept, and adds up")
    common.add_argument("--minutes", type=tally.amount,
                        help="stop early, after the piece in work, one at least")
    common.add_argument("--binaries", help=argparse.SUPPRESS)  # of tests; otherwise they are built
    soaks = parser.add_subparsers(dest="what", required=True)
    for name, (module, text) in SOAKS.items():
        module.add_flags(soaks.add_parser(
            name, parents=[common], help=text, description=text,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter))
    return parser.parse_args()


def main():
    options = read_options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    started = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - started:6.0f} s] {text}", file=sys.stderr, flush=True)

    module, _ = SOAKS[options.what]
    if not options.binaries and options.what != "replica":  # which Go builds
        options.binaries = build.tests() if module is suites else build.products(
            "feed-service", "loadgen", *["feedctl"] * (module is cluster))
    kept, counts, reached = module.run(options, say) if hasattr(module, "run") else tally.run(module, options, say)
    print(kept.line(counts, reached), flush=True)
    sys.exit(1 if kept.failures else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("soak: stopped; what was reached is kept.")
    except subprocess.CalledProcessError as error:  # of a build, which has said why
        sys.exit(error.returncode)
