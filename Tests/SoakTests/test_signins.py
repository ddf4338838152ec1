"""Sign-ins beside votes and pages: a service that hashes beside them passes, and no other."""

import tempfile
import unittest

from support import SoakTestCase


class SignInTests(SoakTestCase):
    def soak(self, *flags, **environment):
        with tempfile.TemporaryDirectory() as output:
            return self.run_soak("signins", "--seconds", "1", "--rounds", "1", "--rate", "50",
                                 "--output", output, *flags, **environment)

    def test_passes_where_sign_ins_hold_up_nobody(self):
        # On a busy machine the two rounds differ; this one is about what is counted.
        finished = self.soak("--factor", "1000")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertRegex(finished.stdout, r"^signins: 1 runs, \d\d+ sign-ins, "
                         r"0 failures, \d+ s: done$")

    def test_fails_where_hashing_holds_up_votes(self):
        finished = self.soak("--factor", "1.5", FAKE_FAULT="hash")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertRegex(finished.stderr, "sign-ins on one account: the p99 of votes is .* times as long")

    def test_fails_where_a_wrong_password_is_taken(self):
        finished = self.soak("--factor", "1000", FAKE_FAULT="trust")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertIn("a wrong password succeeded", finished.stderr)


if __name__ == "__main__":
    unittest.main()
