"""A part that fails says its cause and leaves the others alone, and no server outlives the comparison."""

import contextlib
import importlib.util
import io
import os
import select
import subprocess
import sys
import types
import unittest
from unittest import mock

from support import ROOT

import report

FINE = report.Part("fine", lambda *_: {"a": [{"cost": 1}]}, lambda *_: "Fine",
                   [("Key", lambda row: row.key), report.COST, report.column("Other", "other", "{:.1f}")],
                   lambda *_: [])


def main_module():
    spec = importlib.util.spec_from_file_location("compare_main", ROOT / "scripts/compare/__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PartTests(unittest.TestCase):
    def measured(self, error):
        """What is measured where the first of two parts fails so, and what is said of it."""
        broken = report.Part("broken", mock.Mock(side_effect=error), None, [], None)
        main, said = main_module(), io.StringIO()
        main.TABLES = {"broken": broken, "fine": FINE}
        options = types.SimpleNamespace(parts=["broken", "fine"])
        with contextlib.redirect_stderr(said):
            return list(main.measure(options, print)), said.getvalue()

    def test_a_failure_is_said_with_its_cause_and_the_next_part_is_measured(self):
        for error, words in ((RuntimeError("no disk"), "compare: broken: no disk\n"), (TypeError("a None"), "a None"),
                             (subprocess.TimeoutExpired(["pump"], 600), "timed out after 600 seconds")):
            with self.subTest(error=error):
                (broken, fine), said = self.measured(error)
                self.assertEqual(broken, ("broken", None, None))
                self.assertEqual(fine[1].rows, [["a", "1.000", "not measured"]])
                self.assertIn(words, said)

    def test_servers_end_with_the_comparison_whatever_ends_that(self):
        code = ("import os, servers\n"
                "command = ['sh', '-c', 'echo listening on 127.0.0.1:1; exec sleep 600']\n"
                "print(servers.Compared(command, is_pinned=False).pid, flush=True)\n"
                "os.kill(os.getpid(), 9)\n")
        ended = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=600,
                               env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(ended.returncode, -9, ended.stderr)
        with contextlib.suppress(ProcessLookupError):  # it has ended before
            descriptor = os.pidfd_open(int(ended.stdout))
            self.addCleanup(os.close, descriptor)
            self.assertTrue(select.select([descriptor], [], [], 60)[0])


if __name__ == "__main__":
    unittest.main()
