"""Tables, and the few statistics that they need."""

import itertools
import math
import random
import statistics

NOISE = 0.10  # what a target is allowed for it


def middle(values):
    return statistics.median(list(values))


RESAMPLES = 10_000


def median_interval(values):
    """Where the median is with 95 %, by bootstrap; the same values give the same interval."""
    chosen = random.Random(0)
    medians = sorted(statistics.median(chosen.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return medians[RESAMPLES // 40], medians[-RESAMPLES // 40 - 1]


def spread(values, form):
    return f"{form.format(min(values))} – {form.format(max(values))}"


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


def interval(ratios):
    """The ratio of pairs and its interval, as text."""
    estimate = hodges_lehmann(ratios)
    return "too few pairs" if estimate is None else "{:.2f} ({:.2f} – {:.2f})".format(*estimate)


def verdict(value, target, most, form="{:g}"):
    """The target, and whether it is met; the last tenth is noise."""
    if target is None:
        return ""
    sign = "≤" if most else "≥"
    excess = value / target if most else target / value
    met = "met" if excess <= 1 else "met within noise" if excess <= 1 + NOISE else "**missed**"
    return f"{sign} {form.format(target)}: {met}"


QUIET = 0.03  # what others may take of the machine


def quietness(samples):
    """How much of the machine was not ours, at the worst."""
    others = max(sample.others for sample in samples)
    steal = max(sample.steal for sample in samples)
    text = (f"Other processes used up to {others:.1%} of the machine, and its host up to "
            f"{steal:.1%}.")
    if max(others, steal) > QUIET:
        text += " **The machine was not quiet: compare the ratios, and those with care.**"
    return text


class Table:
    """A heading, rows under a header, and notes."""

    def __init__(self, title, header):
        self.title = title
        self.header = header
        self.rows = []
        self.notes = []

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def note(self, text):
        self.notes.append(text)

    def markdown(self):
        lines = [f"**{self.title}**", "", self._line(self.header)]
        lines.append(self._line(["---"] * len(self.header)))
        lines += [self._line(row) for row in self.rows]
        for text in self.notes:
            lines += ["", text]
        return "\n".join(lines) + "\n"

    @staticmethod
    def _line(cells):
        return "| " + " | ".join(cells) + " |"

    def json(self):
        return {"title": self.title, "header": self.header, "rows": self.rows,
                "notes": self.notes}
