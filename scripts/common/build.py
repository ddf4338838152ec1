"""Builds of the package, in release, as the README builds: after scripts/quickstart.sh there is little left."""

import os
import subprocess
import sys

BUILD = ["swift", "build", "-c", "release"]
TESTS = ["--build-tests", "--explicit-target-dependency-import-check", "error", "-Xswiftc", "-warnings-as-errors"]


def scratch(environment=os.environ):
    """The flags of a build with another codec or transport of clients, which has a folder of its own."""
    chosen = [environment[name] for name in ("FEED_CODEC", "FEED_TRANSPORT") if environment.get(name)]
    return ["--scratch-path", ".build/" + "-".join(chosen)] if chosen else []


def products(*names, **chosen):
    """The folder of some programs, which are there then; `chosen` is added to the environment."""
    environment = {**os.environ, **chosen}
    command = [*BUILD, *scratch(environment)]
    for name in names:
        subprocess.run([*command, "--product", name], stdout=sys.stderr, check=True, env=environment)
    return subprocess.run([*command, "--show-bin-path"], stdout=subprocess.PIPE, text=True, check=True,
                          env=environment).stdout.strip()


def tests():
    subprocess.run([*BUILD, *scratch(), *TESTS], stdout=sys.stderr, check=True)
