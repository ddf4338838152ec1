"""The rows of watches: events are counted, watches that are missing end the part, and a delay ends with its
event."""

import threading
import types
import unittest

from fake_server import FakeServer, framed

import support  # noqa: F401

import frames
import watches
from clients import Sample
from feedclient import feed
from frames import fields_of, varint

EVENT = b"\x28\x01"  # the first of a watch: `reset`
WATCHES = 9  # the field of ServerStats


class WatchServer(FakeServer):
    """Begins watches, but for `refused` of them. The `leaving` ones end once the count was asked for."""

    def __init__(self, refused=0):
        self.begun, self.refused, self.leaving = 0, refused, 0
        super().__init__(self.reply)

    def reply(self, frame_id, call):
        if call == frames.GET_SERVER_STATS:
            begun, self.begun, self.leaving = self.begun, self.begun - self.leaving, 0
            return framed(call, varint(WATCHES << 3) + varint(begun), frame_id)
        if call == frames.WATCH_POSTS:
            self.begun += 1
            if self.begun + self.refused > 40:
                self.begun -= 1
        return framed(call, EVENT, frame_id)


class WatcherTests(unittest.TestCase):
    def count_soon(self):
        self.addCleanup(setattr, watches, "COUNT_SECONDS", watches.COUNT_SECONDS)
        watches.COUNT_SECONDS = 0.1

    def contents(self):
        return [feed.WatchPostsRequest(post_ids=[number]) for number in range(1, 41)]

    def test_a_connection_has_sixteen_watches_and_events_are_counted(self):
        with WatchServer() as server:
            with watches.Watchers(server, self.contents()) as watchers:
                while watchers.bytes < 40 * len(framed(frames.WATCH_POSTS, EVENT, 1)):
                    self.assertIsNone(watchers.failure)
            self.assertEqual(watchers.bytes, 40 * len(framed(frames.WATCH_POSTS, EVENT, 1)))
            # Those with watches connect first; another one asks for their count, a few times or many.
            self.assertEqual([len(ids) for ids in server.ids[:3]], [16, 16, 8])
            watched = {fields_of(body)[5] for body in server.bodies if body}
            self.assertEqual(watched, {bytes([number]) for number in range(1, 41)})

    def test_refused_watches_end_the_part(self):
        self.count_soon()
        with WatchServer(refused=3) as server:
            with self.assertRaisesRegex(RuntimeError, "of 40 watches 37 have begun"):
                with watches.Watchers(server, self.contents()):
                    self.fail("the block runs without its watches")

    def test_watches_that_the_service_ends_meanwhile_end_the_part(self):
        with WatchServer() as server:
            with self.assertRaisesRegex(RuntimeError, "of 40 watches 38 are left"):
                with watches.Watchers(server, self.contents()) as watchers:
                    self.count_soon()
                    server.begun -= 2
            self.assertFalse(watchers._thread.is_alive())

    def test_a_block_that_fails_names_its_own_failure(self):
        with WatchServer() as server:
            with self.assertRaisesRegex(ValueError, "of the block"):
                with watches.Watchers(server, self.contents()):
                    server.begun -= 2
                    raise ValueError("of the block")

    def test_a_watch_of_a_probe_that_goes_is_waited_for(self):
        with WatchServer() as server:
            with watches.Watchers(server, self.contents()):
                server.begun += 1
                server.leaving = 1
            self.assertEqual(server.begun, 40)

    def test_a_row_asks_for_its_list_or_for_posts_far_apart(self):
        self.assertEqual(watches.requests("none", 5000), [])
        lists = {request.SerializeToString() for request in watches.requests("list", 5000)}
        self.assertEqual([fields_of(content) for content in lists], [{1: b"posts", 2: 1, 4: 20}])
        posts = [post for request in watches.requests("posts", 5000) for post in request.post_ids]
        self.assertEqual(posts, list(range(1, 5000, 5)))


class ProbeTests(unittest.TestCase):
    def test_a_delay_ends_with_the_event_that_shows_the_vote(self):
        votes, enough = [], threading.Event()

        def reply(frame_id, call):
            if call == frames.CAST_VOTE:
                votes.append(frame_id)
                if len(votes) == 5:
                    enough.set()
                return with_revision(call, 10 * len(votes), frame_id)
            return with_revision(call, 0, frame_id) + b"".join(
                with_revision(call, revision, frame_id) for revision in range(5, 1000, 5))

        with FakeServer(reply) as server, watches.Probe(server, 7, seed=1) as probe:
            self.assertTrue(enough.wait(60))
        self.assertEqual((len(probe.delays), probe.shown), (len(votes), 10 * len(votes)))
        self.assertEqual(set(server.posts), {7})

    def test_a_refused_vote_ends_the_part(self):
        def reply(frame_id, call):
            return framed(frames.STATUS, b"\x08\x0e", frame_id) if call == frames.CAST_VOTE else \
                with_revision(call, 0, frame_id)
        with FakeServer(reply) as server:
            with self.assertRaisesRegex(RuntimeError, "the probe: UNAVAILABLE"):
                with watches.Probe(server, 7, seed=1) as probe:
                    probe.join()


def with_revision(call, revision, frame_id):
    more = {4: 1} if call == frames.WATCH_POSTS else {}
    body = frames.message({1: frame_id, frames.REVISION: revision, **more, call: EVENT})
    return len(body).to_bytes(4, "big") + body


def seen(p99, *delays, rate=1000):
    return Sample({"seconds": 2, "votes": 2000, "client_seconds": 0, "server_seconds": 1,
                   "busy_seconds": 0, "steal_seconds": 0, "p50_ms": 1, "p99_ms": p99},
                  bytes_per_second=2e6, delays_ms=list(delays), rate=rate)


class TableTests(unittest.TestCase):
    def test_ratios_are_of_a_round_and_the_longest_delay_counts(self):
        results = {"none": [seen(1, 100), seen(10, 100)], "list": [seen(1.2, 90), seen(16, 301)],
                   "posts": [seen(3, 200), seen(30, 290)]}
        none, listed, posts = watches.PART.table(
            results, types.SimpleNamespace(connections=1, posts=10, growth_rounds=2)).rows
        self.assertEqual((none[6], none[7], none[-1]), ("", "", "≤ 300 ms: met"))
        self.assertEqual((listed[6], listed[7]), ("1.40", "≤ 1.5: met"))
        self.assertEqual((posts[6], posts[7]), ("3.00", "≤ 1.5: **missed**"))
        self.assertEqual(listed[-2:], ["301 ms", "≤ 300 ms: met within noise"])


if __name__ == "__main__":
    unittest.main()
