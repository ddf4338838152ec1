"""A greedy host beside another one: a service that refuses and counts right passes, and no other."""

import importlib
import unittest

from support import Done, RecordedTestCase

COUNTED, LIMITED = {}, {"code": 8, "reason": "RATE_LIMITED", "not_executed": True, "retry_after_ms": 1}


class GreedyTests(RecordedTestCase):
    name = "greedy"

    def greedy(self, *statuses, seconds=1):
        calls = self.module.Greedy(self.options("--seconds", "1", "--limit", "40"), post=1)
        return self.answered(calls, *statuses, seconds=seconds).answers()

    def run_with(self, votes, cast):
        """A run whose greedy host is answered 20 votes as counted, of `cast` that count."""
        service = importlib.import_module("service")

        class Voter(Done):
            def start(self, port):
                with service.Connection(port) as connection:
                    for _ in range(cast):
                        connection.vote(1)

        return self.live_through(votes, Greedy=lambda *_: Voter(counted=20, refused=180))

    def test_passes_where_the_rest_is_refused(self):
        self.assertEqual(self.greedy(*[COUNTED] * 80, *[LIMITED] * 320), {"counted": 80, "refused": 320})
        self.assertEqual(self.run_with([2, 2], 20)["ratios"], {"votes": 1, "pages": 1})

    def test_fails_where_all_votes_count(self):
        with self.fails("97 votes of the greedy host counted in 1.0 s"):
            self.greedy(*[COUNTED] * 97, LIMITED)  # 40 a second for two seconds, and a fifth more
        with self.fails("never refused"):
            self.greedy(*[COUNTED] * 96)

    def test_fails_where_an_answer_is_wrong_or_missing(self):
        with self.fails("without a time to come back"):
            self.greedy(COUNTED, {**LIMITED, "retry_after_ms": 0})
        with self.fails("answered with .*NOT_FOUND"):
            self.greedy(LIMITED, {"code": 5, "reason": "NOT_FOUND"})
        calls = self.answered(self.module.Greedy(self.options(), post=1), COUNTED, LIMITED)
        calls.sent += 1
        with self.fails("3 of the votes of the greedy host got 2 answers"):
            calls.answers()

    def test_fails_where_a_refused_vote_counts(self):
        with self.fails("20 votes were answered as counted, and the post has 21"):
            self.run_with([2, 2], 21)

    def test_fails_where_the_others_wait(self):
        with self.fails("beside the greedy host: the p99 of votes is 1.5 times as long"):
            self.run_with([2, 3], 20)


if __name__ == "__main__":
    unittest.main()
