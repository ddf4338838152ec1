"""scripts/cluster.sh says what to type next, starts programs again as their units would, and takes a token."""

import contextlib
import importlib.util
import io
import os
import sys
import tempfile
import types
import unittest

from support import PATHS, ROOT


class FakeProgram:
    """One that has ended, or runs; it counts its starts."""

    def __init__(self, name, pid, code=None):
        self.name, self.code, self.starts = name, code, 0
        self.process = types.SimpleNamespace(pid=pid)

    @property
    def is_running(self):
        return self.code is None

    def start(self):
        self.code = None
        self.starts += 1


def fake_node(name, number):
    replica, service = FakeProgram("feed-replica " + name, number), FakeProgram("feed-service " + name, number + 1)
    return types.SimpleNamespace(
        name=name, address=f"127.0.0.1:{number}", metrics=number + 2, peer=f"https://127.0.0.1:{number + 3}",
        replica=replica, service=service, programs=[replica, service])


class TryClusterTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path[:0] = PATHS
        for path in PATHS:
            cls.addClassCleanup(sys.path.remove, path)
        # The soak has a module of this name, too.
        spec = importlib.util.spec_from_file_location("try_cluster", ROOT / "scripts" / "cluster.py")
        cls.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.module)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.joined = []
        self.cluster = types.SimpleNamespace(
            directory=folder.name, nodes=[fake_node("a", 100), fake_node("b", 200), fake_node("c", 300)],
            spares=[fake_node("d", 400)], join=lambda *of: self.joined.append(of))

    def said(self, call, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            call(*arguments)
        return output.getvalue()

    def test_says_what_to_type_next(self):
        options = types.SimpleNamespace(binaries=".build/release")
        said = self.said(self.module.describe, self.cluster, self.cluster.nodes[1], options)
        for line in ("FEEDCTL_TARGET=127.0.0.1:100,127.0.0.1:200,127.0.0.1:300\n", "feedctl cluster status\n",
                     "feedctl cluster transfer ", "kill -9 200 201 ", "feedctl cluster verify ",
                     "feedctl cluster add d https://127.0.0.1:403 ", f"echo TOKEN >{self.cluster.directory}/join "):
            self.assertIn(line, said)
        self.cluster.spares = []
        self.assertNotIn("add", self.said(self.module.describe, self.cluster, self.cluster.nodes[1], options))

    def test_starts_again_what_has_ended_but_not_a_replica_that_must_not_vote(self):
        a, b, c = self.cluster.nodes
        a.service.code, b.replica.code, c.replica.code = 75, 65, 74
        due = {}
        self.assertIn("feed-service a ended with 75", self.said(self.module.revive, self.cluster, due))
        # The unit waits for a second before it starts the third.
        self.assertEqual([a.service.starts, b.replica.starts, c.replica.starts], [1, 0, 0])
        due[c.replica] = 0
        self.said(self.module.revive, self.cluster, due)
        self.assertEqual([a.service.starts, b.replica.starts, c.replica.starts], [1, 0, 1])
        self.assertEqual(due, {})

    def put(self, token):
        with open(self.cluster.directory + "/join", "w") as file:
            file.write(token + "\n")

    def test_makes_a_node_of_a_token_once(self):
        self.module.join(self.cluster)
        self.assertEqual(self.joined, [])
        spare = self.cluster.spares[0]
        self.put("")
        self.module.join(self.cluster)
        self.assertEqual(self.joined, [])
        self.put("the token")
        self.assertIn("d joins: 127.0.0.1:400", self.said(self.module.join, self.cluster))
        self.assertEqual((self.joined, self.cluster.spares), ([(spare, "the token")], []))
        self.assertEqual((self.cluster.nodes[3], [each.starts for each in spare.programs]), (spare, [1, 1]))
        self.put("the token")
        self.module.join(self.cluster)
        self.assertEqual(len(self.joined), 1)

    def test_a_token_that_is_refused_leaves_the_node_for_another_one(self):
        def refuse(node, token):
            raise self.module.Failure("join: no token")

        self.cluster.join = refuse
        self.put("x")
        self.assertIn("d does not join: join: no token", self.said(self.module.join, self.cluster))
        self.assertFalse(os.path.exists(self.cluster.directory + "/join"))
        self.assertEqual(([node.name for node in self.cluster.nodes], len(self.cluster.spares)), (["a", "b", "c"], 1))


if __name__ == "__main__":
    unittest.main()
