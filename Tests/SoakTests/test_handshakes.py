"""Handshakes beside votes and pages: a service that ends half ones and serves the rest passes, and no other."""

import tempfile
import unittest

from support import SoakTestCase


class HandshakeTests(SoakTestCase):
    def soak(self, *flags, **environment):
        with tempfile.TemporaryDirectory() as output:
            return self.run_soak("handshakes", "--seconds", "1", "--rounds", "1", "--rate", "40",
                                 "--halves", "40", "--output", output, *flags, **environment)

    def test_passes_where_handshakes_hold_up_nobody(self):
        # On a busy machine the two rounds differ; this one is about what is done.
        finished = self.soak("--factor", "1000")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertRegex(finished.stdout, r"^handshakes: 1 runs, \d\d+ handshakes, \d\d+ half handshakes, "
                         r"0 failures, \d+ s: done$")

    def test_fails_where_handshakes_hold_up_votes(self):
        finished = self.soak("--factor", "2", FAKE_FAULT="sign")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertRegex(finished.stderr, "beside handshakes: the p99 of votes is .* times as long")

    def test_fails_where_half_handshakes_stay(self):
        finished = self.soak("--factor", "1000", FAKE_FAULT="patient")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertRegex(finished.stderr, r"\d+ of the half handshakes have no end after 12 s")


if __name__ == "__main__":
    unittest.main()
