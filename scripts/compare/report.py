"""How a part of the comparison is described and printed, and the few statistics that tables need."""

import collections
import itertools
import math
import random
import statistics

NOISE = 0.10  # what a target is allowed for it
QUIET = 0.03  # what others may take of the machine
NOT_MEASURED = "not measured"

# The blocks of pages that are the output of a comparison.
BEGIN = "<!-- What follows is the output of scripts/compare.sh --update-readme. -->\n"
README_BEGIN = "<!-- scripts/compare.sh --parts sides --update-readme puts its table here. -->\n"
END = "<!-- End of the output. -->\n"


# ---- Statistics

def known(values):
    """The values that were measured; None stands for one that was not."""
    return [value for value in values if value is not None]


def middle(values):
    """The median of what was measured; None where nothing was."""
    found = known(values)
    return statistics.median(found) if found else None


def ratio(over, under):
    return over / under if over is not None and under else None


def figure(one, name):
    """A figure of a measurement, which is a dictionary or has `values`; None where it was not measured."""
    values = one if isinstance(one, dict) else one.values
    return values[name] if name in values else getattr(one, name, None)


def ratios(over, under, name="cost"):
    """Compares round by round, so that a drift of the machine cancels out."""
    return [ratio(figure(a, name), figure(b, name)) for a, b in zip(over, under)]


def hodges_lehmann(ratios):
    """The ratio of pairs with its interval of 95%, as loadgen --ab has it: the median of the means of
    all two logarithms, and the interval of Wilcoxon's signed-rank test; None of fewer than six."""
    if len(ratios) < 6:
        return None
    logarithms = [math.log(ratio) for ratio in ratios]
    means = sorted((one + other) / 2 for one, other
                   in itertools.combinations_with_replacement(logarithms, 2))
    chances = [1.0]  # of each sum of signed ranks
    for rank in range(1, len(ratios) + 1):
        chances = [(low + high) / 2 for low, high
                   in zip(chances + [0.0] * rank, [0.0] * rank + chances)]
    tails = itertools.accumulate(chances)
    outside = max(0, next(place for place, tail in enumerate(tails) if tail > 0.025) - 1)
    return tuple(math.exp(value) for value
                 in (statistics.median(means), means[outside], means[-1 - outside]))


# ---- Texts

def shown(value, form="{:.2f}"):
    """A figure as text; a text, as "" where there is nothing to say, stays one."""
    if value is None:
        return NOT_MEASURED
    return value if isinstance(value, str) else form.format(value)


def spread(values, form):
    found = known(values)
    return f"{form.format(min(found))} – {form.format(max(found))}" if found else NOT_MEASURED


def interval(ratios):
    """The ratio of pairs and its interval, as text."""
    estimate = hodges_lehmann(known(ratios))
    return "too few pairs" if estimate is None else "{:.2f} ({:.2f} – {:.2f})".format(*estimate)


def verdict(value, target, most, form="{:g}"):
    """The target, and whether it is met; the last tenth is noise."""
    if target is None:
        return ""
    limit = ("≤ " if most else "≥ ") + form.format(target)
    if value is None:
        return f"{limit}: {NOT_MEASURED}"
    excess = value / target if most else target / value
    met = "met" if excess <= 1 else "met within noise" if excess <= 1 + NOISE else "**missed**"
    return f"{limit}: {met}"


def quietness(samples):
    """How much of the machine was not ours, at the worst."""
    others = max(sample.others for sample in samples)
    steal = max(sample.steal for sample in samples)
    text = (f"Other processes used up to {others:.1%} of the machine, and its host up to "
            f"{steal:.1%}.")
    if max(others, steal) > QUIET:
        text += " **The machine was not quiet: compare the ratios, and those with care.**"
    return text


def rounds(count, options):
    """How often and how long it was measured."""
    return f"Rounds: {count}, of {options.seconds:g} s each; medians, and ratios taken within a round. "


def told(one):
    """A measurement in a line on the progress."""
    if isinstance(one, dict):
        return ", ".join(f"{name} {told(value)}" for name, value in one.items())
    return f"{one:,.4g}" if isinstance(one, float) else str(one)


# ---- Parts

# A row of a table: what was measured, once a round; its key among the results of the part, and these.
Row = collections.namedtuple("Row", "key taken results options")


def column(heading, name, form):
    """A column with the median of a figure."""
    return heading, lambda row: shown(middle(figure(one, name) for one in row.taken), form)


def span(name, form, heading="least – most"):
    return heading, lambda row: spread([figure(one, name) for one in row.taken], form)


RATE = column("Votes/s", "votes_per_second", "{:,.0f}")
CORE = column("of its core", "core_share", "{:.0%}")
COST = column("CPU-s per million votes", "cost", "{:.3f}")
COSTS = span("cost", "{:.3f}")
IN_FLIGHT = ("In flight", lambda row: row.key[1])


def server(names):
    return "Server", lambda row: names[row.key[0]]


def cells(rows, options):
    """The cells of a table with a row for each number of requests in flight and each server."""
    return [(row, in_flight) for in_flight in options.in_flight for row in rows]


def rows_of(results, options, keys=None):
    """A row for each key, or for these keys, as far as something was measured."""
    return [Row(key, results[key], results, options) for key in keys or results if results.get(key)]


def measured(name, count, cells, measure, progress):
    """Measures each cell (cell, turn) once in each of some rounds, every time in another order; what was
    measured, by cell."""
    results = {cell: [] for cell in cells}
    for turn in range(count):
        due = list(results)
        random.Random(turn).shuffle(due)
        for cell in due:
            results[cell].append(measure(cell, turn))
            words = ", ".join(map(str, cell)) if isinstance(cell, tuple) else cell
            progress(f"{name} {turn + 1}/{count}: {words}: {told(results[cell][-1])}")
    return results


class Part:
    """A part of the comparison: its name, how it is measured (options, progress), and what is shown of the
    results (results, options): a title, rows, notes, and the columns, which are pairs of a heading and of what
    makes the text of a row. In JSON the keys of rows are members of these names, or results stand as they are."""

    def __init__(self, name, run, title, columns, notes, rows=rows_of, keys=None):
        self.name, self.run, self.title, self.columns = name, run, title, columns
        self.notes, self.rows, self.keys = notes, rows, keys

    def table(self, results, options):
        table = Table(self.title(results, options), [heading for heading, _ in self.columns])
        for row in self.rows(results, options):
            table.add(*(text(row) for _, text in self.columns))
        for note in self.notes(results, options):
            table.note(note)
        return table

    def figures(self, results):
        """The measurements, as JSON has them."""
        if self.keys is None:
            return results
        return [{**dict(zip(self.keys, key if isinstance(key, tuple) else [key])), "rounds": taken}
                for key, taken in results.items()]


class Table:
    """A heading, rows under a header, and notes."""

    def __init__(self, title, header):
        self.title, self.header, self.rows, self.notes = title, header, [], []

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def note(self, text):
        self.notes.append(text)

    def markdown(self):
        lines = [f"**{self.title}**", ""]
        for cells in (self.header, ["---"] * len(self.header), *self.rows):
            lines.append("| " + " | ".join(cells) + " |")
        for text in self.notes:
            lines += ["", text]
        return "\n".join(lines) + "\n"

    def json(self):
        return vars(self)


def update(markdown, path="docs/measurements/compare.md", mark=BEGIN):
    """Puts the output into its block of a page."""
    with open(path) as file:
        text = file.read()
    before, begin, rest = text.partition(mark)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise RuntimeError(f"{path} has no block for the output: {mark.strip()}")
    with open(path, "w") as file:
        file.write(f"{before}{begin}\n{markdown}\n{end}{after}")
