"""The rows of lists: each list is read, refused reads are told, and ratios are of the same round."""

import threading
import types
import unittest

from fake_server import FakeServer, framed

import support  # noqa: F401

import frames
import lists
from clients import Sample
from feedclient import FeedError
from frames import fields_of, varint

REASON = b"DEADLINE_EXCEEDED"
REFUSAL = b"\x08\x04\x12" + varint(len(REASON)) + REASON


def sample(cost, reads_per_second, **refused):
    return Sample({"seconds": 2, "votes": 2_000_000, "client_seconds": 0, "server_seconds": 2 * cost,
                   "busy_seconds": 0, "steal_seconds": 0},
                  reads_per_second=reads_per_second, longest_read_ms=7, refused=refused)


class ListServer(FakeServer):
    """Answers like `answer`, and sets `enough` once it has been asked for each kept list behind the first
    calls, which build the lists."""

    def __init__(self, answer, builds=3):
        def observed(frame_id, call):
            if self.orders_after(builds) >= {order for order, _ in lists.KEPT}:
                self.enough.set()
            return answer(frame_id, call)
        self.enough = threading.Event()
        super().__init__(observed)

    def orders_after(self, calls):
        return {fields_of(body)[2] for body in self.bodies[calls:]}


class ReaderTests(unittest.TestCase):
    def figures(self, server):
        """What is counted until the server has been asked for enough."""
        with lists.reading(server, lists.KEPT) as seen:
            self.assertTrue(server.enough.wait(60))
        return seen

    def test_reads_every_order_and_each_window_of_three(self):
        with FakeServer(lambda frame_id, call: framed(call, b"\x30\x01", frame_id)) as server:
            lists.build(server, lists.EVERY)
            asked = [fields_of(body) for body in server.bodies]
        pairs = {(one[2], one.get(3, 0)) for one in asked}
        self.assertEqual((len(asked), len(pairs)), (23, 23))
        self.assertEqual({order for order, _ in pairs}, set(range(1, 9)))
        self.assertEqual({order for order, window in pairs if window}, {1, 6, 8})
        self.assertEqual({(one[1], one[4]) for one in asked}, {(b"posts", 20)})

    def test_a_list_is_built_before_it_counts(self):
        def answer(frame_id, call):
            return framed(frames.STATUS, REFUSAL, frame_id) if frame_id == 2 else \
                framed(call, b"\x30\x01", frame_id)
        with ListServer(answer, builds=4) as server:  # one of them is refused
            seen = self.figures(server)
        self.assertEqual(seen["refused"], {})
        self.assertGreater(seen["reads_per_second"], 0)

    def test_a_list_that_is_never_built_ends_the_part(self):
        with FakeServer(lambda frame_id, _: framed(frames.STATUS, REFUSAL, frame_id)) as server:
            with self.assertRaisesRegex(RuntimeError, "10 times, with DEADLINE_EXCEEDED"):
                lists.build(server, lists.KEPT)

    def test_each_list_is_read_on_its_own_and_refusals_are_counted(self):
        builds = len(lists.KEPT)

        def answer(frame_id, call):
            return framed(call, b"\x30\x01", frame_id) if len(server.bodies) <= builds else \
                framed(frames.STATUS, REFUSAL, frame_id)
        with ListServer(answer) as server:
            seen = self.figures(server)
            self.assertEqual(len(server.ids), 4)  # connections: one to build
        self.assertGreaterEqual(seen["refused"]["DEADLINE_EXCEEDED"], 3)

    def test_an_answer_without_posts_ends_the_part(self):
        with FakeServer(lambda frame_id, _: framed(11, b"", frame_id)) as server:
            with self.assertRaisesRegex(FeedError, "list_posts was answered with"):
                lists.build(server, lists.KEPT)

    def test_a_closed_connection_ends_the_part(self):
        def answer(frame_id, call):
            if len(server.bodies) > 4:
                raise OSError
            return framed(call, b"\x30\x01", frame_id)
        with ListServer(answer) as server:
            with self.assertRaisesRegex(RuntimeError, "a reader of list .*: "):
                self.figures(server)


class TableTests(unittest.TestCase):
    def table(self, every):
        results = {(100, 16, "kept"): [sample(1, 3), sample(4, 3)],
                   (100, 16, "every"): every}
        return lists.PART.table(results, types.SimpleNamespace(connections=1, growth_rounds=2))

    def test_ratios_are_taken_within_a_round(self):
        kept, every = self.table([sample(1.2, 23), sample(6, 23)]).rows
        self.assertEqual(kept[-2:], ["", ""])
        self.assertEqual(every[-3:], ["0", "1.35", "≤ 1.5: met"])

    def test_says_when_reads_were_refused_or_late(self):
        self.assertEqual(len(self.table([sample(1, 23), sample(4, 22)]).notes), 1)
        refused = self.table([sample(1, 23, DEADLINE_EXCEEDED=2), sample(4, 23)])
        self.assertEqual(refused.rows[1][8], "2")
        self.assertIn("2 with DEADLINE_EXCEEDED", refused.notes[1])
        late = self.table([sample(1, 11.5), sample(4, 23)])
        self.assertIn("0.50 times a second", late.notes[1])


if __name__ == "__main__":
    unittest.main()
