"""scripts/compare.sh reads its flags before it builds anything."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "compare.sh"


def run(*flags):
    """The script, on a machine whose compiler and packages are out of reach."""
    with tempfile.TemporaryDirectory() as directory:
        for name, status in (("swift", 70), ("dpkg-query", 0)):
            path = os.path.join(directory, name)
            with open(path, "w") as file:
                # The requested packages are installed, and each build fails.
                file.write(f"#!/bin/sh\necho installed\nexit {status}\n")
            os.chmod(path, 0o755)
        return subprocess.run(
            [SCRIPT, *flags], capture_output=True, text=True, timeout=600,
            env={**os.environ, "PATH": directory + ":" + os.environ["PATH"]})


class FlagTests(unittest.TestCase):
    def test_help_needs_no_build(self):
        finished = run("--help")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertTrue(finished.stdout.startswith("usage: scripts/compare.sh"))
        self.assertIn("--update-readme", finished.stdout)

    def test_a_wrong_flag_is_named_before_the_build(self):
        wrong = {"--parts": "nonsense", "--rounds": "0", "--seconds": "0", "--warmup": "-1",
                 "--in-flight": "0", "--posts": "many", "--durable-seconds": "0",
                 "--durable-rounds": "0", "--colour": "red"}
        for flag, value in wrong.items():
            with self.subTest(flag=flag):
                finished = run(flag, value)
                self.assertEqual(finished.returncode, 2, finished.stderr)
                self.assertIn(flag, finished.stderr)

    def test_right_flags_go_on_to_the_build(self):
        self.assertEqual(run("--quick", "--parts", "votes").returncode, 70)

    def test_programs_that_are_given_are_not_built(self):
        with tempfile.TemporaryDirectory() as directory:
            finished = run("--quick", "--parts", "votes", "--binaries", directory)
            self.assertIn(directory + "/feed-service", finished.stderr)


if __name__ == "__main__":
    unittest.main()
