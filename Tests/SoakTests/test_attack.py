"""Attacks: a service that refuses the healthy client nothing passes, and all else fails."""

import json
import tempfile
import unittest

from support import SoakTestCase


class AttackTests(SoakTestCase):
    def soak(self, *flags, output=None, **environment):
        with tempfile.TemporaryDirectory() as directory:
            return self.run_soak("attack", "--output", output or directory, "--connections", "3",
                                 "--hold", "0.3", "--hellos", "30", "--give-back", "2",
                                 *flags, **environment)

    def failing(self, part, fault, said):
        finished = self.soak("--only", part, FAKE_FAULT=fault)
        self.assertEqual(finished.returncode, 1, finished.stdout + finished.stderr)
        self.assertRegex(finished.stderr, said)
        self.assertIn("FAILED", finished.stdout)

    def test_passes_where_nobody_is_refused(self):
        with tempfile.TemporaryDirectory() as output:
            finished = self.soak(output=output)
            self.assertEqual(finished.returncode, 0, finished.stderr)
            self.assertRegex(finished.stdout, r"^attack: 7 attacks, 17 connections, [\d,]+ votes "
                             r"accepted beside them, 0 failures, \d+ s: done$")
            with open(output + "/attack.jsonl") as file:
                pieces = [json.loads(line) for line in file]
        self.assertTrue(all(piece["votes"] > 0 for piece in pieces))
        self.assertEqual(finished.stderr.count("after kill -9"), 3)

    def test_fails_where_a_new_client_gets_no_channel(self):
        self.failing("channels-of-one", "deny", "new client of 127.0.0.1's channel got .*TOO_MANY")

    def test_fails_where_a_ballot_is_refused(self):
        self.failing("devices", "limit", "new client of 127.0.0.1's ballot got .*RATE_LIMITED")

    def test_fails_where_memory_grows(self):
        self.failing("channels-of-many", "grow", "MiB more were in memory")

    def test_fails_where_the_client_is_forgotten(self):
        self.failing("full-channels", "forget", "was to be known with")

    def test_fails_where_acknowledged_votes_are_lost(self):
        self.failing("full-channels", "lose", "votes were acknowledged")

    def test_refuses_a_part_that_there_is_not(self):
        self.assertEqual(self.soak("--only", "nothing").returncode, 2)


if __name__ == "__main__":
    unittest.main()
