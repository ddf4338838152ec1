"""What being watched costs a vote: the service with its metrics scraped each second, beside the same without.

The difference is smaller than the drift of a machine within a minute. So short slices of the two take turns,
the first of each pair in turn, and the ratios of the pairs are what counts.
"""

import contextlib
import urllib.request

import clients
import servers
from report import Part, figure, median_interval, middle, quietness, ratio, rows_of, shown

TARGET = 1.02  # of the processor time of a vote without
SCRAPE_SECONDS = 1
ROWS = ["without", "with"]


class Scraper(clients.Beside):
    """Reads the metrics of a service each second."""

    def __init__(self, service):
        super().__init__("what reads the metrics", service)
        self.address, self.count, self.bytes = f"http://127.0.0.1:{service.admin_port}/metrics", 0, 0

    def connected(self, port):
        return contextlib.nullcontext()

    def step(self, _):
        if not self.ends_within(SCRAPE_SECONDS):
            with urllib.request.urlopen(self.address, timeout=10) as answer:
                self.bytes = len(answer.read())
            self.count += 1


def run(options, progress):
    """The pairs: for each number of requests in flight a list of samples without and with."""
    pairs = {in_flight: [] for in_flight in options.in_flight}
    with contextlib.ExitStack() as stack:
        running = {row: stack.enter_context(servers.Service(options, is_watched=row == "with")) for row in ROWS}
        for service in running.values():
            clients.fill(service, options.posts)
        scraper = stack.enter_context(Scraper(running["with"]))
        for in_flight, taken in pairs.items():
            for turn in range(options.pairs):
                taken.append({row: clients.pump(options, running[row], in_flight=in_flight)
                              for row in (ROWS if turn % 2 else reversed(ROWS))})
                progress(f"metrics {turn + 1}/{options.pairs}: at {in_flight}: {ratios(taken)[-1]:.4f} times")
    if scraper.count == 0:
        raise RuntimeError("the metrics were never read")
    return {"pairs": pairs, "scrapes": scraper.count, "bytes": scraper.bytes}


def ratios(taken):
    """With ÷ without, of each pair."""
    return [ratio(pair["with"].cost, pair["without"].cost) for pair in taken]


def cost(which):
    return lambda row: shown(middle(figure(pair[which], "cost") for pair in row.taken), "{:.3f}")


def target(row):
    return f"≤ {TARGET:g}: {'met' if middle(ratios(row.taken)) <= TARGET else '**missed**'}"


def notes(results, options):
    every = [pair[row] for taken in results["pairs"].values() for pair in taken for row in ROWS]
    return [
        f"Pairs: {options.pairs}, of {options.seconds:g} s each; the median of their ratios, and an interval "
        f"of the median by bootstrap. One has `--admin` and was scraped {results['scrapes']} times, at the end "
        f"{results['bytes']:,} bytes at a time, on its core. {quietness(every)}"]


PART = Part(
    "metrics", run,
    lambda _, options: f"Metrics scraped each second: {options.connections} connections, {options.posts:,} posts, "
                       "one server thread",
    [("In flight", lambda row: row.key), ("CPU-s per million votes without", cost("without")), ("with", cost("with")),
     ("with ÷ without", lambda row: f"{middle(ratios(row.taken)):.4f}"),
     ("95 % interval", lambda row: "{:.4f} – {:.4f}".format(*median_interval(ratios(row.taken)))),
     ("Target", target)],
    notes, lambda results, options: rows_of(results["pairs"], options))
