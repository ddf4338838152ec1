"""The rows of lists: each list is read, refused reads are told, and ratios are of the same round."""

import os
import sys
import types
import unittest

from fake_server import FakeServer, fields, framed, varint

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT + "/scripts/compare")

import frames  # noqa: E402
import lists  # noqa: E402
from clients import Sample  # noqa: E402

REASON = b"DEADLINE_EXCEEDED"
REFUSAL = b"\x08\x04\x12" + varint(len(REASON)) + REASON


def sample(cost):
    return Sample({"seconds": 2, "votes": 2_000_000, "client_seconds": 0, "server_seconds": 2 * cost,
                   "busy_seconds": 0, "steal_seconds": 0})


def read(per_second, **refused):
    return {"reads_per_second": per_second, "longest_read_ms": 7, "refused": refused}


class ReaderTests(unittest.TestCase):
    def test_reads_every_order_and_each_window_of_three(self):
        with FakeServer(lambda frame_id, call: framed(call, b"\x30\x01", frame_id)) as server:
            with lists.Reader(server, lists.EVERY):
                first_pass = server.bodies[:23]
        asked = [fields(body) for body in first_pass]
        pairs = {(one[2], one.get(3, 0)) for one in asked}
        self.assertEqual(len(pairs), 23)
        self.assertEqual({order for order, _ in pairs}, set(range(1, 9)))
        self.assertEqual({order for order, window in pairs if window}, {1, 6, 8})
        self.assertEqual({(one[1], one[4]) for one in asked}, {(b"posts", 20)})

    def test_counts_what_is_refused_and_goes_on(self):
        def answer(frame_id, call):
            return framed(frames.STATUS, REFUSAL, frame_id) if frame_id == 2 else \
                framed(call, b"\x30\x01", frame_id)
        with FakeServer(answer) as server:
            with lists.Reader(server, lists.KEPT) as reader:
                pass
        self.assertEqual(reader.figures()["refused"], {"DEADLINE_EXCEEDED": 1})
        self.assertGreaterEqual(reader.figures()["reads_per_second"], 0)

    def test_an_answer_without_posts_ends_the_part(self):
        with FakeServer(lambda frame_id, _: framed(11, b"", frame_id)) as server:
            with self.assertRaisesRegex(RuntimeError, "has no posts"):
                with lists.Reader(server, lists.KEPT):
                    pass

    def test_a_closed_connection_ends_the_part(self):
        def answer(*_):
            raise OSError
        with FakeServer(answer) as server:
            with self.assertRaisesRegex(RuntimeError, "the reader of lists ended"):
                with lists.Reader(server, lists.KEPT):
                    pass


class TableTests(unittest.TestCase):
    def table(self, every):
        results = {(100, 16, "kept"): [(sample(1), read(3)), (sample(4), read(3))],
                   (100, 16, "every"): every}
        return lists.table(results, types.SimpleNamespace(connections=1, growth_rounds=2))

    def test_ratios_are_taken_within_a_round(self):
        kept, every = self.table([(sample(1.2), read(23)), (sample(6), read(23))]).rows
        self.assertEqual(kept[-2:], ["", ""])
        self.assertEqual(every[-3:], ["0", "1.35", "≤ 1.5: met"])

    def test_says_when_reads_were_refused_or_late(self):
        self.assertEqual(len(self.table([(sample(1), read(23)), (sample(4), read(22))]).notes), 1)
        refused = self.table([(sample(1), read(23, DEADLINE_EXCEEDED=2)), (sample(4), read(23))])
        self.assertEqual(refused.rows[1][8], "2")
        self.assertIn("2 with DEADLINE_EXCEEDED", refused.notes[1])
        late = self.table([(sample(1), read(11.5)), (sample(4), read(23))])
        self.assertIn("0.50 times a second", late.notes[1])


if __name__ == "__main__":
    unittest.main()
