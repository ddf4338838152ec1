"""The figures of two servers in turns, from what loadgen --ab tells."""

import types
import unittest

import support  # noqa: F401

import math

import report
import sides


def slice_of(rate, cost):
    return {"per_second": rate, "server_seconds_per_million": cost,
            "generator_seconds_per_million": 0.2, "bytes_per_operation": 60}


def block(cost, passed=True):
    pairs = [{"control": False, "a": slice_of(200, 1), "b": slice_of(100, cost + turn / 1000)}
             for turn in range(8)]
    pairs += [{"control": True, "a": slice_of(200, 1), "b": slice_of(200, 1)} for _ in range(6)]
    return {"ab": {"pairs": pairs, "repeated": 2, "kept_tainted": 1},
            "audits": {"a": {"passed": True}, "b": {"passed": passed}}}


OPTIONS = types.SimpleNamespace(connections=500, posts=1000, blocks=2, side_rounds=8, seconds=3)
CROSS = [{"loadgen": 110.0, "redis-benchmark": 100.0}] * 8
RESULTS = {"date": "2026-11-26", "blocks": {16: [block(2), block(2.2)]}, "cross": CROSS}


class HodgesLehmannTests(unittest.TestCase):
    def test_agrees_with_the_textbook(self):
        """Hollander and Wolfe: the depression scores, 0.46 (0.010 to 0.786)."""
        before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
        after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
        found = report.hodges_lehmann([math.exp(a - b) for a, b in zip(before, after)])
        for value, expected in zip(found, (0.46, 0.010, 0.786)):
            self.assertAlmostEqual(math.log(value), expected)

    def test_has_no_interval_of_five_pairs(self):
        self.assertIsNone(report.hodges_lehmann([1.0] * 5))
        self.assertEqual(report.interval([1.0] * 5), "too few pairs")
        self.assertEqual(report.interval([1.0] * 6), "1.00 (1.00 – 1.00)")


class SidesTests(unittest.TestCase):
    def test_puts_the_pairs_of_all_blocks_together(self):
        table = sides.PART.table(RESULTS, OPTIONS)
        self.assertEqual([row[1] for row in table.rows], ["this service", "redis-server"])
        self.assertEqual(table.rows[0][2:4], ["200", "1.000"])
        # Of 16 pairs, 8 of each block: the estimate lies between the blocks.
        self.assertRegex(table.rows[1][4], r"^2\.10 \(2\.\d\d – 2\.\d\d\)$")
        self.assertEqual(table.rows[1][5], "1.00 (1.00 – 1.00)")
        self.assertEqual(table.rows[1][6], "0.50 (0.50 – 0.50)")
        self.assertIn("PASS. 4 pairs were repeated", table.notes[0])
        self.assertIn("gets 100 votes/s", table.notes[1])
        self.assertIn("ratio 1.10 (1.10 – 1.10), 8 pairs", table.notes[1])

    def test_says_which_figures_loadgen_has_not_measured(self):
        blind = block(2)
        for pair in blind["ab"]["pairs"]:
            del pair["b"]["server_seconds_per_million"]
        table = sides.PART.table({**RESULTS, "blocks": {16: [blind]}}, OPTIONS)
        self.assertEqual(table.rows[1][3:5], ["not measured", "too few pairs"])

    def test_shows_an_audit_that_failed(self):
        failed = {**RESULTS, "blocks": {16: [block(2), block(2, passed=False)]}}
        self.assertIn("**FAIL**", sides.PART.table(failed, OPTIONS).notes[0])

    def test_has_a_line_of_the_readme_for_each_number_in_flight(self):
        about = {"processor": "A processor", "cores": 2, "kernel": "6", "redis": "7.0"}
        lines = sides.readme(RESULTS, OPTIONS, about).splitlines()
        self.assertRegex(lines[6], r"^\| 16 \| 200 \| 100 \| 1\.000 \| 2\.\d+ \| 2\.10 \(")
        self.assertIn("2026-11-26, A processor, 2 cores, Linux 6, redis-server 7.0", lines[8])


if __name__ == "__main__":
    unittest.main()
