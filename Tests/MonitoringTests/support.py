"""A service with an operator's address and a load, for the tests of what operators see."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILT = os.path.join(ROOT, ".build", "release")
PATIENCE_SECONDS = 600  # after which something has hung


def names_of(text):
    """The metrics that a page in the text form of OpenMetrics declares."""
    return set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))


def samples_of(text):
    """The names that the values of the declared metrics have, also of those without a value yet."""
    endings = {"counter": ["_total"], "gauge": [""], "info": ["_info"],
               "histogram": ["_bucket", "_count", "_sum"], "summary": ["", "_count", "_sum"]}
    return {name + ending for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
            for ending in endings[kind]}


class Service:
    """A service in a process of its own, with a data directory that ends with it."""

    def __init__(self, *flags):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [os.path.join(BUILT, "feed-service"), "--listen", "127.0.0.1:0", "--admin",
             "127.0.0.1:0", "--data-dir", os.path.join(self.folder.name, "data"), *flags],
            stderr=subprocess.PIPE, text=True)
        self.address = self.page = None
        said = ""
        for line in self.process.stderr:
            said += line
            found = re.search(r"listening on (\S+):", line)
            self.address = found.group(1) if found else self.address
            found = re.search(r"operator's address is (http://\S+)/", line)
            if found:
                self.page = found.group(1)
                return
        raise AssertionError("The service did not start:\n" + said)

    def get(self, path, accept="application/openmetrics-text, */*"):
        request = urllib.request.Request(self.page + path, headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return answer.read().decode()

    def load(self, seconds, *flags):
        """A load of votes beside the test, which prints a line each second; to be waited for."""
        return subprocess.Popen(
            [os.path.join(BUILT, "loadgen"), "--target", self.address, "--clients", "50",
             "--posts", "1000", "--duration", f"{seconds}s", "--warmup", "0s", "--mix",
             "vote=90,create=1,list=9", "--pipeline", "4", "--rate", "4000", "--progress", "1s", *flags],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE_SECONDS)
        self.process.stderr.close()
        self.folder.cleanup()
        return self.process.returncode


class ServiceCase(unittest.TestCase):
    """Tests of one service."""

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.path.join(BUILT, "feed-service")):
            raise unittest.SkipTest("there is no .build/release/feed-service; build it first")
        cls.service = Service()

    @classmethod
    def tearDownClass(cls):
        assert cls.service.stop() == 0

    def program(self, name):
        """A program of Debian's; the test is skipped where it is not installed."""
        path = shutil.which(name)
        if path is None:
            package = {"promtool": "prometheus"}.get(name, name)
            self.skipTest(f"{name} is not installed (Debian: apt-get install {package})")
        return path
