"""A soak that is one run."""

import os
import shutil
import subprocess
import time

from service import Failure
from tally import Tally
from wire import Lost, Refused


def run(what, live_through, options, say):
    """Makes the run, adds what `live_through` returns to the tally, and returns that. The directory of a
    failure stays."""
    tally = Tally(options.output, what)
    directory = f"{options.output}/{what}-data"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    started = time.monotonic()
    piece = {"failures": []}
    try:
        piece.update(live_through(options, directory, say))
        shutil.rmtree(directory)
    except (Failure, Lost, Refused, OSError, subprocess.SubprocessError) as failure:
        piece["failures"] = [str(failure)]
        say(str(failure))
    piece["seconds"] = round(time.monotonic() - started, 2)
    tally.add(piece)
    return tally
