"""A client of a cluster: how it finds the leader, and what it sends again."""

import random
import unittest
from unittest import mock

from fake import CHANNEL, CONNECTION, FakeService
from test_client import DEVICE, VOTED, ClientTestCase, Script

from feedclient import Client, Lost, Refused, feed
from feedclient import client as module
from feedclient.route import Route

POST = feed.ServerFrame(post=feed.Post(id=7))


def not_leader(leader: str = "", reason: str = "NOT_LEADER") -> feed.ServerFrame:
    return feed.ServerFrame(status=feed.Status(
        code=feed.UNAVAILABLE, reason=reason, not_executed=True, leader=leader))


def follower(leader: str = "", members=()) -> feed.HelloResponse:
    return feed.HelloResponse(
        instance_id=1, role=feed.NODE_FOLLOWER, channel_status=not_leader(leader).status,
        members=[feed.ClusterMember(address=address) for address in members])


def leader(last_sequence: int = 1) -> feed.HelloResponse:
    return feed.HelloResponse(
        instance_id=1, client_known=True, last_sequence=last_sequence, role=feed.NODE_LEADER)


class ManualTime:
    """A time that passes where somebody sleeps."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Silent(FakeService):
    """Answers Hello and nothing else, not even a Ping."""

    def _answers(self, call):
        return super()._answers(call) if call.HasField("hello") else self.calls.append(call) or []


class ClusterTests(ClientTestCase):
    def service(self, *answers, hellos=(leader(),), kind=FakeService):
        return self.enterContext(kind(Script(*answers), hellos))

    def client(self, *services, **options):
        return self.enterContext(Client([service.address for service in services], **options))

    def test_the_leader_is_found_among_the_addresses(self):
        services = [self.service(VOTED, hellos=hellos) for hellos in ([follower()], [follower()], [leader()])]
        self.assertEqual(self.client(*services).vote(7).score, 1)
        self.assertEqual([len(service.introductions) for service in services], [1, 1, 1])
        self.assertEqual([len(service.calls) for service in services], [0, 0, 1])

    def test_the_leader_that_a_follower_names_is_next(self):
        third = self.service(VOTED)
        first = self.service(VOTED, hellos=[follower(third.address)])
        second = self.service(VOTED, hellos=[follower()])
        self.client(first, second, third).vote(7)
        self.assertEqual([len(one.introductions) for one in (first, second, third)], [1, 0, 1])

    def test_members_are_tried_and_other_leaders_are_not(self):
        stranger, member = self.service(VOTED), self.service(VOTED)
        first = self.service(VOTED, hellos=[follower(stranger.address, [member.address, "", "x" * 4096])])
        self.client(first).vote(7)
        self.assertEqual((len(stranger.introductions), len(member.calls)), (0, 1))

    def test_hostile_leaders_cost_one_try_each(self):
        for text in ("", "nonsense", "self", "127.0.0.1:1", "x" * 4096, "a b:1", ":1"):
            second = self.service(VOTED)
            first = self.service(VOTED)
            first.hellos = [follower(first.address if text == "self" else text, [text, text + ":1"])]
            self.client(first, second).vote(7)
            self.assertEqual((len(first.introductions), len(second.calls)), (1, 1), text)

    def test_followers_that_name_each_other_end_in_an_error(self):
        self.enterContext(mock.patch.object(module, "MOST_WAIT_SECONDS", 0.2))
        clock = self.enterContext(mock.patch.object(module, "time", ManualTime()))
        first, second = self.service(VOTED), self.service(VOTED)
        first.hellos, second.hellos = [follower(second.address)], [follower(first.address)]
        with self.assertRaisesRegex(Lost, "is a follower of its cluster") as raised:
            Client([first.address, second.address])
        self.assertTrue(raised.exception.not_executed)
        # Each was asked once a try, until the timeout of 10 s was over.
        tries = len(first.introductions)
        self.assertEqual(len(second.introductions), tries)
        self.assertGreater(tries, 4)
        self.assertGreater(clock.now, 9.0)

    def test_an_election_may_take_longer_than_a_few_tries(self):
        second = self.service(VOTED, hellos=[follower()])
        first = self.service(not_leader(), VOTED, hellos=[follower()] * 9 + [leader()] + [follower()] * 9 + [leader()])
        client = self.client(first, second, client_id=DEVICE, timeout=600)
        self.assertEqual(client.vote(7).score, 1)
        self.assertEqual([call.sequence for call in first.calls], [1, 1])
        self.assertEqual((len(first.introductions), len(second.calls)), (20, 0))

    def test_a_watch_waits_for_the_next_leader(self):
        event = feed.ServerFrame(more=True, revision=5, watch_posts=feed.WatchPostsEvent(changed=[feed.Post(id=7)]))
        second = self.service(VOTED, hellos=[follower()])
        first = self.service([event, None], [event], hellos=[leader()] * 2 + [follower()] * 9 + [leader()])
        events = self.client(first, second, timeout=600).watch(feed.WatchPostsRequest(post_ids=[7]))
        next(events), next(events)
        events.close()
        self.assertEqual([call.watch_posts.since_revision for call in first.calls], [0, 5])

    def test_the_number_of_a_channel_tells_what_a_lost_hello_has_made(self):
        def hello(number):
            return feed.HelloResponse(instance_id=1, client_known=True, role=feed.NODE_LEADER, channel_number=number)
        for number in (7, 8):
            first = self.service(None, VOTED, hellos=[hello(7), None, hello(number)])
            client = self.client(first, client_id=DEVICE)
            if number == 7:
                self.assertEqual(client.vote(7).score, 1)
                self.assertEqual([call.sequence for call in first.calls], [1, 1])
            else:
                with self.assertRaisesRegex(Lost, "has forgotten the channel"):
                    client.vote(7)

    def test_a_service_that_refuses_hello_is_followed_by_the_next(self):
        draining = feed.ServerFrame(status=feed.Status(
            code=feed.UNAVAILABLE, reason="DRAINING", not_executed=True))
        for refusal in (not_leader(), draining):
            second = self.service(VOTED)
            first = self.service(VOTED, hellos=[refusal])
            self.client(first, second, session_token=b"7" * 32).vote(7)
            self.assertEqual((len(first.introductions), len(second.calls)), (1, 1))

    def test_a_refused_change_is_sent_again_to_the_leader_with_its_sequence(self):
        third = self.service(VOTED)
        second = self.service(VOTED, hellos=[follower()])
        first = self.service(VOTED, not_leader(third.address), hellos=[leader(), follower()])
        client = self.client(first, second, third, client_id=DEVICE)
        client.vote(7)
        client.vote(7)
        self.assertEqual([call.sequence for call in third.calls], [2])
        self.assertEqual(len(second.introductions), 0)

    def test_a_farewell_names_the_leader(self):
        third = self.service(VOTED)
        second = self.service(VOTED, hellos=[follower()])
        farewell = feed.ServerFrame(id=CONNECTION, go_away=feed.GoAway(
            last_id=99, reason="NOT_LEADER", leader=third.address))
        first = self.service([farewell, None], hellos=[leader(), follower()])
        client = self.client(first, second, third, client_id=DEVICE)
        client.vote(7)
        self.assertEqual([call.sequence for call in third.calls], [1])
        self.assertEqual(len(second.introductions), 0)

    def test_what_has_no_number_is_left_in_doubt(self):
        second = self.service(VOTED)
        first = self.service(None, hellos=[leader(), follower()])
        client = self.client(first, second)
        with self.assertRaises(Lost) as raised:
            client.vote(7)
        self.assertFalse(raised.exception.not_executed)
        self.assertEqual(client.vote(7).score, 1)
        self.assertEqual((len(first.calls), len(second.calls)), (1, 1))

    def test_a_silent_leader_is_left(self):
        self.enterContext(mock.patch.object(module, "SILENCE_SECONDS", 0.2))
        second = self.service(VOTED)
        first = self.service(hellos=[leader(), follower()], kind=Silent)
        client = Client.__new__(Client)
        with mock.patch.object(Client, "ping"):
            client.__init__([first.address, second.address], client_id=DEVICE)
        self.enterContext(client)
        client.vote(7)
        self.assertEqual([call.sequence for call in second.calls], [1])
        self.assertEqual(
            [call.WhichOneof("body") for call in first.calls], ["cast_vote", "ping"])

    def test_one_service_may_be_silent_until_the_deadline(self):
        self.enterContext(mock.patch.object(module, "SILENCE_SECONDS", 0.02))
        service, client = self.connected([], client_id=DEVICE)
        with self.assertRaisesRegex(Lost, "in time"):
            client.vote(7, timeout=0.2)
        self.assertEqual(len(service.calls), 1)

    def test_followers_are_read_where_the_program_asks(self):
        second = self.service(POST)
        first = self.service(POST, hellos=[follower(second.address)])
        client = self.client(first, second, reads="any", client_id=DEVICE)
        self.assertEqual(client.get_post(7).id, 7)
        self.assertEqual(len(second.introductions), 0)
        second.answer = Script(VOTED)
        client.vote(7)
        self.assertEqual([call.sequence for call in second.calls], [1])
        self.assertEqual(len(first.calls), 1)

    def test_a_follower_that_is_behind_is_left(self):
        for reason in ("NOT_CAUGHT_UP", "STALE_REPLICA"):
            second = self.service(POST)
            first = self.service(not_leader(second.address, reason), hellos=[follower()])
            client = self.client(first, second, reads="any")
            self.assertEqual(client.get_post(7, min_revision=5).id, 7)
            self.assertEqual((len(first.calls), len(second.calls)), (1, 1))
        only = self.service(not_leader("", "STALE_REPLICA"), hellos=[follower()])
        with self.assertRaisesRegex(Refused, "STALE_REPLICA"):
            self.client(only, reads="any").get_post(7)
        self.assertEqual(len(only.calls), 4)

    def test_a_watch_goes_on_at_the_next_leader(self):
        def event(revision):
            return feed.ServerFrame(more=True, revision=revision, watch_posts=feed.WatchPostsEvent(
                changed=[feed.Post(id=7)]))
        second = self.service(event(9))
        first = self.service([event(5), not_leader(second.address)], hellos=[leader(), leader(), follower()])
        client = self.client(first, second)
        events = client.watch(feed.WatchPostsRequest(post_ids=[7]))
        next(events), next(events)
        events.close()
        self.assertEqual([call.watch_posts.since_revision for call in first.calls + second.calls], [0, 5])

    def test_each_change_is_executed_once_over_a_hundred_leaders(self):
        """The services share what they have executed; some changes are executed and not answered."""
        chance, leaders = random.Random(7), [0]
        executed: dict[int, int] = {}  # the post of each sequence
        services: list[FakeService] = []

        def answer_of(place):
            def answer(call):
                if leaders[-1] != place:
                    return not_leader(services[leaders[-1]].address if chance.random() < 0.5 else "")
                fate = chance.random()
                if fate < 0.3:
                    leaders.append((place + chance.choice((1, 2))) % 3)
                    return not_leader(services[leaders[-1]].address)
                executed.setdefault(call.sequence, call.cast_vote.post_id)
                if fate < 0.6:
                    leaders.append((place + chance.choice((1, 2))) % 3)
                    return None
                return VOTED
            return answer

        class Member(FakeService):
            def _answers(self, call):
                place = services.index(self)
                last = max(executed, default=0)
                self.hellos = [leader(last) if leaders[-1] == place else follower()]
                return super()._answers(call)

        for place in range(3):
            services.append(self.enterContext(Member(answer_of(place))))
        client = self.client(*services, client_id=DEVICE, attempts=1_000, timeout=600)
        votes = 0
        while len(leaders) < 100:
            votes += 1
            client.vote(votes)
        self.assertEqual(executed, {number: number for number in range(1, votes + 1)})


class RouteTests(unittest.TestCase):
    def test_a_list_of_members_is_bounded(self):
        route = Route(["a.test"])
        route.learn(follower(members=[f"10.0.0.1:{port}" for port in range(1, 5_000)]))
        self.assertEqual(len(route.addresses), 10)
        route.learn(follower(members=["a.test:7433", "b.test:1"]))
        self.assertEqual(route.addresses, ["a.test", "b.test:1"])
        route.learn(CHANNEL)
        self.assertEqual(route.addresses, ["a.test", "b.test:1"])

    def test_each_try_begins_at_the_service_of_the_one_before(self):
        route = Route(["a:1", "b:1", "c:1"])
        self.assertEqual(list(route.tries()), ["a:1", "b:1", "c:1"])
        self.assertEqual(next(route.tries()), "c:1")
        route.turn()
        self.assertEqual(next(route.tries()), "a:1")
        route.turn("c:1")
        tries = route.tries()
        self.assertEqual(next(tries), "c:1")
        route.turn("a:1")
        self.assertEqual(list(tries), ["a:1", "b:1"])
        route.turn("b:1")
        self.assertEqual(next(route.tries()), "c:1")

    def test_an_address_is_needed(self):
        with self.assertRaises(ValueError):
            Client([])


if __name__ == "__main__":
    unittest.main()
