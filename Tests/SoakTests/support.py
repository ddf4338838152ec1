"""What runs the soak on fakes."""

import argparse
import contextlib
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
SOAK = ROOT / "scripts" / "soak"
PATHS = [str(path) for path in (SOAK, ROOT / "scripts" / "common", ROOT / "clients" / "python")]


class SoakTestCase(unittest.TestCase):
    """Has a directory with a fake service and a fake load generator."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.binaries = cls.directory.name
        for fake, name in (("service", "feed-service"), ("loadgen", "loadgen"), ("swift", "swift")):
            shutil.copy(HERE / f"fake_{fake}.py", pathlib.Path(cls.binaries, name))

    def run_soak(self, *flags, **environment):
        modules = os.pathsep.join(PATHS)
        path = os.pathsep.join([self.binaries, os.environ["PATH"]])
        return subprocess.run(
            [sys.executable, "-B", str(SOAK), *flags, "--binaries", self.binaries],
            env={**os.environ, "PYTHONPATH": modules, "PATH": path, **environment},
            capture_output=True, text=True, timeout=1800)


class RecordedTestCase(SoakTestCase):
    """Has a module of the soak in this process, and recordings in place of what it measures: no machine is
    too slow for what is judged here."""

    name = None  # of the module

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(PATHS)))  # of the fakes
        sys.path[:0] = PATHS
        for path in PATHS:
            cls.addClassCleanup(sys.path.remove, path)
        cls.module, cls.beside = importlib.import_module(cls.name), importlib.import_module("beside")

    def fails(self, words):
        return self.assertRaisesRegex(importlib.import_module("process").Failure, words)

    def options(self, *flags):
        parser = argparse.ArgumentParser()
        self.module.add_flags(parser)
        options = parser.parse_args(["--rounds", "1", *flags])
        options.binaries = self.binaries
        return options

    def live_through(self, votes, *flags, **stand_ins):
        """What the module makes of loads whose votes took so many milliseconds each (p99; pages took 1), with
        stand-ins in place of what it has under these names."""
        reports = [{"requests_per_second": 100, "ops": {
            name: {"response_ms": {"p99": taken}} for name, taken in (("vote", p99), ("list", 1))}}
            for p99 in votes]
        with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(self.beside, "load", side_effect=reports))
            for name, stand_in in stand_ins.items():
                stack.enter_context(mock.patch.object(self.module, name, stand_in))
            return self.module.live_through(self.options(*flags), directory, lambda _: None)

    def answered(self, calls, *statuses, seconds=1):
        """Calls that have all been sent, and answered over `seconds` with these statuses."""
        stream = self.beside.Stream.__new__(self.beside.Stream)
        stream.answers = [self.frame(status) for status in statuses]
        calls.streams, calls.sent = [stream], len(statuses)
        calls.seconds, calls.answered_seconds = len(statuses) / calls.rate, seconds
        return calls

    def frame(self, status):
        """An answer with a status, of which {} is none."""
        feed = importlib.import_module("feedclient").feed
        answer = feed.ServerFrame(id=1, status=feed.Status(**status) if status else None)
        return answer.SerializeToString()


class Done:
    """What was beside a load, with its answers as recorded."""

    def __init__(self, **answers):
        self.recorded = answers

    def start(self, port):
        """It has come to its end."""

    await_connected = stop = lambda self: None

    def answers(self):
        return self.recorded
