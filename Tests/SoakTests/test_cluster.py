"""The judges of a cluster's soak find what must not be; replicas that lie say what they are made to say."""

import importlib
import os
import random
import signal
import socket
import struct
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

from support import PATHS

IMPORTED = ("cluster", "faults", "figures", "liar", "network", "nodes", "process", "witness")
WORDS = {"propose": 2, "durable": 3, "read": 4, "entry": 65, "committed": 66, "role": 67, "refused": 68, "read_ok": 69,
         "read_no": 70, "heard": 71, "status": 7, "status_is": 78}


def numbers(*values):
    return struct.pack(f"<{len(values)}Q", *values)


class ClusterTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path[:0] = PATHS
        for path in PATHS:
            cls.addClassCleanup(sys.path.remove, path)
        for name in IMPORTED:
            setattr(cls, name, importlib.import_module(name))

    def fails(self, words):
        return self.assertRaisesRegex(self.process.Failure, words)


class WitnessTests(ClusterTestCase):
    def watching(self, leads):
        writer = self.witness.Writer()
        writer.revisions = [0, 10, 20, 30]
        found = self.witness.Witness(writer, types.SimpleNamespace(name="a"), 1)
        found.leads = leads
        return found

    def test_reads_that_are_new_enough_pass(self):
        for leads in (True, False):
            witness = self.watching(leads)
            for revision, count in ((10, 1), (19, 1), (20, 2), (29, 3), (30, 3), (31, 4)):
                witness.judge(revision, count, 1)

    def test_finds_a_leader_that_shows_less_than_was_acknowledged(self):
        with self.fails("the leader shows count 2, and 3 was acknowledged"):
            self.watching(True).judge(20, 2, 3)

    def test_finds_a_revision_whose_content_is_not_shown(self):
        with self.fails("a follower shows count 1 at revision 25, which has 2"):
            self.watching(False).judge(25, 1, 0)

    def test_finds_a_revision_that_goes_back(self):
        witness = self.watching(False)
        witness.judge(20, 2, 0)
        with self.fails("revision 19 after 20"):
            witness.judge(19, 2, 0)

    def test_sees_answers_of_later_revisions_for_what_they_are(self):
        writer = self.witness.Writer()
        writer.revisions = [0, 10, 20, 30]
        witness = self.witness.Witness(writer, types.SimpleNamespace(name="a"), 1, sees_too_much=True)
        witness.until = float("inf")
        answers = [types.SimpleNamespace(revision=20, post=types.SimpleNamespace(comment_count=2)),
                   types.SimpleNamespace(revision=30)]
        witness.random = types.SimpleNamespace(random=lambda: 1)
        witness.revision = 20
        with self.fails("a follower shows count 2 at revision 30, which has 3"):
            witness.step(types.SimpleNamespace(call=lambda **_: answers.pop(0)))


class CounterTests(ClusterTestCase):
    def test_a_plain_vote_in_doubt_may_be_there_or_not(self):
        feed = self.witness.feed
        plain = self.witness.Plain()
        plain.post, plain.acknowledged = 7, 3

        def fails(error):
            def vote(post):
                raise error
            with self.assertRaises(type(error)):
                plain.step(types.SimpleNamespace(vote=vote))

        def check(count):
            plain.check(types.SimpleNamespace(get_post=lambda _: feed.Post(upvote_count=count)))

        fails(self.witness.Lost("gone"))
        fails(self.witness.Refused(feed.Status(code=feed.UNAVAILABLE, not_executed=True)))
        for count in (3, 4):
            check(count)
        for count in (2, 5):
            with self.fails(f"sees {count} votes, and 3 were acknowledged, 1 not answered"):
                check(count)

    def test_imports_are_there_once_and_whole(self):
        importer = self.witness.Importer()
        importer.acknowledged = 5

        def check(count):
            page = self.witness.feed.ListPostsResponse(total_size=count)
            importer.check(types.SimpleNamespace(list_posts=lambda _: page))

        for count in (15, 18):
            check(count)
        for count in (12, 16, 21):
            with self.fails(f"there are {count} imported posts"):
                check(count)


class PartitionTests(ClusterTestCase):
    def test_each_cuts_what_it_says(self):
        cut = self.network.partitions(0, [1, 2])
        self.assertEqual(set(cut["the leader is alone"]), {(0, 1), (1, 0), (0, 2), (2, 0)})
        self.assertEqual(set(cut["the leader is deaf"]), {(0, 1), (0, 2)})
        self.assertEqual(set(cut["the leader is mute"]), {(1, 0), (2, 0)})
        self.assertEqual(set(cut["the leader and a follower are apart"]), {(0, 1), (1, 0)})
        self.assertEqual(set(cut["a follower is deaf"]), {(1, 0), (1, 2)})
        self.assertEqual(len(set(cut["all are apart"])), 6)


class KeeperTests(ClusterTestCase):
    def judged(self, name, code, expected=()):
        program = mock.Mock(code=code)
        program.name, program.tail.return_value = name, "its log"
        keeper = self.cluster.Keeper(None, 1)
        keeper.expected[program] = set(expected)
        keeper.judge(program)
        return keeper.failure

    def test_ends_that_were_to_come_pass(self):
        self.assertIsNone(self.judged("feed-service a", 75))
        self.assertIsNone(self.judged("feed-service a", -signal.SIGKILL, [-signal.SIGKILL]))
        self.assertIsNone(self.judged("feed-replica a", 74, [74]))

    def test_starts_what_is_not_held(self):
        keeper, due = self.cluster.Keeper(None, 1), {}
        program = mock.Mock(code=75, is_running=False)
        program.name = "feed-service a"
        keeper.hold(program)
        for _ in range(3):
            keeper.look(program, due)
        program.start.assert_not_called()
        self.assertEqual(keeper.codes, {})
        keeper.release(program)
        for _ in range(2):
            keeper.look(program, due)
        program.start.assert_called_once()
        self.assertEqual(keeper.codes, {"feed-service 75": 1})

    def test_finds_other_ends(self):
        for name, code, expected in (("feed-replica a", 75, []), ("feed-replica a", 65, [74]), ("feed-service a", 1, []),
                                     ("feed-service a", -signal.SIGABRT, [-signal.SIGKILL])):
            self.assertRegex(str(self.judged(name, code, expected)), f"{name} ended by itself, with {code}:\nits log")


class FaultTests(ClusterTestCase):
    def of(self, *nodes, seed=None):
        cluster = types.SimpleNamespace(nodes=list(nodes), leader=lambda: nodes[0], programs=[])
        world = types.SimpleNamespace(keeper=self.cluster.Keeper(cluster, 1), network=None, cluster=cluster,
                                      await_healed=lambda: nodes[0])
        faults = self.faults.Faults(world, random.Random(seed))
        faults.pause = lambda *_: None
        return faults

    def test_are_those_of_the_seed(self):
        drawn = [[faults.some(None) for _ in range(20)] for faults in (self.of(seed=1), self.of(seed=1))]
        self.assertEqual(*drawn)
        for _ in range(20):
            self.assertIn("disk", self.of().some("disk"))

    def test_each_lie_has_faults_that_show_it(self):
        kinds = self.of().kinds
        for name, words in self.liar.LIES.items():
            self.assertTrue(any(words in kind for kind in kinds), name)

    def test_a_clock_steps_and_comes_back(self):
        with tempfile.TemporaryDirectory() as directory:
            node = types.SimpleNamespace(clock=directory + "/clock", programs=[])
            faults, seen = self.of(node), []

            def look(*_):
                with open(node.clock, "rb") as file:
                    seen.append(struct.unpack("<q", file.read())[0])

            with open(node.clock, "wb") as file:
                file.write(bytes(8))
            faults.pause = look
            faults.step_clock(node)
        self.assertEqual(len(seen), 2)
        self.assertNotEqual(seen[0], 0)
        self.assertEqual(seen[1], 0)

    def spoiled(self, directory, **replica):
        """A follower after its log was spoiled and its replica started, which is as it is said."""
        node = mock.Mock(directory=directory, replica=mock.Mock(**replica))
        node.programs = [node.replica, node.service]
        node.replica.name, node.replica.tail.return_value = "feed-replica b", "its log"
        os.makedirs(directory + "/log/wal")
        with open(directory + "/log/wal/1.wal", "wb") as file:
            file.write(b"x" * 10000 + bytes(10000))
        node.replica.start.side_effect = lambda: self.assertNotEqual(self.log_of(directory), b"x" * 10000)
        with mock.patch.object(self.faults, "REFUSAL_SECONDS", 0):
            self.of(mock.Mock(), node).spoil(node)
        node.replica.start.assert_called_once()

    def log_of(self, directory):
        with open(directory + "/log/wal/1.wal", "rb") as file:
            return file.read().rstrip(b"\0")

    def test_a_spoiled_log_is_refused_and_comes_back(self):
        with tempfile.TemporaryDirectory() as directory:
            self.spoiled(directory, is_running=False, code=65)
            self.assertEqual(self.log_of(directory), b"x" * 10000)
            self.assertEqual(os.listdir(directory), ["log"])

    def test_finds_a_spoiled_log_that_is_opened(self):
        for replica, words in (({"is_running": True}, "feed-replica b opened a log that has lost what was synced"),
                               ({"is_running": False, "code": 70}, "feed-replica b ended with 70, and a sector")):
            with tempfile.TemporaryDirectory() as directory, self.fails(words):
                self.spoiled(directory, **replica)

    def of_members(self, *voters, code=65):
        """Faults of a cluster whose feedctl says what was asked for, and its nodes; the fourth is a spare."""
        nodes = []
        for name in "abcd":
            replica, service = mock.Mock(is_running=False, code=code), mock.Mock()
            replica.name, replica.tail.return_value = "feed-replica " + name, "its log"
            node = mock.Mock(replica=replica, service=service, programs=[replica, service], peer="at " + name)
            node.name = name
            node.status.return_value = {"members": [{"name": one, "voter": one in voters} for one in "abcd"]}
            nodes.append(node)
        faults = self.of(*nodes[:3])
        faults.cluster.spares, faults.cluster.join = nodes[3:], mock.Mock()
        faults.control = mock.Mock(return_value={"token": "of feedctl"})
        return faults, nodes

    def test_a_node_more_joins_by_its_token_votes_and_is_removed(self):
        faults, nodes = self.of_members(*"abcd")
        faults.come_and_go()
        faults.cluster.join.assert_called_once_with(nodes[3], "of feedctl")
        self.assertEqual(faults.control.call_args_list, [
            mock.call("add", "d", "at d"), mock.call("verify"), mock.call("remove", "d")])
        self.assertEqual(faults.cluster.nodes, nodes[:3])
        nodes[3].service.end.assert_called_once()

    def test_a_lost_node_is_removed_before_another_one_of_its_name_joins(self):
        faults, nodes = self.of_members(*"abc")
        meanwhile = mock.Mock()
        faults.replace(nodes[1], meanwhile)
        self.assertEqual(faults.control.call_args_list, [
            mock.call("remove", "b"), mock.call("add", "b", "at b"), mock.call("verify")])
        faults.cluster.join.assert_called_once_with(nodes[1], "of feedctl")
        meanwhile.assert_called_once()
        self.assertEqual(faults.keeper.held, set())

    def test_finds_a_node_that_does_not_become_a_voter_or_runs_on_without_being_one(self):
        with mock.patch.object(self.faults, "HEAL_SECONDS", 0):
            faults, nodes = self.of_members(*"ac")
            with self.fails("with b not among them"):
                faults.replace(nodes[1])
            faults, nodes = self.of_members(*"abcd", code=0)
            with self.fails("feed-replica d ended with 0, and was removed"):
                faults.come_and_go()
            nodes[3].replica.is_running = True
            with self.fails("feed-replica d runs on"):
                faults.remove(nodes[3])

    def test_zeros_one_sector_that_was_written_long_ago(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("1.wal", "2.wal", "3.tmp"):
                with open(f"{directory}/{name}", "wb") as file:
                    file.write(b"x" * 512 * 20 + bytes(512 * 20))
            self.assertTrue(self.faults.zero_sector(directory, random.Random()))
            with open(directory + "/2.wal", "rb") as file:
                found = file.read()
            self.assertEqual(len(found), 512 * 40)
            zeros = [place for place in range(20) if found[512 * place:512 * (place + 1)] == bytes(512)]
            self.assertEqual(found.count(b"x"), 512 * 19)
            self.assertEqual(len(zeros), 1)
            self.assertTrue(2 <= zeros[0] < 10)
            with open(directory + "/2.wal", "wb") as file:
                file.write(b"x" * 512 * 7)
            self.assertFalse(self.faults.zero_sector(directory, random.Random()))


class LiarTests(ClusterTestCase):
    """A service and a replica with a liar between them."""

    def between(self, kind):
        service, near = socket.socketpair()
        far, replica = socket.socketpair()
        session = self.liar.Session(kind, near, far)
        for pump in (session.hear_service, session.hear_replica):
            threading.Thread(target=pump, daemon=True).start()
        ends = [types.SimpleNamespace(socket=end, stream=end.makefile("rb")) for end in (service, replica)]
        for end in ends:
            end.socket.settimeout(60)
            self.addCleanup(end.socket.close)
            self.addCleanup(end.stream.close)
        self.addCleanup(near.close)
        self.addCleanup(far.close)
        return ends

    def say(self, end, word, *values, tail=b""):
        end.socket.sendall(self.nodes.frame(WORDS[word], numbers(*values) + tail))

    def hears(self, end, word, *values, tail=b""):
        self.assertEqual(self.nodes.read_frame(end.stream), (WORDS[word], numbers(*values) + tail))

    def test_early_says_that_batches_are_committed_and_never_otherwise(self):
        service, replica = self.between("early")
        self.say(service, "propose", 3, 9, tail=b"batch")
        self.hears(service, "committed", 3, 9)
        self.hears(replica, "propose", 3, 9, tail=b"batch")
        self.say(replica, "refused", 3, 9, 2)
        self.say(replica, "role", 0, 4, 2, 0)
        self.hears(service, "role", 0, 4, 2, 0)

    def test_skip_leaves_a_batch_out(self):
        service, replica = self.between("skip")
        for index in range(1, self.liar.SKIPPED):
            self.say(service, "propose", 1, index, tail=b"x")
            self.hears(replica, "propose", 1, index, tail=b"x")
        self.say(service, "propose", 1, self.liar.SKIPPED, tail=b"lost")
        self.hears(service, "committed", 1, self.liar.SKIPPED)
        self.say(service, "propose", 1, self.liar.SKIPPED + 1, tail=b"next")
        self.hears(replica, "propose", 1, self.liar.SKIPPED, tail=b"next")
        self.say(replica, "committed", 1, self.liar.SKIPPED)
        self.hears(service, "committed", 1, self.liar.SKIPPED + 1)

    def test_role_lets_a_leader_lack_the_last_entries(self):
        with mock.patch.object(self.liar, "ENTRY_SECONDS", 0):
            service, replica = self.between("role")
            self.say(replica, "entry", 6, 1, 0, tail=b"old")
            self.hears(service, "entry", 6, 1, 0, tail=b"old")
        with mock.patch.object(self.liar, "ENTRY_SECONDS", 3600):
            self.say(replica, "entry", 7, 1, 0, tail=b"lost")
            self.say(replica, "heard", 7, 1)
            self.say(replica, "entry", 8, 2, 2)
            self.say(replica, "role", 1, 2, 5, 8)
            self.hears(service, "heard", 7, 1)
            self.hears(service, "role", 1, 2, 5, 6)
            self.say(service, "propose", 2, 7, tail=b"next")
            self.hears(replica, "propose", 2, 9, tail=b"next")
            self.say(replica, "committed", 2, 9)
            self.hears(service, "committed", 2, 7)
            self.say(service, "durable", 7)
            self.hears(replica, "durable", 9)

    def test_a_deposed_leader_is_not_told_and_goes_on(self):
        service, replica = self.between("deposed")
        self.say(replica, "role", 1, 2, 5, 8)
        self.hears(service, "role", 1, 2, 5, 8)
        self.say(service, "propose", 2, 9, tail=b"x")
        self.hears(replica, "propose", 2, 9, tail=b"x")
        self.say(replica, "read_no", 1)
        self.hears(service, "read_ok", 1)
        self.say(replica, "role", 0, 3, 6, 0)
        self.hears(service, "committed", 2, 9)
        self.say(replica, "entry", 9, 3, 2)
        self.say(service, "propose", 2, 10, tail=b"y")
        self.hears(service, "committed", 2, 10)
        self.say(service, "read", 2)
        self.hears(service, "read_ok", 2)
        self.say(service, "durable", 10)
        self.hears(replica, "durable", 10)

    def test_reads_are_proved_by_nobody(self):
        service, replica = self.between("reads")
        self.say(service, "read", 7)
        self.hears(service, "read_ok", 7)
        self.say(service, "propose", 1, 1, tail=b"x")
        self.hears(replica, "propose", 1, 1, tail=b"x")


class ProposerTests(ClusterTestCase):
    def test_keeps_a_window_of_bodies_on_their_way(self):
        with (tempfile.TemporaryDirectory() as directory, socket.socket(socket.AF_UNIX) as listener,
              mock.patch.multiple(self.figures, BODY_BYTES=3, ROUND_SECONDS=0)):
            listener.bind(directory + "/socket")
            listener.listen()
            proposer = self.figures.Proposer(
                types.SimpleNamespace(socket=directory + "/socket"),
                types.SimpleNamespace(last_index=7, number="0b" * 16))
            replica, _ = listener.accept()
            stream = replica.makefile("rb")

            def says(word, *values):
                replica.sendall(self.nodes.frame(WORDS[word], numbers(*values)))

            def hears():
                while (found := self.nodes.read_frame(stream))[0] == WORDS["durable"]:
                    pass
                return found

            self.assertEqual(hears(), (1, numbers(1, 7, 1, 1) + b"\x0b" * 16))
            says("entry", 8, 2, 2)
            says("role", 1, 2, 5, 8)
            proposer.leads.wait()
            proposer.asked.set()
            proposer.propose()
            for index in (9, 10, 11, 12):
                self.assertEqual(hears(), (WORDS["propose"], numbers(2, index) + proposer.body))
            says("committed", 2, 10)
            for index in (13, 14):
                self.assertEqual(hears(), (WORDS["propose"], numbers(2, index) + proposer.body))
            proposer.asked.clear()
            self.assertEqual(len(proposer.times), 2)
            stream.close()
            replica.close()
            proposer.join()
            proposer.socket.close()


class StatusTests(ClusterTestCase):
    def test_is_what_the_replica_says_or_nothing(self):
        with tempfile.TemporaryDirectory() as directory, socket.socket(socket.AF_UNIX) as listener:
            path = os.path.join(directory, "socket")
            self.assertEqual(self.nodes.status(path), {})
            listener.bind(path)
            listener.listen()

            def answer():
                connection, _ = listener.accept()
                with connection, connection.makefile("rb") as stream:
                    kind, body = self.nodes.read_frame(stream)
                    if kind == WORDS["status"]:
                        connection.sendall(self.nodes.frame(WORDS["status_is"], body + b'{"role": "leader"}'))

            thread = threading.Thread(target=answer)
            thread.start()
            self.assertEqual(self.nodes.status(path), {"role": "leader"})
            thread.join()


if __name__ == "__main__":
    unittest.main()
