"""A client that connects again: what it sends again, and what it leaves in doubt."""

import contextlib
import unittest
from unittest import mock

from fake import CHANNEL, CONNECTION, FakeService, refusal

from feedclient import Client, Lost, Refused, TimedOut, feed
from feedclient import client as module

DEVICE = bytes(range(16))
VOTED = feed.ServerFrame(cast_vote=feed.CastVoteResponse(post_id=7, score=1))


def on_channel(number, **fields):
    """The Hello of a service whose channel has a number."""
    return feed.HelloResponse(**{"instance_id": 1, "client_known": True, "channel_number": number, **fields})


class Script:
    """Answers calls with one after another of these; the last one for good."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, call):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class ClientTestCase(unittest.TestCase):
    def setUp(self):
        self.enterContext(mock.patch.object(module, "FIRST_WAIT_SECONDS", 0.001))
        self.enterContext(mock.patch.object(module, "MOST_WAIT_SECONDS", 0.001))

    def connected(self, *answers, hellos=(CHANNEL,), **options):
        service = self.enterContext(FakeService(Script(*answers), hellos))
        return service, self.enterContext(Client(service.address, **options))


class ClientTests(ClientTestCase):
    def test_a_numbered_change_is_sent_again_with_its_sequence(self):
        service, client = self.connected(None, None, VOTED, client_id=DEVICE, channel=3)
        self.assertEqual(client.vote(7).score, 1)
        client.vote(7)
        self.assertEqual([call.sequence for call in service.calls], [1, 1, 1, 2])
        self.assertEqual({(one.client_id, one.channel) for one in service.introductions}, {(DEVICE, 3)})
        self.assertEqual(len(service.introductions), 3)

    def test_numbers_go_on_behind_those_of_an_earlier_process(self):
        service, client = self.connected(VOTED, client_id=DEVICE, channel=3, last_sequence=41)
        client.vote(7)
        client.vote(7, sequence=40)
        self.assertEqual([call.sequence for call in service.calls], [42, 40])

    def test_a_change_without_a_number_is_not_sent_again(self):
        service, client = self.connected(None, VOTED)
        with self.assertRaises(Lost) as raised:
            client.vote(7)
        self.assertFalse(raised.exception.not_executed)
        self.assertEqual([call.sequence for call in service.calls], [0])
        self.assertEqual(client.vote(7).score, 1)

    def test_a_read_is_sent_again_as_often_as_it_may_be(self):
        service, client = self.connected(None, attempts=3)
        with self.assertRaises(Lost):
            client.get_post(7)
        self.assertEqual(len(service.calls), 3)

    def test_a_passing_refusal_is_waited_for_and_any_other_is_raised(self):
        passing = refusal("OVERLOADED", not_executed=True, retry_after_ms=1)
        service, client = self.connected(passing, passing, VOTED)
        self.assertEqual(client.vote(7).score, 1)
        self.assertEqual((len(service.calls), len(service.introductions)), (3, 1))
        for answer, count in ((passing, 4), (refusal("POST_NOT_FOUND", not_executed=True), 1)):
            service, client = self.connected(answer)
            with self.assertRaises(Refused):
                client.vote(7)
            self.assertEqual(len(service.calls), count)

    def test_a_service_that_stops_is_left(self):
        service, client = self.connected(refusal("DRAINING", not_executed=True), VOTED)
        client.vote(7)
        self.assertEqual(len(service.introductions), 2)

    def test_what_a_stopping_service_has_not_executed_is_sent_again(self):
        going = feed.ServerFrame(id=CONNECTION, go_away=feed.GoAway(last_id=2))  # the first Ping
        service, client = self.connected([going, None], VOTED)
        self.assertEqual(client.vote(7).score, 1)
        self.assertEqual(len(service.calls), 2)

    def test_a_wait_beyond_the_deadline_is_not_begun(self):
        service, client = self.connected(refusal("RATE_LIMITED", not_executed=True, retry_after_ms=3_600_000))
        with self.assertRaises(Refused):
            client.vote(7)
        self.assertEqual(len(service.calls), 1)

    def test_a_forgotten_channel_leaves_a_change_in_doubt(self):
        other, unknown = feed.HelloResponse(), feed.HelloResponse()
        other.CopyFrom(CHANNEL)
        other.instance_id = 2
        unknown.instance_id = 1
        # A Hello without an answer may have made the channel.
        made = feed.HelloResponse(instance_id=1, client_known=True)
        for hellos in ([CHANNEL, other], [CHANNEL, unknown], [CHANNEL, None, made]):
            service, client = self.connected(None, VOTED, hellos=hellos, client_id=DEVICE)
            with self.assertRaisesRegex(Lost, "has forgotten the channel"):
                client.vote(7)
            self.assertEqual(len(service.calls), 1)
            self.assertEqual(client.vote(7).score, 1)

    def test_a_known_channel_without_calls_is_no_forgotten_one(self):
        empty = feed.HelloResponse(instance_id=1, client_known=True)
        service, client = self.connected(None, VOTED, hellos=[CHANNEL, empty], client_id=DEVICE)
        self.assertEqual(client.vote(7).score, 1)

    def test_a_deadline_ends_all_attempts_and_names_the_sequence(self):
        service, client = self.connected([], VOTED, client_id=DEVICE)
        with self.assertRaises(TimedOut) as raised:
            client.vote(7, timeout=0.05)
        self.assertEqual((raised.exception.sequence, raised.exception.not_executed), (1, False))
        client.vote(7, sequence=raised.exception.sequence)
        self.assertEqual([call.sequence for call in service.calls], [1, 1])

    def test_a_program_sends_a_call_again_on_its_channel_only(self):
        for again, is_sent in ((on_channel(7), True), (on_channel(8), False), (on_channel(7, instance_id=2), False)):
            service, client = self.connected([], VOTED, hellos=[on_channel(7), again], client_id=DEVICE)
            with self.assertRaises(TimedOut) as raised:
                client.vote(7, timeout=0.05)
            lost = raised.exception
            self.assertEqual((lost.sequence, lost.instance_id, lost.channel_number), (1, 1, 7))
            if is_sent:
                client.vote(7, sequence=lost.sequence)
            else:
                with self.assertRaisesRegex(Lost, "has forgotten the channel") as raised:
                    client.vote(7, sequence=lost.sequence)
                self.assertEqual((raised.exception.not_executed, raised.exception.sequence), (False, 0))
            client.vote(7)
            self.assertEqual([call.sequence for call in service.calls], [1, 1, 2] if is_sent else [1, 2])

    def test_the_next_process_names_the_channel_of_its_calls(self):
        unknown = on_channel(7, client_known=False)
        for hello, is_sent in ((on_channel(7), True), (on_channel(8), False), (unknown, False)):
            service, client = self.connected(VOTED, hellos=[hello], client_id=DEVICE, channel=3, last_sequence=41,
                                             instance_id=1, channel_number=7)
            with contextlib.nullcontext() if is_sent else self.assertRaisesRegex(Lost, "has forgotten"):
                client.vote(7, sequence=40)
            client.vote(7)
            client.vote(7, sequence=50)  # a number of the program's own
            client.vote(7)
            self.assertEqual([call.sequence for call in service.calls], [40] * is_sent + [42, 50, 51])

    def test_a_change_that_was_not_executed_gets_a_number_of_the_new_channel(self):
        draining = refusal("DRAINING", not_executed=True)
        service, client = self.connected(draining, None, VOTED, hellos=[on_channel(7), on_channel(8)], client_id=DEVICE)
        client.vote(7)
        self.assertEqual([call.sequence for call in service.calls], [1, 2, 2])

    def test_a_call_that_was_sent_before_may_have_been_executed_then(self):
        service, client = self.connected([], client_id=DEVICE)
        with self.assertRaises(TimedOut):
            client.vote(7, timeout=0.05)
        service.__exit__()
        for sequence, not_executed in ((1, False), (2, True)):
            with self.assertRaises(Lost) as raised:
                client.vote(7, sequence=sequence)
            self.assertEqual(raised.exception.not_executed, not_executed)

    def test_a_service_that_is_gone_has_executed_nothing(self):
        service, client = self.connected(VOTED)
        service.__exit__()
        client.close()
        with self.assertRaises(Lost) as raised:
            client.vote(7)
        self.assertTrue(raised.exception.not_executed)

    def test_a_service_that_is_gone_leaves_what_was_sent_before_in_doubt(self):
        def answer(_):
            service.__exit__()
        service = self.enterContext(FakeService(answer))
        client = self.enterContext(Client(service.address, client_id=DEVICE))
        with self.assertRaises(Lost) as raised:
            client.vote(7)
        self.assertEqual((raised.exception.not_executed, raised.exception.sequence), (False, 1))

    def test_a_silent_connection_is_not_used_again(self):
        service, client = self.connected(VOTED)
        with mock.patch.object(module, "IDLE_SECONDS", -1):
            client.vote(7)
        self.assertEqual(len(service.introductions), 2)

    def test_each_connection_shows_the_session(self):
        signed_in = feed.ServerFrame(session=feed.UserSession(token=b"t" * 32))
        service, client = self.connected(signed_in, None, feed.ServerFrame(post=feed.Post()),
                                         feed.ServerFrame(empty=feed.Empty()))
        client.sign_in("ada@example.org", "a password")
        client.get_post(7)
        client.sign_out()
        client.close()
        client.ping()
        self.assertEqual([one.session_token for one in service.introductions], [b"", b"t" * 32, b""])


    def test_a_changed_password_begins_another_session(self):
        def session(letter):
            return feed.ServerFrame(session=feed.UserSession(token=letter * 32))
        for change in (lambda client: client.change_password("a password", "another"),
                       lambda client: client.reset_password(b"r" * 32, "another")):
            service, client = self.connected(session(b"t"), session(b"u"))
            client.sign_in("ada@example.org", "a password")
            change(client)
            client.close()
            client.ping()
            self.assertEqual([one.session_token for one in service.introductions], [b"", b"u" * 32])

    def test_a_deleted_account_leaves_no_session(self):
        session = feed.ServerFrame(session=feed.UserSession(token=b"t" * 32))
        service, client = self.connected(session, feed.ServerFrame(empty=feed.Empty()))
        client.sign_in("ada@example.org", "a password")
        client.delete_account("a password", keep_posts=True)
        self.assertEqual(service.calls[-1].delete_account.keep_posts, True)
        client.close()
        client.ping()
        self.assertEqual([one.session_token for one in service.introductions], [b"", b""])


class WatchTests(ClientTestCase):
    def watched(self, *answers, hellos=(CHANNEL,)):
        service, client = self.connected(*answers, hellos=hellos, client_id=DEVICE, channel=3)
        events = client.watch(feed.WatchPostsRequest(post_ids=[7]))
        return service, self.enterContext(contextlib.closing(events))

    def event(self, revision, text=""):
        return feed.ServerFrame(more=True, revision=revision, watch_posts=feed.WatchPostsEvent(
            changed=[feed.Post(id=7, text=text)]))

    def last(self, frame):
        """An event, and the end of its connection."""
        ended = feed.ServerFrame(id=CONNECTION, status=feed.Status(
            code=feed.UNAVAILABLE, reason="DRAINING", not_executed=True))
        return [frame, ended]

    def test_goes_on_where_it_was(self):
        service, events = self.watched(self.last(self.event(5)), self.event(9))
        self.assertEqual([next(events).changed[0].id for _ in range(2)], [7, 7])
        self.assertEqual([call.watch_posts.since_revision for call in service.calls], [0, 5])
        # It has channels of its own: the client's is not taken from it.
        self.assertNotIn(3, [one.channel for one in service.introductions[1:]])

    def test_begins_anew_with_another_instance_and_behind_a_full_event(self):
        other = feed.HelloResponse(instance_id=2)
        service, events = self.watched(
            self.last(self.event(5)), self.event(9), hellos=[CHANNEL, CHANNEL, other])
        next(events), next(events)
        self.assertEqual(service.calls[1].watch_posts.since_revision, 0)
        service, events = self.watched(self.last(self.event(5, "x" * 600_000)), self.event(9))
        next(events), next(events)
        self.assertEqual(service.calls[1].watch_posts.since_revision, 0)

    def test_a_refusal_that_does_not_pass_is_raised(self):
        _, events = self.watched(refusal("TOO_MANY_WATCHES"))
        with self.assertRaisesRegex(Refused, "TOO_MANY_WATCHES"):
            next(events)


if __name__ == "__main__":
    unittest.main()
