"""A run with slow syncs: what is answered in time passes, and all else fails."""

import tempfile
import unittest

from support import SoakTestCase


class LagTests(SoakTestCase):
    def soak(self, *flags, **environment):
        with tempfile.TemporaryDirectory() as output:
            return self.run_soak("lag", "--seconds", "1", "--output", output, *flags, **environment)

    def test_passes_where_all_is_answered_in_time(self):
        finished = self.soak("--within-ms", "10000")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertRegex(finished.stdout, r"^lag: 1 runs, [\d,]+ votes found counted once, 0 failures, "
                         r"\d+ s: done$")

    def test_fails_where_reads_wait(self):
        finished = self.soak("--within-ms", "99", FAKE_FAULT="slow")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertIn("p99.9 of Ping and reads", finished.stderr)

    def test_fails_where_too_much_waits_for_a_checkpoint(self):
        finished = self.soak("--within-ms", "10000", FAKE_FAULT="full")
        self.assertIn("over the limit", finished.stderr)

    def test_fails_where_votes_are_not_answered(self):
        finished = self.soak("--within-ms", "10000", FAKE_LOST="3")
        self.assertIn("3 votes were not answered", finished.stderr)


if __name__ == "__main__":
    unittest.main()
