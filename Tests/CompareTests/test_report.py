"""Medians, ratios and targets are what they say, and the page of benchmarks keeps its text."""

import tempfile
import types
import unittest

import support  # noqa: F401

import generator
import report
import votes
from clients import Sample
from report import Table, verdict


def sample(cost, seconds=2, millions=1):
    return Sample({"seconds": seconds, "votes": millions * 10**6, "client_seconds": 0,
                   "server_seconds": cost * millions, "busy_seconds": 0, "steal_seconds": 0})


class ReportTests(unittest.TestCase):
    def test_a_target_is_met_within_a_tenth(self):
        self.assertIn(": met", verdict(2.4, 2.4, most=True))
        self.assertIn("met within noise", verdict(2.5, 2.4, most=True))
        self.assertIn("missed", verdict(2.7, 2.4, most=True))
        self.assertIn(": met", verdict(6.1, 6, most=False))
        self.assertIn("met within noise", verdict(5.6, 6, most=False))
        self.assertIn("missed", verdict(5.4, 6, most=False))

    def test_ratios_are_taken_within_a_round(self):
        samples = {("service", 1): [sample(2), sample(9), sample(4)],
                   ("floor", 1): [sample(1), sample(3), sample(4)],
                   ("redis", 1): [sample(4), sample(18), sample(8)]}
        self.assertEqual(report.ratios(samples["service", 1], samples["floor", 1]), [2, 3, 1])
        options = types.SimpleNamespace(
            connections=1, posts=1, in_flight=[1], rounds=3, seconds=2)
        floor, ours, redis = votes.VOTES.table(samples, options).rows
        self.assertEqual(ours[4:7], ["4.000", "2.000 – 9.000", "2.00"])
        self.assertIn("≤ 1.15: **missed**", ours[-1])
        self.assertEqual(redis[6:], ["4.00", "2.00", "≥ 1.6: met"])
        self.assertEqual(floor[2:4], ["500,000", "150%"])

    def test_a_target_of_the_load_generator_says_what_it_is_of(self):
        def taken(cost):
            return [{"cost": cost, "per_second": 1e6, "audited": 1, "passed": True}]
        results = {("floor", 1): taken(5), ("pump", 1): taken(4), ("loadgen", 1): taken(4.4),
                   ("floor", 64): taken(0.08), ("pump", 64): taken(0.1), ("loadgen", 64): taken(0.16)}
        rows = generator.PART.table(results, None).rows
        self.assertEqual(rows[0][3:], ["5.000", "5.000 – 5.000", "", "1.00", ""])
        self.assertEqual(rows[2][5:], ["1.10", "0.88", "≤ 1.2 × minimal: met"])
        self.assertEqual(rows[5][3:], ["0.160", "0.160 – 0.160", "1.60", "2.00",
                                       "≤ 0.15 CPU-s: met within noise; ≤ 1.74 × floor: **missed**"])

    def test_a_server_without_processor_time_has_no_cost(self):
        with self.assertRaises(RuntimeError):
            print(sample(0).cost)

    def test_a_run_without_an_answer_has_no_cost(self):
        with self.assertRaisesRegex(RuntimeError, "nothing was answered"):
            print(Sample({**sample(1).values, "votes": 0}).cost)

    def test_what_was_not_measured_is_said(self):
        self.assertEqual(report.shown(report.middle([None, None])), "not measured")
        self.assertEqual(report.shown(report.middle([None, 2])), "2.00")
        self.assertEqual(report.spread([None], "{}"), "not measured")
        self.assertEqual(verdict(None, 2, most=True), "≤ 2: not measured")
        self.assertEqual(report.ratios([{"cost": 1}, {}], [{"cost": 2}, {"cost": 2}]), [0.5, None])

    def test_a_table_is_markdown(self):
        table = Table("T", ["a", "b"])
        table.add(1, "x")
        table.note("n")
        self.assertEqual(table.markdown(), "**T**\n\n| a | b |\n| --- | --- |\n| 1 | x |\n\nn\n")

    def test_the_page_keeps_what_is_not_the_output(self):
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write(f"before\n{report.BEGIN}old\n{report.END}after\n")
            file.flush()
            for text in ("one\n", "two\n"):
                report.update(text, file.name)
            with open(file.name) as written:
                self.assertEqual(
                    written.read(), f"before\n{report.BEGIN}\ntwo\n\n{report.END}after\n")

    def test_a_page_without_the_block_is_left_alone(self):
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("text\n")
            file.flush()
            with self.assertRaises(RuntimeError):
                report.update("x", file.name)
            with open(file.name) as written:
                self.assertEqual(written.read(), "text\n")


if __name__ == "__main__":
    unittest.main()
