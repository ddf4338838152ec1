"""An upgrade of a cluster: who gets other programs when, and what counts as a failure of it."""

import types
import unittest
from unittest import mock

from support import RecordedTestCase

FINE = {"ok": 9, "retries": 3, "error": 0, "lost": 0, "timeout": 0}


class UpgradeTests(RecordedTestCase):
    name = "upgrade"

    def program(self, name, node, code=0, is_running=True):
        program = mock.Mock(is_running=is_running, code=code, command=["nsenter", f"/old/{name}", "run", "--name", node])
        program.name, program.end.return_value = f"{name} {node}", code
        program.tail.return_value = "its log"
        return program

    def node(self, name, **codes):
        replica = self.program("feed-replica", name, codes.get("replica", 0))
        service = self.program("feed-service", name, codes.get("service", 0), codes.get("is_running", True))
        return types.SimpleNamespace(name=name, replica=replica, service=service, programs=[replica, service])

    def test_a_node_is_stopped_and_gets_the_other_programs(self):
        node = self.node("a", service=75)
        self.module.upgrade(node, "/new")
        for program, name in ((node.replica, "feed-replica"), (node.service, "feed-service")):
            self.assertEqual(program.command, ["nsenter", f"/new/{name}", "run", "--name", "a"])
            program.start.assert_called_once()

    def test_fails_where_a_program_ends_otherwise(self):
        for codes, words in (({"service": 1}, "feed-service a ended with 1"), ({"replica": 75}, "feed-replica a ended with 75"),
                             ({"service": 5, "is_running": False}, "feed-service a ended by itself, with 5")):
            with self.fails(words):
                self.module.upgrade(self.node("a", **codes), "/new")

    def test_the_leader_comes_last(self):
        nodes, order = [self.node(name) for name in "abc"], []
        with mock.patch.object(self.module, "await_healed", return_value=nodes[1]), mock.patch.object(
                self.module, "upgrade", side_effect=lambda node, folder: order.append(node.name)):
            self.module.upgrade_all(types.SimpleNamespace(nodes=nodes), types.SimpleNamespace(seconds=0, new="/new"))
        self.assertEqual(order, ["a", "c", "b"])

    def report(self, server=(), **outcomes):
        errors = {"server": dict.fromkeys(server, 1), "causes": {"EOF": 2}, "total": 0}
        return self.module.check_report("votes", {"outcomes": {**FINE, **outcomes}, "errors": errors})

    def test_requests_may_be_sent_again_for_a_change_of_the_leader_alone(self):
        self.assertEqual(self.report(["UNAVAILABLE/NOT_LEADER"]), 3)
        for failed in ("error", "lost", "timeout"):
            with self.fails(f"votes: {{'{failed}': 1}} requests failed"):
                self.report(**{failed: 1})
        with self.fails("no requests failed, with .'UNAVAILABLE/OVERLOADED'."):
            self.report(["UNAVAILABLE/NOT_LEADER", "UNAVAILABLE/OVERLOADED"])


if __name__ == "__main__":
    unittest.main()
