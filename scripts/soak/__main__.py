"""The long versions of the tests of durability. scripts/soak.sh runs it; see there."""

import argparse
import random
import signal
import sys
import time


ATTACKS = ("unread", "non-readers", "channels-of-one", "channels-of-many", "full-channels",
           "devices", "unfinished")


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {text}")
    return number


def read_options():
    parser = argparse.ArgumentParser(
        prog="scripts/soak.sh", description="The long versions of the tests of durability: see the "
        "top of the script.")
    common = argparse.ArgumentParser(
        add_help=False, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    common.add_argument("--output", metavar="DIR", default=".build/soak",
                        help="where what was reached is kept, and adds up")
    common.add_argument("--minutes", type=float, help="stop early, after the piece in work")
    common.add_argument("--binaries", default=".", help=argparse.SUPPRESS)
    common.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    kinds = parser.add_subparsers(dest="what", required=True)

    def kind(name, help):
        return kinds.add_parser(name, parents=[common], help=help, description=help,
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)

    kill = kind("kill", "kill -9 at random moments under load")
    kill.add_argument("--cycles", type=positive, default=1000, help="in all")
    kill.add_argument("--votes", type=int, default=10_000_000, help="acknowledged, in all")
    kill.add_argument("--longest", type=float, default=1.5,
                      help="seconds under load before the service is killed")
    kill.add_argument("--mixed", type=int, default=3,
                      help="clients that create, edit, vote and delete")
    kill.add_argument("--directory-cycles", type=positive, default=20,
                      help="in a data directory, then in a new one: audits walk all that is in it")
    kill.add_argument("--seed", type=int, default=None,
                      help="of the moments and requests; as printed")
    for name, text in (("power", "power cuts of simulated disks"), ("flips", "flipped bits")):
        suite = kind(name, text)
        suite.add_argument("--count", type=positive, help="in all, in place of the usual number")
        suite.add_argument("--first-seed", type=int, default=0, help="added to every seed")
    dataset = kind("dataset", "real votes through a service that is killed half way")
    dataset.add_argument("files", nargs="+", metavar="FILE.csv")
    dataset.add_argument("--kill-at", type=float, default=0.5, help="share of the votes")
    attack = kind("attack", "one host that takes what it can get, beside a client of another host")
    attack.add_argument("--only", nargs="+", metavar="PART", choices=ATTACKS,
                        help="of " + ", ".join(ATTACKS) + "; all of them if not given")
    attack.add_argument("--in-memory", action="store_true",
                        help="attack a service without a data directory, and do not restart it")
    attack.add_argument("--hellos", type=positive, default=262_144,
                        help="new clients that the attacks on channels and devices pretend to be")
    attack.add_argument("--connections", type=positive, default=9_990,
                        help="a service takes 10,000 in all")
    attack.add_argument("--hold", type=float, default=20,
                        help="seconds in which a client votes beside each attack, at least")
    attack.add_argument("--give-back", type=float, default=60,
                        help="seconds in which memory is to be given back afterwards")
    attack.add_argument("--factor", type=float, default=0,
                        help="fail if a vote takes so many times as long as before (p99); 0 does "
                        "not look, as a machine with other work is not to be judged by it")
    lag = kind("lag", "full-speed votes while the syncs of state.db are slow, and stand still")
    lag.add_argument("--seconds", type=positive, default=30,
                     help="of each phase: slow syncs, none at all, quick ones")
    lag.add_argument("--sync-ms", type=positive, default=100, help="a slow sync takes longer by")
    lag.add_argument("--within-ms", type=float, default=50,
                     help="p99.9 of Ping and reads, on a quiet machine")
    lag.add_argument("--posts", type=positive, default=100_000)
    lag.add_argument("--clients", type=positive, default=50)
    lag.add_argument("--pipeline", type=positive, default=64)
    signins = kind("signins", "sign-ins at a rate beside votes and pages, on one and on many accounts")
    signins.add_argument("--rate", type=positive, default=1000, help="sign-ins a second")
    signins.add_argument("--accounts", type=positive, default=100_000, help="of many accounts")
    signins.add_argument("--seconds", type=positive, default=10, help="of each measurement")
    signins.add_argument("--rounds", type=positive, default=3,
                         help="without and with sign-ins; the median of their ratios counts")
    signins.add_argument("--factor", type=float, default=1.5,
                         help="the p99 of votes and pages may be so many times as long")
    options = parser.parse_args()
    if options.minutes is not None and options.minutes <= 0:
        parser.error("--minutes: expected more than 0.")
    if options.what == "kill" and options.longest <= 0:
        parser.error("--longest: expected more than 0.")
    if options.what == "dataset" and not 0 < options.kill_at < 1:
        parser.error("--kill-at: expected more than 0 and less than 1.")
    return options


def main():
    options = read_options()
    if options.check:  # the flags are right, which is all that was asked
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    started = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - started:6.0f} s] {text}", file=sys.stderr, flush=True)

    if options.what == "kill":
        import kill as soak
        if options.seed is None:
            options.seed = random.SystemRandom().randrange(1 << 32)
        say(f"--seed {options.seed}")
    elif options.what == "dataset":
        import dataset as soak
    elif options.what == "attack":
        import attack as soak
    elif options.what == "lag":
        import lag as soak
    elif options.what == "signins":
        import signins as soak
    else:
        import suites as soak
    tally, counts, reached = soak.run(options, say)
    print(tally.line(counts, reached), flush=True)
    sys.exit(1 if tally.failures else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("soak: stopped; what was reached is kept.")
