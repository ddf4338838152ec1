"""Real posts and votes through a service that is killed and started again half way."""

import csv

import loadgen
import tally
from process import Failure
from service import ReservedPort, Service, await_votes, verify

RETRIES = 100
LOADGEN_SECONDS = 3600
COUNTS = [("runs", ""), ("kills", "kills"), ("votes found counted once", "votes")]  # of the summary


def add_flags(parser):
    parser.add_argument("files", nargs="+", metavar="FILE.csv")
    parser.add_argument("--kill-at", type=tally.share, default=0.5, help="share of the votes")


def votes_in(paths):
    """The votes that files record."""
    csv.field_size_limit(1 << 30)
    total = 0
    for path in paths:
        with open(path, newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                total += int(row.get("ups") or 0) + int(row.get("downs") or 0)
    return total


def live_through(options, directory, say):
    """Makes one run of loadgen, and returns its results. Raises Failure."""
    data, report = directory + "/data", directory + "/run.json"
    wanted = int(votes_in(options.files) * options.kill_at)
    with ReservedPort() as port, Service(options.binaries, data, port=port) as service, loadgen.running(
            options.binaries, "dataset", *options.files, "--target", f"127.0.0.1:{port}", "--retry", RETRIES,
            "--clients", 50, "--pipeline", 64, "--json", report) as load:
        if not await_votes(load, port, wanted):
            raise Failure(f"loadgen ended before {wanted:,} votes:\n{load.communicate()[0]}")
        service.kill_in_life()
        say(f"killed after {wanted:,} votes")
        left = verify(options.binaries, data)
        with Service(options.binaries, data, port=port) as service:
            if service.hash != left:
                raise Failure(f"the state hash is {service.hash}, verify said {left}")
            loadgen.finish(load, seconds=LOADGEN_SECONDS)
            service.stop()
    audit = loadgen.read(report)["audit"]
    if not audit["passed"]:
        raise Failure("the audit did not pass")
    return {"votes": audit["votes_acknowledged"], "kills": 1}
