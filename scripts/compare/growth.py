"""The cost of a vote and the bytes of a post, for growing numbers of posts."""

import contextlib
import random

import clients
import machine
import servers
import votes
from report import Table, middle, quietness, spread, verdict

POSTS = [10_000, 100_000, 1_000_000, 10_000_000]
TARGET_GROWTH = {1: 1.15, 16: 1.6, 64: 2.5}
TARGET_BYTES = 200
NEEDED_BYTES_A_POST = 600  # of memory that must be free to try


def weigh(tools, service, posts):
    """Creates the posts, has TOP and NEW kept, and returns the bytes of a post without its text."""
    before = machine.resident_bytes(service.pid)
    created = clients.pump(tools, service, create=posts)
    clients.pump(tools, service, read_orders=2)
    grown = machine.resident_bytes(service.pid) - before
    clients.pump(tools, service, read_orders=3)
    return (grown - created.values["text_bytes"]) / posts


def run(tools, options, progress):
    """By number of posts: bytes a post, and by requests in flight the cost of each round."""
    sizes = POSTS[:2] if options.quick else POSTS
    results, every = {}, []
    with contextlib.ExitStack() as stack:
        running = {}
        for posts in sizes:
            if machine.available_bytes() < posts * NEEDED_BYTES_A_POST:
                progress(f"growth: too little free memory for {posts:,} posts, which are left out")
                continue
            running[posts] = stack.enter_context(servers.Service(tools))
            weight = weigh(tools, running[posts], posts)
            results[posts] = {"bytes_a_post": weight, "costs": {p: [] for p in options.in_flight}}
            progress(f"growth: {posts:,} posts: {weight:.0f} bytes a post without its text")
        for turn in range(options.growth_rounds):
            cells = [(posts, in_flight) for posts in running for in_flight in options.in_flight]
            random.Random(turn).shuffle(cells)
            for posts, in_flight in cells:
                sample = clients.pump(
                    tools, running[posts], connections=options.connections, in_flight=in_flight,
                    posts=posts, warmup=options.warmup, seconds=options.seconds,
                    first_page_rate=votes.FIRST_PAGES_PER_SECOND)
                results[posts]["costs"][in_flight].append(sample.cost)
                every.append(sample)
                progress(f"growth {turn + 1}/{options.growth_rounds}: {posts:,} posts at "
                         f"{in_flight}: {sample.cost:.3f} CPU-s/M")
    return {"posts": results, "quiet": quietness(every)}


def table(results, options):
    result = Table(
        "The cost of a vote, and the bytes of a post, for growing numbers of posts",
        ["Posts", *(f"CPU-s/M at {p}" for p in options.in_flight), "Bytes a post without its text"])
    sizes = results["posts"]
    for posts, taken in sizes.items():
        cells = [f"{middle(costs):.3f} ({spread(costs, '{:.3f}')})"
                 for costs in taken["costs"].values()]
        weight = taken["bytes_a_post"]
        target = verdict(weight, TARGET_BYTES, most=True) if posts == 1_000_000 else ""
        result.add(f"{posts:,}", *cells, f"{weight:.0f} {target}".strip())
    least, most = min(sizes), max(sizes)
    grown = []
    for in_flight in options.in_flight:
        pairs = zip(sizes[most]["costs"][in_flight], sizes[least]["costs"][in_flight])
        growth = middle(large / small for large, small in pairs)
        grown.append(f"× {growth:.2f} ({verdict(growth, TARGET_GROWTH.get(in_flight), most=True)})")
    result.add(f"growth, {least:,} to {most:,}", *grown, "")
    result.note(
        "As in the table of votes: TOP, NEW and HOT are kept, a first page is read every "
        "millisecond, keys are uniform. The bytes of a post are the growth of the service's "
        "resident memory, with TOP and NEW kept, without the bytes of titles and authors. "
        + results["quiet"])
    return result
