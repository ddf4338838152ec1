"""A greedy host beside another one: a service that refuses and counts right passes, and no other."""

import tempfile
import unittest

from support import SoakTestCase


class GreedyTests(SoakTestCase):
    def soak(self, *flags, **environment):
        with tempfile.TemporaryDirectory() as output:
            return self.run_soak("greedy", "--seconds", "1", "--rounds", "1", "--limit", "40",
                                 "--output", output, *flags, **environment)

    def test_passes_where_the_rest_is_refused(self):
        # On a busy machine the two measurements differ; this one is about what is counted.
        finished = self.soak("--factor", "1000")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertRegex(finished.stdout, r"^greedy: 1 runs, \d\d+ votes refused, \d\d+ votes counted, "
                         r"0 failures, \d+ s: done$")

    def test_fails_where_all_votes_count(self):
        finished = self.soak("--factor", "1000", FAKE_FAULT="greed")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertIn("votes of the greedy host counted in", finished.stderr)

    def test_fails_where_a_refused_vote_counts(self):
        finished = self.soak("--factor", "1000", FAKE_FAULT="tally")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertRegex(finished.stderr, r"\d+ votes were answered as counted, and the post has \d+")

    def test_fails_where_the_others_wait(self):
        finished = self.soak("--factor", "0.0001")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertRegex(finished.stderr, "beside the greedy host: the p99 of votes is .* times as long")


if __name__ == "__main__":
    unittest.main()
