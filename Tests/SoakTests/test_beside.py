"""Calls at a rate: as many are sent as a clock says, and each is answered before they end."""

import importlib
import tempfile
import types
import unittest
from unittest import mock

from support import RecordedTestCase


class CallTests(RecordedTestCase):
    name = "beside"

    def sent_at(self, *times, count=10):
        """Calls at ten a second over two connections with `count` frames each, and how many were sent at each
        time of a clock."""
        client = importlib.import_module("feedclient")
        frames = [client.framed(number + 1, ping=client.feed.PingRequest()) for number in range(count)]
        calls, clock, sent = self.module.Calls("the pings", 10, [frames] * 2), [0.0], []
        service = importlib.import_module("service").Service
        with tempfile.TemporaryDirectory() as directory, service(self.binaries, directory) as running, \
                mock.patch.object(self.module, "time", types.SimpleNamespace(monotonic=lambda: clock[0])):
            with calls.connected(running.port) as began:
                for clock[0] in times:
                    calls.step(began)
                    sent.append([stream.sent for stream in calls.streams])
        return calls, sent

    def test_sends_what_is_due_in_turn_and_awaits_the_answers(self):
        calls, sent = self.sent_at(0.1, 0.5, 1)
        self.assertEqual(sent, [[1, 0], [3, 2], [5, 5]])
        self.assertEqual(calls.statuses(), {"": 10})

    def test_fails_where_fewer_are_sent_than_are_due(self):
        calls, _ = self.sent_at(1, count=4)
        with self.fails("only 8 of the pings in 1.0 s"):
            calls.statuses()


if __name__ == "__main__":
    unittest.main()
