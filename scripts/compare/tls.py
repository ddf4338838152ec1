"""Votes over TLS: this service, an echo with OpenSSL as the floor, and Redis with TLS."""

import contextlib
import random
import tempfile

import clients
import servers
import votes
from report import Table, middle, quietness, spread, verdict

TARGET_OVER_FLOOR = {1: 1.15, 16: 2.0, 64: 3.0}
TARGET_REDIS = {16: 1.5}  # votes a second of this service over those of Redis

ROWS = {
    "floor": "floor: a C echo with OpenSSL",
    "service": "this service",
    "redis": "redis-server, ZINCRBY",
}


def run(tools, options, progress):
    """All rounds; the samples by (row, in flight)."""
    kinds = {"floor": servers.Floor, "service": servers.Service, "redis": servers.Redis}
    samples = {(row, in_flight): [] for in_flight in options.in_flight for row in ROWS}
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        certificate = servers.Certificate(directory)
        running = {
            row: stack.enter_context(kind(tools, certificate=certificate))
            for row, kind in kinds.items()}
        created = clients.pump(tools, running["service"], create=options.posts, tls=True)
        if created.values["last_post_id"] != options.posts:
            raise RuntimeError("the service was not empty: posts are not numbered from 1")
        votes.fill_redis(running["redis"], options.posts)
        for turn in range(options.rounds):
            cells = list(samples)
            random.Random(turn).shuffle(cells)
            for row, in_flight in cells:
                sample = clients.pump(
                    tools, running[row], tls=True, connections=options.connections,
                    in_flight=in_flight, posts=options.posts, warmup=options.warmup,
                    seconds=options.seconds)
                samples[row, in_flight].append(sample)
                progress(f"tls {turn + 1}/{options.rounds}: {row} at {in_flight}: "
                         f"{sample.cost:.3f} CPU-s/M, {sample.votes_per_second:,.0f}/s, "
                         f"others {sample.others:.1%}")
    return samples


def figures(samples):
    """The measurements, as JSON has them."""
    return [{"server": row, "in_flight": in_flight, "rounds": [one.values for one in taken]}
            for (row, in_flight), taken in samples.items()]


def table(samples, options):
    result = Table(
        f"Votes over TLS 1.3: {options.connections} connections, {options.posts:,} posts, one server "
        "thread",
        ["In flight", "Server", "Votes/s", "of its core", "CPU-s per million votes",
         "least – most", "× floor", "Ours ÷ Redis, votes/s", "Target"])
    for in_flight in options.in_flight:
        for row, name in ROWS.items():
            taken = samples[row, in_flight]
            costs = [sample.cost for sample in taken]
            over_floor = votes.ratios(samples, (row, in_flight), ("floor", in_flight))
            target = over_redis = ""
            if row == "service":
                target = verdict(middle(over_floor), TARGET_OVER_FLOOR.get(in_flight), most=True)
            if row == "redis":
                pairs = zip(samples["service", in_flight], taken)
                ratio = middle(a.votes_per_second / b.votes_per_second for a, b in pairs)
                over_redis = f"{ratio:.2f}"
                target = verdict(ratio, TARGET_REDIS.get(in_flight), most=False)
            result.add(
                in_flight, name, f"{middle(s.votes_per_second for s in taken):,.0f}",
                f"{middle(s.core_share for s in taken):.0%}",
                f"{middle(costs):.3f}", spread(costs, "{:.3f}"), f"{middle(over_floor):.2f}",
                over_redis, target)
    every = [sample for taken in samples.values() for sample in taken]
    result.note(
        f"Rounds: {options.rounds}, of {options.seconds:g} s each; medians, and ratios taken within a "
        f"round. {quietness(every)}")
    result.note("All by the same minimal client in C. Connections are open before a measurement, so "
                "no handshake is in it.")
    return result
