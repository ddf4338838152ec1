"""The cost of loadgen itself, beside the minimal client and the floor, and its audit."""

import json
import random
import subprocess
import tempfile

import clients
import servers
import votes
from report import Table, middle, spread, verdict

TARGET_OVER_PUMP = 1.2  # at 1 in flight
TARGET_COST = 0.15      # CPU-seconds per million votes at 64 in flight
# The same on another machine: where the target is from, the floor takes 0.086.
TARGET_OVER_FLOOR = round(TARGET_COST / 0.086, 2)


def loadgen(tools, in_flight, options):
    """One audited run against a service of its own: its cost, and the votes audited."""
    with servers.Service(tools) as service, tempfile.TemporaryDirectory() as directory:
        written = directory + "/run.json"
        command = [
            tools.binaries + "/loadgen", "--target", f"127.0.0.1:{service.port}", "--clients",
            options.connections, "--threads", 1, "--pipeline", in_flight, "--posts", options.posts,
            "--keys", "uniform", "--warmup", options.warmup, "--duration", options.seconds,
            "--quiet", "--json", written]
        finished = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True,
            preexec_fn=servers.pinned(client=True), timeout=600)
        if finished.returncode != 0:
            raise RuntimeError(f"loadgen ended with {finished.returncode}:\n{finished.stdout}"
                               f"{finished.stderr}")
        with open(written) as file:
            run = json.load(file)
    return {"cost": run["cpu"]["generator_seconds_per_million"],
            "server_cost": run["cpu"]["server_seconds_per_million"],
            "per_second": run["per_second"], "audited": run["audit"]["votes_acknowledged"],
            "passed": run["audit"]["passed"], "verdict": run["verdict"]["bound"]}


def pump(tools, in_flight, options):
    with servers.Service(tools) as service:
        votes.fill(tools, service, options.posts)
        sample = clients.pump(
            tools, service, connections=options.connections, in_flight=in_flight,
            posts=options.posts, warmup=options.warmup, seconds=options.seconds)
    return {"cost": sample.client_cost, "server_cost": sample.cost,
            "per_second": sample.votes_per_second}


def floor(tools, in_flight, options):
    """What a server takes that only echoes what the minimal client sends."""
    with servers.Floor(tools) as echo:
        sample = clients.pump(
            tools, echo, connections=options.connections, in_flight=in_flight,
            posts=options.posts, warmup=options.warmup, seconds=options.seconds)
    return {"cost": sample.cost, "per_second": sample.votes_per_second}


def run(tools, options, progress):
    """The figures of each round, by client or floor and requests in flight."""
    sides = {"loadgen": loadgen, "pump": pump, "floor": floor}
    results = {f"{side} {in_flight}": [] for side in sides for in_flight in (1, 64)}
    for turn in range(options.growth_rounds):
        cells = list(results)
        random.Random(turn).shuffle(cells)
        for cell in cells:
            side, in_flight = cell.split()
            taken = sides[side](tools, int(in_flight), options)
            results[cell].append(taken)
            progress(f"loadgen {turn + 1}/{options.growth_rounds}: {side} at {in_flight}: "
                     f"{taken['cost']:.3f} CPU-s/M, {taken['per_second']:,.0f}/s")
    return results


def targets(in_flight, costs, over_pump, over_floor):
    """What loadgen is to take at most, and whether it does."""
    if in_flight == 1:
        return verdict(over_pump, TARGET_OVER_PUMP, most=True, form="{:g} × minimal")
    return "; ".join([verdict(middle(costs), TARGET_COST, most=True, form="{:g} CPU-s"),
                      verdict(over_floor, TARGET_OVER_FLOOR, most=True, form="{:g} × floor")])


def table(results, options):
    result = Table(
        "The load generator: what a vote costs the client",
        ["In flight", "Client", "Votes/s", "CPU-s per million votes", "least – most",
         "× minimal client", "× floor", "Target"])
    names = {"floor": "the floor itself: a C echo of the same frames", "pump": "minimal client in C",
             "loadgen": "loadgen, audited"}
    for in_flight in (1, 64):
        floors, minimal = results[f"floor {in_flight}"], results[f"pump {in_flight}"]
        for side, name in names.items():
            taken = results[f"{side} {in_flight}"]
            costs = [one["cost"] for one in taken]
            over_pump, over_floor = (middle(a["cost"] / b["cost"] for a, b in zip(taken, others))
                                     for others in (minimal, floors))
            result.add(
                in_flight, name, f"{middle(one['per_second'] for one in taken):,.0f}",
                f"{middle(costs):.3f}", spread(costs, "{:.3f}"),
                "" if side == "floor" else f"{over_pump:.2f}", f"{over_floor:.2f}",
                targets(in_flight, costs, over_pump, over_floor) if side == "loadgen" else "")
    runs = results["loadgen 1"] + results["loadgen 64"]
    result.note(
        f"The audit of loadgen's {len(runs)} runs: "
        f"{'PASS' if all(one['passed'] for one in runs) else '**FAIL**'}, "
        f"{sum(one['audited'] for one in runs):,} votes acknowledged and found counted once.")
    return result
