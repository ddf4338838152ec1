"""What being watched costs a vote: the service with its metrics scraped each second, beside the same without.

The difference is smaller than the drift of a machine within a minute. So short slices of the two take turns,
the first of each pair in turn, and the ratios of the pairs are what counts.
"""

import contextlib
import threading
import urllib.request

import clients
import machine
import servers
import votes
from report import Table, median_interval, middle, quietness

TARGET = 1.02  # of the processor time of a vote without
SCRAPE_SECONDS = 1
ROWS = ["without", "with"]


class Scraper(threading.Thread):
    """Reads the metrics of a service each second, on the cores of the clients, until `stop`."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.address = f"http://127.0.0.1:{service.admin_port}/metrics"
        self.ending, self.count, self.bytes = threading.Event(), 0, 0

    def run(self):
        servers.pinned(client=True)()
        while not self.ending.wait(SCRAPE_SECONDS):
            with urllib.request.urlopen(self.address, timeout=10) as answer:
                self.bytes = len(answer.read())
            self.count += 1

    def stop(self):
        self.ending.set()
        self.join()


@contextlib.contextmanager
def scraped(service):
    """The service while its metrics are read."""
    scraper = Scraper(service)
    scraper.start()
    try:
        yield scraper
    finally:
        scraper.stop()


def run(tools, options, progress):
    """The pairs: for each number of requests in flight a list of samples without and with."""
    pairs = {in_flight: [] for in_flight in options.in_flight}
    with contextlib.ExitStack() as stack:
        running = {row: stack.enter_context(servers.Service(tools, is_watched=row == "with")) for row in ROWS}
        for service in running.values():
            votes.fill(tools, service, options.posts)
        scraper = stack.enter_context(scraped(running["with"]))
        for in_flight, taken in pairs.items():
            for turn in range(options.pairs):
                pair = {}
                for row in ROWS if turn % 2 else reversed(ROWS):
                    pair[row] = clients.pump(
                        tools, running[row], connections=options.connections, in_flight=in_flight,
                        posts=options.posts, warmup=options.warmup, seconds=options.seconds)
                taken.append(pair)
                progress(f"metrics {turn + 1}/{options.pairs}: at {in_flight}: "
                         f"{pair['with'].cost / pair['without'].cost:.4f} times")
        count = scraper.count
    if count == 0:
        raise RuntimeError("the metrics were never read")
    return {"pairs": pairs, "scrapes": count, "bytes": scraper.bytes}


def figures(results):
    """The measurements, as JSON has them."""
    return [{"in_flight": in_flight,
             "pairs": [{row: pair[row].values for row in ROWS} for pair in taken]}
            for in_flight, taken in results["pairs"].items()]


def ratios(taken):
    """With ÷ without, of each pair."""
    return [pair["with"].cost / pair["without"].cost for pair in taken]


def table(results, options):
    result = Table(
        f"Metrics scraped each second: {options.connections} connections, {options.posts:,} posts, one "
        "server thread",
        ["In flight", "CPU-s per million votes without", "with", "with ÷ without", "95 % interval", "Target"])
    for in_flight, taken in results["pairs"].items():
        found = ratios(taken)
        least, most = median_interval(found)
        verdict = "met" if middle(found) <= TARGET else "**missed**"
        result.add(in_flight, *(f"{middle(pair[row].cost for pair in taken):.3f}" for row in ROWS),
                   f"{middle(found):.4f}", f"{least:.4f} – {most:.4f}", f"≤ {TARGET:g}: {verdict}")
    every = [pair[row] for taken in results["pairs"].values() for pair in taken for row in ROWS]
    result.note(
        f"Pairs: {options.pairs}, of {options.seconds:g} s each; the median of their ratios, and an interval "
        f"of the median by bootstrap. {quietness(every)}")
    result.note(
        f"Both keep latencies. One has `--admin` and was scraped {results['scrapes']} times, at the end "
        f"{results['bytes']:,} bytes at a time, on its core; pages are not read.")
    return result
