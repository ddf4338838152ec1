"""The rows of library: what the benchmark prints is read."""

import os
import unittest

import support  # noqa: F401

import library
from clients import Sample

ROW = "tasks connections sequences   votes/s  client CPU-s/M\n  500           4        no    400000           1.500"


class Own:
    """This process, in the place of a server."""

    pid = os.getpid()


def taken(per_second):
    sample = Sample({"seconds": 2, "votes": 1_000_000, "client_seconds": 1, "server_seconds": 0.5,
                     "busy_seconds": 1.5, "steal_seconds": 0})
    return {"per_second": per_second, "client_cost": 1, "server_cost": sample.cost, "sample": sample}


def results(*rates):
    """Rounds by votes a second: all rows have the same."""
    return {side: [taken(rate) for rate in rates] for side in library.SIDES}


class LibraryTests(unittest.TestCase):
    def test_a_row_is_read(self):
        self.assertEqual(library.row(ROW), (400_000, 1.5))

    def test_what_is_no_row_ends_the_part(self):
        for text in ("", "Segmentation fault", "listening on 127.0.0.1:7433"):
            with self.subTest(text=text), self.assertRaisesRegex(RuntimeError, "no row"):
                library.row(text)

    def test_a_benchmark_that_fails_ends_the_part_with_its_words(self):
        with self.assertRaisesRegex(RuntimeError, "no service"):
            library.measure(["sh", "-c", "echo no service >&2; exit 1"], Own, 3)

    def test_a_run_counts_the_votes_of_the_warm_up_for_the_servers_cost(self):
        one = library.measure(["echo", ROW], Own, 3)
        self.assertEqual((one["per_second"], one["client_cost"]), (400_000, 1.5))
        self.assertEqual(one["sample"].votes, 400_000 * 3.5)

    def test_a_row_has_the_median_of_its_rounds(self):
        table = library.PART.table(results(100_000, 200_000, 900_000), None)
        self.assertEqual(table.rows[0][:3], ["FeedClient", "200,000", "100,000 – 900,000"])

    def test_figures_are_numbers(self):
        one = library.PART.figures(results(1))["FeedClient"][0]
        self.assertEqual(one["sample"].values["votes"], 1_000_000)


if __name__ == "__main__":
    unittest.main()
