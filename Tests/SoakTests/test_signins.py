"""Sign-ins beside votes and pages: a service that hashes beside them passes, and no other."""

import unittest
from unittest import mock

from support import Done, RecordedTestCase

WRONG = {"code": 16, "reason": "BAD_CREDENTIALS"}


class SignInTests(RecordedTestCase):
    name = "signins"

    def answers(self, *statuses):
        calls = self.module.SignIns(self.options("--seconds", "1", "--rate", "10"), accounts=1)
        return self.answered(calls, *statuses).answers()

    def run_with(self, *votes):
        """A run whose votes took so long for its capacity, and without and with sign-ins on one and on many."""
        answers = self.module.beside.collections.Counter(BAD_CREDENTIALS=7)
        return self.live_through(votes, Service=mock.MagicMock(), SignIns=lambda *_: Done(**answers))

    def test_passes_where_sign_ins_hold_up_nobody(self):
        piece = self.run_with(1, 2, 3, 2, 2)
        self.assertEqual((piece["rate"], piece["signins"], piece["one"]["ratios"]["votes"]), (25, 14, 1.5))

    def test_fails_where_hashing_holds_up_votes(self):
        with self.fails("sign-ins on one account: the p99 of votes is 2.0 times as long, over 1.5"):
            self.run_with(1, 2, 4, 2, 2)
        with self.fails("sign-ins on many accounts: the p99 of votes is 2.0 times as long"):
            self.run_with(1, 2, 2, 2, 4)

    def test_fails_where_a_wrong_password_is_taken(self):
        self.assertEqual(self.answers(WRONG, WRONG), {"BAD_CREDENTIALS": 2})
        with self.fails("a sign-in with a wrong password succeeded"):
            self.answers(WRONG, {})
        with self.fails("answered with .*INTERNAL"):
            self.answers(WRONG, {"code": 13, "reason": "INTERNAL"})


if __name__ == "__main__":
    unittest.main()
