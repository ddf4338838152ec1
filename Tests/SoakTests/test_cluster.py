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

IMPORTED = ("cluster", "liar", "network", "nodes", "process", "witness")
WORDS = {"propose": 2, "read": 4, "committed": 66, "role": 67, "refused": 68, "read_ok": 69, "status": 7, "status_is": 78}


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

    def test_finds_other_ends(self):
        for name, code, expected in (("feed-replica a", 75, []), ("feed-replica a", 65, [74]), ("feed-service a", 1, []),
                                     ("feed-service a", -signal.SIGABRT, [-signal.SIGKILL])):
            self.assertRegex(str(self.judged(name, code, expected)), f"{name} ended by itself, with {code}:\nits log")


class FaultTests(ClusterTestCase):
    def test_are_those_of_the_seed(self):
        world = types.SimpleNamespace(keeper=None, network=None, cluster=types.SimpleNamespace(nodes=[]))
        drawn = []
        for _ in range(2):
            faults = self.cluster.Faults(world, random.Random(1))
            drawn.append([faults.some(None) for _ in range(20)])
        self.assertEqual(*drawn)
        for _ in range(20):
            self.assertIn("disk", self.cluster.Faults(world, random.Random()).some("disk"))


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

    def test_reads_are_proved_by_nobody(self):
        service, replica = self.between("reads")
        self.say(service, "read", 7)
        self.hears(service, "read_ok", 7)
        self.say(service, "propose", 1, 1, tail=b"x")
        self.hears(replica, "propose", 1, 1, tail=b"x")


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
