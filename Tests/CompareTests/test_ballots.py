"""The rows of ballots: the feed is one for users, and targets are of the synced service."""

import types
import unittest

from fake_server import FakeServer, framed

import support  # noqa: F401

import ballots
import disk
import runs
from clients import Sample
from feedclient import Refused
from frames import fields_of


def sample(cost):
    return Sample({"seconds": 2, "votes": 2_000_000, "client_seconds": 0, "server_seconds": 2 * cost,
                   "busy_seconds": 0, "steal_seconds": 0})


def one_run(cost, floor, resident=200_000_000):
    return runs.Run([sample(cost)], [sample(floor)], 0, (0, True), resident)


class BallotTests(unittest.TestCase):
    def test_creates_a_feed_of_ballots_for_users(self):
        def answer(frame_id, call):
            return framed(call, b"\x0a\x07ballots" if call == 53 else b"", frame_id)
        with FakeServer(answer) as server:
            ballots.create_feed(server)
            feed = fields_of(fields_of(server.bodies[0])[1])
            self.assertEqual(feed, {1: b"ballots", 3: 2, 9: 1})

    def test_a_feed_that_is_refused_ends_the_part(self):
        with FakeServer(lambda frame_id, _: framed(3, b"\x08\x07", frame_id)) as server:
            with self.assertRaisesRegex(Refused, "PERMISSION_DENIED"):
                ballots.create_feed(server)

    def test_targets_are_of_floors_and_redis_is_compared_with_its_like(self):
        taken = {("service memory", 16): [one_run(0.4, 0.2)],
                 ("service fsync", 16): [one_run(0.5, 0.2), one_run(0.7, 0.2), one_run(0.5, 0.25)],
                 ("service fsync-few-pages", 16): [one_run(0.4, 0.2)] * 3,
                 ("redis memory", 16): [one_run(2, 0.2)],
                 ("redis always", 16): [one_run(3, 0.2)] * 3,
                 ("redis everysec", 16): [one_run(2.8, 0.2)] * 3}
        options = types.SimpleNamespace(
            connections=1, in_flight=[16], durable_rounds=3, durable_seconds=60)
        rows = ballots.PART.table(
            {"runs": taken, "disk": disk.summary([0.001]),
             "about": {"file_system": "ext4", "device": "x"}}, options).rows
        memory, fsync, few_pages, redis, always, _ = rows
        self.assertEqual(memory[5:], ["2.00", "", "200", ""])
        self.assertEqual(fsync[5:], ["2.50", "", "200", "≤ 2.5: met"])
        self.assertEqual(few_pages[5:], ["2.00", "", "200", ""])
        self.assertEqual(redis[6], "5.00")
        self.assertEqual(always[6], "6.00")  # of 6, 4.29 and 6

    def test_first_pages_are_read_beside_every_row_but_one(self):
        self.assertEqual(ballots.pages_per_second("service memory"), 1000)
        self.assertEqual(ballots.pages_per_second("service fsync"), 1000)
        self.assertEqual(ballots.pages_per_second("service fsync-few-pages"), 3)


if __name__ == "__main__":
    unittest.main()
