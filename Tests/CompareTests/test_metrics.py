"""The pairs of metrics: the median of their ratios decides, and its interval holds what it should."""

import types
import unittest

import support  # noqa: F401

import metrics
from clients import Sample
from report import median_interval


def sample(cost):
    return Sample({"seconds": 2, "votes": 10**6, "client_seconds": 0, "server_seconds": cost,
                   "busy_seconds": 0, "steal_seconds": 0})


def row(*ratios):
    """The row of pairs, of which the machine takes longer each time."""
    pairs = [{"without": sample(1 + place), "with": sample((1 + place) * ratio)}
             for place, ratio in enumerate(ratios)]
    options = types.SimpleNamespace(connections=1, posts=1, pairs=len(pairs), seconds=2)
    (found,) = metrics.PART.table({"pairs": {16: pairs}, "scrapes": 1, "bytes": 1}, options).rows
    return found


class MetricsTests(unittest.TestCase):
    def test_ratios_are_of_a_pair(self):
        # The quotient of the medians would be 2.4 over 2.
        self.assertEqual(row(1.01, 1.2, 1.0)[3:], ["1.0100", "1.0000 – 1.2000", "≤ 1.02: met"])

    def test_more_than_two_in_a_hundred_is_missed(self):
        self.assertEqual(row(1.03, 1.03, 1.01)[5], "≤ 1.02: **missed**")

    def test_an_interval_is_that_of_the_median(self):
        values = [1 + place / 100 for place in range(-12, 13)]
        least, most = median_interval(values)
        # By the binomial distribution: the 8th and the 18th of 25 values.
        self.assertAlmostEqual(least, 0.95, delta=0.011)
        self.assertAlmostEqual(most, 1.05, delta=0.011)
        self.assertEqual(median_interval([3, 3, 3]), (3, 3))


if __name__ == "__main__":
    unittest.main()
