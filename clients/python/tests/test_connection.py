"""One connection: what is sent, which answer is whose, and what a call raises."""

import pathlib
import ssl
import subprocess
import tempfile
import time
import unittest
from unittest import mock

from fake import CONNECTION, FakeService, refusal

from feedclient import Connection, FeedError, FrameReader, Lost, Refused, TimedOut, feed, framed, tls_context
from feedclient import connection as module

POST = feed.ServerFrame(post=feed.Post(id=7, title="Apple"))


def event(revision, *scores, **fields):
    changed = [feed.Post(id=place, score=score) for place, score in enumerate(scores, 1)]
    return feed.ServerFrame(more=True, revision=revision,
                            watch_posts=feed.WatchPostsEvent(changed=changed, **fields))


class FrameTests(unittest.TestCase):
    def test_messages_are_found_however_they_are_cut(self):
        data = framed(1, ping=feed.PingRequest()) + framed(300, get_post=feed.GetPostRequest(id=7))
        for size in (1, 3, len(data)):
            reader, found = FrameReader(), []
            for place in range(0, len(data), size):
                reader.append(data[place:place + size])
                while body := reader.next():
                    found.append(feed.ClientFrame.FromString(body).id)
            self.assertEqual(found, [1, 300])

    def test_a_vote_has_the_bytes_of_the_protocols_page(self):
        vote = feed.CastVoteRequest(post_id=300, direction=feed.UP)
        self.assertEqual(framed(7, timeout_ms=250, cast_vote=vote).hex(" "),
                         "00 00 00 0d 08 07 10 fa 01 c2 02 05 08 ac 02 10 01")

    def test_addresses_are_read(self):
        found = {"feed.example.org": ("feed.example.org", 7433), "127.0.0.1:7": ("127.0.0.1", 7),
                 "[::1]:7": ("::1", 7), "[::1]": ("::1", 7433), "::1": ("::1", 7433)}
        for text, address in found.items():
            self.assertEqual(module.parse_address(text), address)


class ConnectionTestCase(unittest.TestCase):
    def connected(self, answer, **options):
        service = self.enterContext(FakeService(answer))
        return service, self.enterContext(Connection(service.address, **options))


class CallTests(ConnectionTestCase):
    def test_ids_rise_and_what_stands_beside_a_request_is_sent(self):
        service, connection = self.connected(lambda _: POST)
        self.assertEqual(connection.get_post(7).title, "Apple")
        connection.get_post(7, timeout=0.25, acting=1 << 63, min_revision=9)
        connection.create_post(feed.Post(title="x"), "news", sequence=3, timeout=100)
        self.assertEqual([call.id for call in service.calls], [1, 2, 3])
        one, two, three = service.calls
        self.assertEqual(one, feed.ClientFrame(id=1, get_post=feed.GetPostRequest(id=7)))
        self.assertEqual((two.timeout_ms, two.acting_user_id, two.min_revision), (250, 1 << 63, 9))
        self.assertEqual((three.sequence, three.create_post.feed, three.timeout_ms), (3, "news", 60_000))

    def test_a_status_is_raised(self):
        _, connection = self.connected(lambda _: refusal(
            "OVERLOADED", message="Wait.", not_executed=True, retry_after_ms=5))
        with self.assertRaisesRegex(Refused, "^RESOURCE_EXHAUSTED / OVERLOADED: Wait.$") as raised:
            connection.get_post(7)
        self.assertTrue(raised.exception.is_temporary)
        self.assertEqual(raised.exception.reason, "OVERLOADED")

    def test_a_number_without_a_name_is_shown_as_one(self):
        self.assertEqual(str(Refused(feed.Status(code=99, reason="NEW"))), "code 99 / NEW: ")

    def test_an_answer_of_another_kind_is_an_error(self):
        _, connection = self.connected(lambda _: feed.ServerFrame(empty=feed.Empty()))
        with self.assertRaisesRegex(FeedError, "^get_post was answered with id: 1"):
            connection.get_post(7)

    def test_an_answer_that_came_too_late_is_dropped(self):
        late = feed.ServerFrame(id=1, post=feed.Post(title="late"))
        _, connection = self.connected(lambda call: [] if call.id == 1 else [late, POST])
        with self.assertRaises(TimedOut) as raised:
            connection.get_post(7, timeout=0.01, sequence=4)
        self.assertEqual((raised.exception.sequence, raised.exception.not_executed), (4, False))
        self.assertEqual(connection.get_post(7).title, "Apple")

    def test_a_closed_connection_is_lost(self):
        _, connection = self.connected(lambda _: None)
        with self.assertRaisesRegex(Lost, "closed"):
            connection.get_post(7)

    def test_a_call_behind_the_last_one_that_is_served_was_not_executed(self):
        for last_id, not_executed in ((0, True), (1, False)):
            going = feed.ServerFrame(id=CONNECTION, go_away=feed.GoAway(last_id=last_id))
            _, connection = self.connected(lambda _, going=going: [going], timeout=0.1)
            with self.assertRaises(Lost) as raised:
                connection.get_post(7)
            self.assertEqual(raised.exception.not_executed, not_executed)

    def test_a_refusal_of_the_connection_is_raised(self):
        full = refusal("TOO_MANY_CONNECTIONS")
        full.id = CONNECTION
        _, connection = self.connected(lambda _: full)
        with self.assertRaisesRegex(Refused, "TOO_MANY_CONNECTIONS"):
            connection.get_post(7)

    def test_nobody_listens(self):
        with FakeService(lambda _: POST) as service:
            pass
        with self.assertRaises(Lost) as raised:
            Connection(service.address)
        self.assertTrue(raised.exception.not_executed)

    def test_pages_follow_their_tokens(self):
        def answer(call):
            page = int(call.list_posts.page_token or b"0")
            return feed.ServerFrame(list_posts=feed.ListPostsResponse(
                posts=[feed.Post(id=page)], next_page_token=b"%d" % (page + 1) if page < 2 else b""))
        service, connection = self.connected(answer)
        request = feed.ListPostsRequest(feed="news", start_rank=5)
        self.assertEqual([post.id for post in connection.posts(request)], [0, 1, 2])
        self.assertEqual([call.list_posts.WhichOneof("start") for call in service.calls],
                         ["start_rank", None, None])
        self.assertEqual(request.start_rank, 5)


class WatchTests(ConnectionTestCase):
    def test_events_are_kept_while_other_answers_are_awaited(self):
        def answer(call):
            return event(5, 1) if call.HasField("watch_posts") else [
                event_of_watch(6, 2), feed.ServerFrame(id=call.id, post=POST.post), event_of_watch(7, 3)]

        def event_of_watch(revision, score):
            frame = event(revision, score)
            frame.id = 1
            return frame
        _, connection = self.connected(answer)
        watch = connection.watch(feed.WatchPostsRequest(post_ids=[1]))
        connection.get_post(7)
        seen = [(next(watch).changed[0].score, watch.revision) for _ in range(3)]
        self.assertEqual(seen, [(1, 5), (2, 6), (3, 7)])

    def test_a_watch_ends_when_it_is_cancelled_and_raises_any_other_end(self):
        def answer(call):
            cancelled = feed.Status(code=feed.CANCELLED, reason="CANCELLED")
            return event(5, 1) if call.HasField("watch_posts") else feed.ServerFrame(
                id=call.cancel.id, status=cancelled)
        _, connection = self.connected(answer)
        watch = connection.watch(feed.WatchPostsRequest(post_ids=[1]))
        for _ in watch:
            watch.cancel()
        _, connection = self.connected(lambda _: refusal("TOO_MANY_WATCHES"))
        with self.assertRaisesRegex(Refused, "TOO_MANY_WATCHES"):
            next(connection.watch(feed.WatchPostsRequest(post_ids=[1])))

    def test_silence_is_broken_by_pings(self):
        pinged = []

        def answers(call):
            if not call.HasField("ping"):
                return []
            pinged.append(call.id)
            first = event(5, 1)
            first.id = 1
            return [feed.ServerFrame(ping=feed.PingResponse()), *([first] if len(pinged) == 2 else [])]
        with mock.patch.object(FakeService, "_answers", lambda _, call: answers(call)), \
                mock.patch.object(module, "KEEP_ALIVE_SECONDS", 0.01):
            _, connection = self.connected(None)
            self.assertEqual(next(connection.watch(feed.WatchPostsRequest(post_ids=[1]))).changed[0].id, 1)
        self.assertGreaterEqual(len(pinged), 2)


class TLSTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.certificate, cls.key = cls.directory / "server.pem", cls.directory / "server.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
             "-keyout", cls.key, "-out", cls.certificate], check=True, capture_output=True)

    def service(self, version=ssl.TLSVersion.TLSv1_3):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        context.set_alpn_protocols(["feed/1"])
        context.maximum_version = version
        return self.enterContext(FakeService(lambda _: POST, tls=context))

    def test_a_call_is_secured(self):
        with Connection(self.service().address, tls=tls_context(str(self.certificate))) as connection:
            self.assertEqual(connection.socket.version(), "TLSv1.3")
            self.assertEqual(connection.socket.selected_alpn_protocol(), "feed/1")
            self.assertEqual(connection.get_post(7).title, "Apple")

    def test_a_stranger_another_name_and_an_old_version_are_refused(self):
        own = tls_context(str(self.certificate))
        for context, name, version in ((tls_context(), "", ssl.TLSVersion.TLSv1_3),
                                       (own, "feed.example.org", ssl.TLSVersion.TLSv1_3),
                                       (own, "", ssl.TLSVersion.TLSv1_2)):
            with self.assertRaises(Lost):
                Connection(self.service(version).address, tls=context, server_name=name)


if __name__ == "__main__":
    unittest.main()
