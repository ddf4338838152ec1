"""Builds of the package, in release, as the README builds: after scripts/quickstart.sh there is little left."""

import subprocess
import sys

BUILD = ["swift", "build", "-c", "release"]
TESTS = ["--build-tests", "--explicit-target-dependency-import-check", "error", "-Xswiftc", "-warnings-as-errors"]


def products(*names):
    """The folder of some programs, which are there then."""
    for name in names:
        subprocess.run([*BUILD, "--product", name], stdout=sys.stderr, check=True)
    return subprocess.run([*BUILD, "--show-bin-path"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def tests():
    subprocess.run([*BUILD, *TESTS], stdout=sys.stderr, check=True)
