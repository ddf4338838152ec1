"""How long a vote takes that is synced before it is answered, at half of what the service can do,
beside what it takes at the same rate in memory, on the same machine in the same minutes."""

import clients
import disk
import servers
from report import Part, Row, column, figure, measured, middle, quietness, ratio, shown, span, verdict

IN_FLIGHT = 64   # of the capacity, and votes in a burst
SHARE = 0.5      # of the capacity
STEP = 1000      # votes a second, which the rate is a multiple of
BASE_MILLISECONDS = 2
SYNCS = 5        # how many of the disk's own p99 are allowed beside
APPENDS = 500


def rate_of(capacity):
    return max(STEP, int(capacity * SHARE / STEP) * STEP)


def limit(sync_p99):
    """The milliseconds that the p99 of a vote may take."""
    return BASE_MILLISECONDS + SYNCS * sync_p99


def run(options, progress):
    """Each round: the capacity, then votes at half of it, with the disk probed before and after."""
    every = []
    seconds = max(options.seconds, options.durable_seconds / 3)
    with disk.directory(options) as directory, servers.Service(options, directory) as service, \
            servers.Service(options) as memory:
        for server in (service, memory):
            clients.fill(server, options.posts)

        def measure(*_):
            full = clients.pump(options, service, in_flight=IN_FLIGHT)
            rate = rate_of(full.votes_per_second)
            syncs = disk.syncs(options, APPENDS)
            half, floor = (clients.pump(options, server, vote_rate=rate, burst=IN_FLIGHT, seconds=seconds)
                           for server in (service, memory))
            syncs += disk.syncs(options, APPENDS)
            every.extend([full, half, floor])
            return {"capacity": full.votes_per_second, "rate": rate, "disk": disk.summary(syncs),
                    "memory_p99_ms": floor.values["p99_ms"],
                    "skipped": half.values["skipped"] + floor.values["skipped"],
                    **{name: half.values[name] for name in
                       ("latencies", "p50_ms", "p99_ms", "p999_ms", "votes", "seconds")}}

        rounds = measured("latency", options.growth_rounds, ["rounds"], measure, progress)
    return {**rounds, "about": disk.describe(options), "quiet": quietness(every)}


def milliseconds(heading, name):
    return column(heading, name, "{:.2f} ms")


def of_disk(heading, name):
    return heading, lambda row: shown(middle(one["disk"][name] for one in row.taken), "{:.2f} ms")


def target(row):
    """Each round is held against the disk as it was in that round."""
    limits = [limit(one["disk"]["p99_ms"]) for one in row.taken]
    over = middle(ratio(figure(one, "p99_ms"), allowed) for one, allowed in zip(row.taken, limits))
    return verdict(over * middle(limits), middle(limits), most=True, form="{:.1f} ms")


def notes(results, _):
    yield (f"Connections send one after another, {IN_FLIGHT} votes each, answered or not. The file system is "
           f"{results['about']['file_system']}. In memory: the same votes right after, of a service without a "
           f"journal: what the machine itself takes. {results['quiet']}")
    if skipped := sum(one["skipped"] for one in results["rounds"]):
        yield f"**{skipped:,} votes found no room and were not sent: the latencies are too good.**"


PART = Part(
    "latency", run,
    lambda _, options: f"How long a durable vote takes, at half of the votes a second that {IN_FLIGHT} in flight "
                       f"reach: {options.connections} connections, {options.posts:,} posts, one server thread",
    [column("Votes/s", "rate", "{:,.0f}"), milliseconds("p50", "p50_ms"), milliseconds("p99", "p99_ms"),
     span("p99_ms", "{:.2f}"), milliseconds("p99.9", "p999_ms"), milliseconds("p99 in memory", "memory_p99_ms"),
     of_disk("fdatasync p50", "p50_ms"), of_disk("fdatasync p99", "p99_ms"), ("Target of p99", target)],
    notes, lambda results, options: [Row(None, results["rounds"], results, options)])
