"""Real posts and votes through a service that is killed and started again half way."""

import csv
import json
import os
import shutil
import subprocess
import time

from service import Failure, ReservedPort, Service, verify
from tally import Tally
from wire import Connection, Lost

RETRIES = 100
POLL_SECONDS = 0.02
LOADGEN_SECONDS = 3600


def votes_in(paths):
    """The votes that files record."""
    csv.field_size_limit(1 << 30)
    total = 0
    for path in paths:
        with open(path, newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                total += int(row.get("ups") or 0) + int(row.get("downs") or 0)
    return total


def await_votes(service, load, wanted):
    """Waits until the service has executed so many votes; false where the load ended first."""
    with Connection(service.port) as connection:
        while load.poll() is None:
            if connection.count_of("cast_vote") >= wanted:
                return True
            time.sleep(POLL_SECONDS)
    return False


def live_through(options, directory, say):
    """Makes one run of loadgen, and returns its results. Raises Failure."""
    with ReservedPort() as port:
        return live_through_at(port, options, directory, say)


def live_through_at(port, options, directory, say):
    data, report = directory + "/data", directory + "/run.json"
    wanted = int(votes_in(options.files) * options.kill_at)
    service = Service(options.binaries, data, port=port)
    load = subprocess.Popen(
        [options.binaries + "/loadgen", "dataset", *options.files, "--retry", str(RETRIES),
         "--target", f"127.0.0.1:{port}", "--clients", "50", "--pipeline", "64",
         "--quiet", "--json", report],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        if not await_votes(service, load, wanted):
            raise Failure(f"loadgen ended before {wanted:,} votes:\n{load.communicate()[0]}")
        service.kill_in_life()
        say(f"killed after {wanted:,} votes")
        left = verify(options.binaries, data)
        service = Service(options.binaries, data, port=port)
        if service.hash != left:
            raise Failure(f"the state hash is {service.hash}, verify said {left}")
        output, _ = load.communicate(timeout=LOADGEN_SECONDS)
        if load.returncode != 0:
            raise Failure(f"loadgen ended with {load.returncode}:\n{output}")
        service.stop()
    finally:
        load.kill()
        service.kill_if_alive()
    with open(report) as file:
        return json.load(file)


def run(options, say):
    tally = Tally(options.output, "dataset")
    directory = options.output + "/dataset-data"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    started = time.monotonic()
    piece = {"failures": []}
    try:
        found = live_through(options, directory, say)
        piece["votes"] = found["audit"]["votes_acknowledged"]
        piece["kills"] = 1
        if not found["audit"]["passed"]:
            raise Failure("the audit did not pass")
        shutil.rmtree(directory)
    except (Failure, Lost, subprocess.TimeoutExpired) as failure:
        piece["failures"] = [str(failure)]
        say(str(failure))
    piece["seconds"] = round(time.monotonic() - started, 2)
    tally.add(piece)
    counts = [("runs", len(tally.pieces)), ("kills", tally.sum("kills")),
              ("votes found counted once", tally.sum("votes"))]
    return tally, counts, True
