"""Pages and votes in mixes, beside a floor that answers as many bytes, and beside Redis."""

import collections
import contextlib
import random
import tempfile

import ballots
import clients
import frames
import growth
import lists
import machine
import page
import servers
import votes
from report import Table, middle, quietness, spread, verdict

CONNECTIONS = 100
REDIS_CONNECTIONS = 10  # its pages are slow, and it answers what it has read at once
VOTERS = 1000
FILL_SECONDS = 2     # of their ballots on the posts of the first page
TARGET_RATIO = 1.3   # of other orders over TOP, and of ten times the posts
USER = 1 << 63       # the first of pump's users
WEEK = 3

# What is asked for: a name, the server, the flags of pump, and by pages of 100 operations and requests
# in flight the multiple of the floor that is the goal.
Case = collections.namedtuple("Case", "name server flags goals")

FIRST = {(100, 1): 1.3, (100, 16): 2, (95, 1): 1.4, (95, 16): 3, (50, 1): 1.7, (50, 16): 6}
HOT_KEYS = {"zipf": votes.ZIPF}
TOP = Case("TOP", "anonymous", {}, FIRST)
TOP_OF_HOT = Case("TOP, hot posts", "hot", HOT_KEYS, {mix: FIRST[mix] for mix in FIRST if mix[0] < 100})
ORDERS = [Case(f"{name}, hot posts", "hot", {**HOT_KEYS, **flags}, {(95, 16): None}) for name, flags in {
    "HOT": {"order": lists.HOT}, "NEW": {"order": lists.NEW}, "BEST": {"order": lists.BEST},
    "TOP of a week": {"window": WEEK}}.items()]
CASES = [
    TOP, TOP_OF_HOT,
    Case("TOP, viewer with ballots", "viewer", {"voters": VOTERS, "feed": ballots.FEED},
         {**dict.fromkeys(FIRST), (95, 1): 1.7, (95, 16): 6}),
    Case("TOP, further pages", "anonymous", {"further": True},
         {**dict.fromkeys(FIRST), (100, 1): 2.5, (100, 16): 8, (95, 1): 2.5, (95, 16): 8}),
    *ORDERS]

Cell = collections.namedtuple("Cell", "posts case pages in_flight")  # the case by its name


def cells(sizes):
    return [Cell(posts, case.name, *mix) for posts in sizes for case in CASES for mix in case.goals]


def fill_viewers(tools, service, posts):
    """Ballots on the same 20 posts of all viewers put these on the first page."""
    ballots.create_feed(service)
    clients.pump(tools, service, create=posts, feed=ballots.FEED)
    clients.pump(tools, service, read_orders=3, feed=ballots.FEED)
    clients.pump(tools, service, connections=CONNECTIONS, in_flight=16, posts=lists.PAGE_SIZE,
                 voters=VOTERS, warmup=0, seconds=FILL_SECONDS)


def start(stack, tools, posts):
    """The servers with so many posts, by name, and the script of Redis's page."""
    running = {name: stack.enter_context(servers.Service(tools)) for name in ("anonymous", "hot", "viewer")}
    votes.fill(tools, running["anonymous"], posts)
    votes.fill(tools, running["hot"], posts)
    fill_viewers(tools, running["viewer"], posts)
    running["redis"] = stack.enter_context(servers.Redis(tools))
    return running, page.fill_redis(running["redis"], posts)


def recorded(server, flags):
    """The service's answers to such a page and to a vote, as frames."""
    user = USER if "voters" in flags else 0
    asked = {1: flags.get("feed", "posts").encode(), 2: flags.get("order", lists.TOP),
             3: flags.get("window", 0), 4: lists.PAGE_SIZE}
    with frames.Connection(server) as connection:
        answer = connection.exchange(frames.LIST_POSTS, frames.message(asked), user)
        if "further" in flags:
            token = frames.fields_of(frames.fields_of(answer)[frames.LIST_POSTS])[2]
            answer = connection.exchange(frames.LIST_POSTS, frames.message({**asked, 5: token}), user)
        vote = connection.exchange(frames.CAST_VOTE, frames.message({1: 1, 2: 1}), user)
    return b"".join(len(one).to_bytes(4, "big") + one for one in (answer, vote))


def measure(tools, running, script, cell, turn, options):
    """The samples of the cell, by peer."""
    case = next(case for case in CASES if case.name == cell.case)
    server = running[case.server]
    with tempfile.NamedTemporaryFile() as file:
        file.write(recorded(server, case.flags))
        file.flush()
        with servers.Floor(tools, answers=file.name) as floor:
            peers = [("service", server, {}), ("floor", floor, {})]
            if case is TOP:
                peers.append(("redis", running["redis"],
                              {"script": script, "connections": REDIS_CONNECTIONS}))
            random.Random(turn).shuffle(peers)
            return {name: clients.pump(tools, peer, **{
                "connections": CONNECTIONS, "in_flight": cell.in_flight, "posts": cell.posts,
                "page_share": cell.pages, "warmup": options.warmup, "seconds": options.seconds,
                **case.flags, **flags}) for name, peer, flags in peers}


def run(tools, options, progress):
    """All rounds: the samples by cell and peer."""
    results = {}
    with contextlib.ExitStack() as stack:
        running = {}
        for posts in [options.posts] if options.quick else [options.posts, 10 * options.posts]:
            if machine.available_bytes() < 4 * posts * growth.NEEDED_BYTES_A_POST:
                progress(f"pages: too little free memory for {posts:,} posts, which are left out")
                continue
            running[posts] = start(stack, tools, posts)
        results = {cell: [] for cell in cells(running)}
        for turn in range(options.growth_rounds):
            due = list(results)
            random.Random(turn).shuffle(due)
            for cell in due:
                taken = measure(tools, *running[cell.posts], cell, turn, options)
                results[cell].append(taken)
                costs = ", ".join(f"{peer} {cost(sample):.2f} µs" for peer, sample in taken.items())
                progress(f"pages {turn + 1}/{options.growth_rounds}: {cell.case}, {mix(cell)} at "
                         f"{cell.in_flight}, {cell.posts:,} posts: {costs}")
    return results


def figures(results):
    """The measurements, as JSON has them."""
    return [{**cell._asdict(), "rounds": [{peer: sample.values for peer, sample in one.items()}
                                          for one in taken]} for cell, taken in results.items()]


def mix(cell):
    return "pages alone" if cell.pages == 100 else f"{cell.pages}/{100 - cell.pages}"


def cost(sample):
    """Microseconds of processor time an operation."""
    return sample.server_seconds / (sample.votes + sample.pages) * 1e6


def ratios(taken, over="service", under="floor"):
    return [cost(one[over]) / cost(one[under]) for one in taken]


def goal(results, cell):
    """The goals of a cell: of its multiple of the floor, and of this beside that of another cell."""
    case = next(case for case in CASES if case.name == cell.case)
    base, over_floor, told = min(one.posts for one in results), ratios(results[cell]), []
    others = {"TOP": cell._replace(case=TOP_OF_HOT.name)} if case in ORDERS else {}
    if cell.posts > base:
        others[f"{base:,} posts"] = cell._replace(posts=base)
    elif target := case.goals[cell.pages, cell.in_flight]:
        told.append(verdict(middle(over_floor), target, most=True))
    for name, other in others.items():
        ratio = middle(a / b for a, b in zip(over_floor, ratios(results[other])))
        told.append(f"{ratio:.2f} × {name}, {verdict(ratio, TARGET_RATIO, most=True)}")
    return "; ".join(told)


def table(results, options):
    result = Table(
        f"Pages of 20 posts: {CONNECTIONS} connections, one server thread, in memory",
        ["Posts", "Pages", "Pages/votes", "In flight", "CPU-µs an operation", "least – most", "of the floor",
         "× floor", "of Redis", "Redis ÷ ours", "Goal"])
    for cell, taken in results.items():
        costs = {peer: [cost(one[peer]) for one in taken] for peer in taken[0]}
        has_redis = "redis" in costs
        result.add(
            f"{cell.posts:,}", cell.case, mix(cell), cell.in_flight, f"{middle(costs['service']):.2f}",
            spread(costs["service"], "{:.2f}"), f"{middle(costs['floor']):.2f}",
            f"{middle(ratios(taken)):.2f}", f"{middle(costs['redis']):.2f}" if has_redis else "",
            f"{middle(ratios(taken, 'redis', 'service')):.2f}" if has_redis else "", goal(results, cell))
    every = [one for taken in results.values() for one in taken]
    sizes = [size(one["floor"]) / size(one["service"]) for one in every]
    result.note(
        f"Rounds: {options.growth_rounds}, of {options.seconds:g} s each; medians, and ratios taken within a "
        f"round. The floor answered {spread(sizes, '{:.1%}')} of the service's bytes. "
        + quietness([sample for one in every for sample in one.values()]))
    result.note(
        f"Hot posts: votes have zipf {votes.ZIPF} keys, the others uniform ones. Callers are anonymous but for "
        f"{VOTERS:,} viewers, who have ballots on most posts of the page. Redis runs ZREVRANGE and 20 HMGET "
        "in one script a page, and ZINCRBY a vote.")
    return result


def size(sample):
    """Bytes an answer."""
    return sample.values["received_bytes"] / (sample.votes + sample.pages)
