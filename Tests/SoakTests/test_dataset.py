"""A run of real votes that is killed half way: exact counts pass, and all else fails."""

import tempfile
import unittest

from support import SoakTestCase


class DatasetTests(SoakTestCase):
    def soak(self, *flags, **environment):
        with tempfile.TemporaryDirectory() as output:
            path = output + "/apples.csv"
            with open(path, "w") as file:
                file.write("title,ups\nApple,1500\n\"Pear,\nripe\",500\n")
            return self.run_soak("dataset", path, "--output", output, *flags, **environment)

    def test_passes_where_each_vote_counts_once(self):
        finished = self.soak()
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("killed after 1,000 votes", finished.stderr)
        self.assertRegex(finished.stdout, r"^dataset: 1 runs, 1 kills, 2,000 votes found counted "
                         r"once, 0 failures, \d+ s: done$")

    def test_fails_where_acknowledged_votes_are_lost(self):
        finished = self.soak(FAKE_FAULT="lose")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertIn("1 failures", finished.stdout)

    def test_fails_where_the_state_is_not_the_verified_one(self):
        self.assertIn("verify said", self.soak(FAKE_FAULT="drift").stderr)


if __name__ == "__main__":
    unittest.main()
