"""The cost of loadgen itself, beside the minimal client and the floor, and its audit."""

import clients
import servers
from report import COSTS, Part, column, measured, middle, ratios, rows_of, shown, verdict

TARGET_OVER_PUMP = 1.2  # at 1 in flight
TARGET_COST = 0.15      # CPU-seconds per million votes at 64 in flight
# The same on another machine: where the target is from, the floor takes 0.086.
TARGET_OVER_FLOOR = round(TARGET_COST / 0.086, 2)
NAMES = {"floor": "the floor itself: a C echo of the same frames", "pump": "minimal client in C",
         "loadgen": "loadgen, audited"}
FLIGHTS = (1, 64)


def measure(side, in_flight, options):
    """What a vote costs a client, or the floor, against a server of its own."""
    with (servers.Floor if side == "floor" else servers.Service)(options) as server:
        if side == "loadgen":
            run = clients.run_loadgen(
                options, server, "--clients", options.connections, "--pipeline", in_flight, "--posts",
                options.posts, "--keys", "uniform", "--duration", f"{options.seconds}s")
            return {"cost": run["cpu"].get("generator_seconds_per_million"),
                    "server_cost": run["cpu"].get("server_seconds_per_million"),
                    "per_second": run["per_second"], "audited": run["audit"]["votes_acknowledged"],
                    "passed": run["audit"]["passed"], "verdict": run["verdict"]["bound"]}
        clients.fill(server, options.posts)
        sample = clients.pump(options, server, in_flight=in_flight)
    return {"cost": sample.cost if side == "floor" else sample.client_cost, "server_cost": sample.cost,
            "per_second": sample.votes_per_second}


def run(options, progress):
    """The figures of each round, by client or floor and requests in flight."""
    return measured("loadgen", options.growth_rounds, [(side, in_flight) for in_flight in FLIGHTS for side in NAMES],
                    lambda cell, _: measure(*cell, options), progress)


def over(row, other):
    return middle(ratios(row.taken, row.results[other, row.key[1]]))


def target(row):
    """What loadgen is to take at most, and whether it does."""
    side, in_flight = row.key
    if side != "loadgen":
        return ""
    if in_flight == 1:
        return verdict(over(row, "pump"), TARGET_OVER_PUMP, most=True, form="{:g} × minimal")
    cost = middle(one["cost"] for one in row.taken)
    return "; ".join([verdict(cost, TARGET_COST, most=True, form="{:g} CPU-s"),
                      verdict(over(row, "floor"), TARGET_OVER_FLOOR, most=True, form="{:g} × floor")])


def notes(results, _):
    runs = [one for in_flight in FLIGHTS for one in results["loadgen", in_flight]]
    return [f"The audit of loadgen's {len(runs)} runs: "
            f"{'PASS' if all(one['passed'] for one in runs) else '**FAIL**'}, "
            f"{sum(one['audited'] for one in runs):,} votes acknowledged and found counted once."]


PART = Part(
    "loadgen", run, lambda *_: "The load generator: what a vote costs the client",
    [("In flight", lambda row: row.key[1]), ("Client", lambda row: NAMES[row.key[0]]),
     column("Votes/s", "per_second", "{:,.0f}"), column("CPU-s per million votes", "cost", "{:.3f}"), COSTS,
     ("× minimal client", lambda row: "" if row.key[0] == "floor" else shown(over(row, "pump"))),
     ("× floor", lambda row: shown(over(row, "floor"))), ("Target", target)],
    notes, lambda results, options: rows_of(results, options, [(side, n) for n in FLIGHTS for side in NAMES]),
    ["client", "in_flight"])
