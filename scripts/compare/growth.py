"""The cost of a vote and the bytes of a post, for growing numbers of posts."""

import contextlib

import clients
import machine
import servers
from report import Part, figure, measured, middle, quietness, ratios, shown, spread, verdict

POSTS = [10_000, 100_000, 1_000_000, 10_000_000]
TARGET_GROWTH = {1: 1.15, 16: 1.6, 64: 2.5}
TARGET_BYTES = 200
NEEDED_BYTES_A_POST = 600  # of memory that must be free to try


def has_room(name, posts, count, progress):
    """Whether there is memory for so many posts of so many servers."""
    if machine.available_bytes() >= count * posts * NEEDED_BYTES_A_POST:
        return True
    progress(f"{name}: too little free memory for {posts:,} posts, which are left out")
    return False


def weigh(service, posts):
    """Creates the posts, has TOP and NEW kept, and returns the bytes of a post without its text."""
    before = machine.resident_bytes(service.pid)
    clients.fill(service, posts, orders=2)
    grown = machine.resident_bytes(service.pid) - before
    clients.read_orders(service, 3)
    text_bytes = sum(len(text) for number in range(posts) for text in clients.texts(number))
    return (grown - text_bytes) / posts


def run(options, progress):
    """The samples by (posts, in flight), and the bytes of a post by the number of posts."""
    weights = {}
    with contextlib.ExitStack() as stack:
        running = {}
        for posts in POSTS[:2] if options.quick else POSTS:
            if has_room("growth", posts, 1, progress):
                running[posts] = stack.enter_context(servers.Service(options))
                weights[posts] = weigh(running[posts], posts)
                progress(f"growth: {posts:,} posts: {weights[posts]:.0f} bytes a post without its text")

        def measure(cell, _):
            posts, in_flight = cell
            return clients.pump(options, running[posts], in_flight=in_flight, posts=posts,
                                first_page_rate=clients.FIRST_PAGES_PER_SECOND)

        cells = [(posts, in_flight) for posts in running for in_flight in options.in_flight]
        return {"bytes_a_post": weights,
                "votes": measured("growth", options.growth_rounds, cells, measure, progress)}


def rows(results, options):
    """A row for each number of posts, and one of what more of them cost."""
    taken, weights = results["votes"], results["bytes_a_post"]
    for posts, weight in weights.items():
        costs = [[figure(one, "cost") for one in taken[posts, in_flight]] for in_flight in options.in_flight]
        target = verdict(weight, TARGET_BYTES, most=True) if posts == 1_000_000 else ""
        yield [f"{posts:,}", *(f"{shown(middle(each), '{:.3f}')} ({spread(each, '{:.3f}')})" for each in costs),
               f"{weight:.0f} {target}".strip()]
    least, most = min(weights), max(weights)
    grown = {in_flight: middle(ratios(taken[most, in_flight], taken[least, in_flight]))
             for in_flight in options.in_flight}
    yield [f"growth, {least:,} to {most:,}",
           *(f"× {shown(times)} ({verdict(times, TARGET_GROWTH.get(in_flight), most=True)})"
             for in_flight, times in grown.items()), ""]


def columns(options):
    headings = ["Posts", *(f"CPU-s/M at {p}" for p in options.in_flight), "Bytes a post without its text"]
    return [(heading, lambda row, place=place: row[place]) for place, heading in enumerate(headings)]


def notes(results, _):
    return [quietness([sample for taken in results["votes"].values() for sample in taken])]


class Growth(Part):
    def figures(self, results):
        return {**results, "votes": [{"posts": posts, "in_flight": in_flight, "rounds": taken}
                                     for (posts, in_flight), taken in results["votes"].items()]}


PART = Growth(
    "growth", run, lambda *_: "The cost of a vote, and the bytes of a post, for growing numbers of posts", columns,
    notes, rows)
