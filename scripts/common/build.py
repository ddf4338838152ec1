"""Builds of the package, in release, as the README builds: after scripts/quickstart.sh there is little left."""

import os
import subprocess
import sys

BUILD = ["swift", "build", "-c", "release"]
TESTS = ["--build-tests", "--explicit-target-dependency-import-check", "error", "-Xswiftc", "-warnings-as-errors"]


def scratch():
    """The flags of a build with another codec or transport of clients, which has a folder of its own."""
    chosen = [os.environ[name] for name in ("FEED_CODEC", "FEED_TRANSPORT") if os.environ.get(name)]
    return ["--scratch-path", ".build/" + "-".join(chosen)] if chosen else []


def products(*names):
    """The folder of some programs, which are there then."""
    for name in names:
        subprocess.run([*BUILD, *scratch(), "--product", name], stdout=sys.stderr, check=True)
    return subprocess.run([*BUILD, *scratch(), "--show-bin-path"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def tests():
    subprocess.run([*BUILD, *scratch(), *TESTS], stdout=sys.stderr, check=True)
