"""The votes: floor, service and Redis, interleaved, at several requests in flight."""

import contextlib

import clients
import servers
from report import CORE, COST, COSTS, IN_FLIGHT, RATE, Part, cells, measured, middle, quietness, ratios, rounds, \
    rows_of, server, shown, verdict

TARGET_OVER_FLOOR = {1: 1.15, 16: 2.4, 64: 3.5}
TARGET_REDIS = {1: 1.6, 16: 3.2, 64: 6.0}
ZIPF = 0.99

# The rows of the tables; keys are uniform unless the name says otherwise.
ROWS = {
    "floor": "floor: a C echo of the same frames",
    "service": "this service",
    "service zipf": f"this service, zipf {ZIPF} keys",
    "redis": "redis-server, ZINCRBY",
    "redis zipf": f"redis-server, zipf {ZIPF} keys",
}
KINDS = {"floor": servers.Floor, "service": servers.Service, "redis": servers.Redis}


def run(options, progress):
    """The samples by (row, in flight)."""
    rows = [row for row in ROWS if row.split()[0] in options.rows]
    with contextlib.ExitStack() as stack:
        running = {row: stack.enter_context(KINDS[row.split()[0]](options)) for row in rows}
        for one in running.values():
            clients.fill(one, options.posts)

        def measure(cell, _):
            row, in_flight = cell
            if row == "redis":
                return clients.redis_benchmark(options, running[row], in_flight)
            pages = clients.FIRST_PAGES_PER_SECOND if row.startswith("service") else 0
            return clients.pump(options, running[row], in_flight=in_flight, first_page_rate=pages,
                                zipf=ZIPF if row.endswith("zipf") else 0)

        return measured("votes", options.rounds, cells(rows, options), measure, progress)


def over(row, other):
    """The median of the ratios to another row with as many requests in flight; "" where that is no part."""
    taken = row.results.get((other, row.key[1]))
    return middle(ratios(row.taken, taken)) if taken else ""


def over_floor(row):
    return over(row, "floor")


def over_ours(row):
    return over(row, row.key[0].replace("redis", "service")) if row.key[0].startswith("redis") else ""


def target(row):
    found, limits, most = (over_ours(row), TARGET_REDIS, False) if row.key[0].startswith("redis") else \
        (over_floor(row) if row.key[0].startswith("service") else "", TARGET_OVER_FLOOR, True)
    return "" if found == "" else verdict(found, limits.get(row.key[1]), most)


def notes(results, options):
    return [rounds(options.rounds, options) + quietness([one for taken in results.values() for one in taken])]


VOTES = Part(
    "votes", run,
    lambda _, options: f"Votes: {options.connections} connections, {options.posts:,} posts, one server thread",
    [IN_FLIGHT, server(ROWS), RATE, CORE, COST, COSTS, ("× floor", lambda row: shown(over_floor(row))),
     ("Redis ÷ ours", lambda row: shown(over_ours(row))), ("Target", target)],
    notes, lambda results, options: rows_of(results, options, cells(ROWS, options)), ["server", "in_flight"])
