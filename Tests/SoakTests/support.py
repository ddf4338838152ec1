"""What runs the soak on fakes."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
SOAK = HERE.parents[1] / "scripts" / "soak"
PROTO = HERE.parents[1] / "proto"


class SoakTestCase(unittest.TestCase):
    """Has a directory with a fake service and a fake load generator."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.binaries = cls.directory.name
        subprocess.run(["protoc", f"--proto_path={PROTO}", f"--python_out={cls.binaries}",
                        "feed.proto"], check=True)
        for fake, name in (("service", "feed-service"), ("loadgen", "loadgen"), ("swift", "swift")):
            shutil.copy(HERE / f"fake_{fake}.py", pathlib.Path(cls.binaries, name))

    def run_soak(self, *flags, **environment):
        modules = os.pathsep.join([self.binaries, str(SOAK)])
        path = os.pathsep.join([self.binaries, os.environ["PATH"]])
        return subprocess.run(
            [sys.executable, "-B", str(SOAK), *flags, "--binaries", self.binaries],
            env={**os.environ, "PYTHONPATH": modules, "PATH": path, **environment},
            capture_output=True, text=True, timeout=300)
