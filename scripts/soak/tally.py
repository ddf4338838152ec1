"""The results so far: a line of JSON a piece, so that runs add up, and a torn line costs one piece."""

import json
import os
import shutil
import time

from flags import amount, count, share  # noqa: F401 - for the flags of soaks
from service import FAILURES


class Tally:
    """The pieces of one kind of soak, in a file; `what` names it and them."""

    def __init__(self, directory, what):
        os.makedirs(directory, exist_ok=True)
        self.path = os.path.join(directory, what + ".jsonl")
        self.what = what
        self.pieces = list(self._read())

    def _read(self):
        if not os.path.exists(self.path):
            return
        with open(self.path) as file:
            for line in file:
                if not line.endswith("\n"):
                    break  # a piece that was being written when the run ended
                yield json.loads(line)

    def add(self, piece):
        self.pieces.append(piece)
        with open(self.path + ".new", "w") as file:
            file.writelines(json.dumps(one) + "\n" for one in self.pieces)
        os.replace(self.path + ".new", self.path)

    def repeat(self, minutes, is_reached, make):
        """Adds pieces that are made until enough is reached, one has failed or the minutes are over; one at least."""
        end = None if minutes is None else time.monotonic() + 60 * minutes
        while not (is_reached() or self.failures):
            started, piece = time.monotonic(), make()
            self.add({**piece, "seconds": round(time.monotonic() - started, 2)})
            if end is not None and time.monotonic() >= end:
                break

    def sum(self, name):
        return sum(piece.get(name, 0) for piece in self.pieces)

    @property
    def failures(self):
        return [failure for piece in self.pieces for failure in piece.get("failures", [])]

    def line(self, counts, reached):
        """The summary: the kind of soak, the counts, the failures and the seconds."""
        numbers = ", ".join(f"{number:,} {name}" for name, number in counts)
        end = "done" if reached else "not all of it yet: run it again to continue"
        return (f"{self.what}: {numbers}, {len(self.failures)} failures, "
                f"{self.sum('seconds'):,.0f} s: {'FAILED' if self.failures else end}")


def run(soak, options, say):
    """Makes the run of a soak, or each of its `pieces`, which are functions by name; adds what these return to
    the tally. The directory of the last piece stays if it failed."""
    kept = Tally(options.output, options.what)
    directory = f"{options.output}/{options.what}-data"
    pieces = soak.pieces(options) if hasattr(soak, "pieces") else {"": soak.live_through}
    for name, live_through in pieces.items():
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        started, piece = time.monotonic(), {"failures": []}
        if name:
            say(f"{name}: load of the machine {os.getloadavg()[0]:.1f}")
        try:
            piece.update(live_through(options, directory, say))
        except FAILURES as failure:
            piece["failures"] = [str(failure)]
        if name:
            for key in sorted(piece.keys() - {"failures"}):
                say(f"{name}: {key} {piece[key]}")
            say(f"{name}: {'FAIL' if piece['failures'] else 'PASS'}")
            piece[soak.PIECE] = name
        for failure in piece["failures"]:
            say(f"{name}: {failure}" if name else failure)
        kept.add({**piece, "seconds": round(time.monotonic() - started, 2)})
    if not kept.pieces[-1]["failures"]:
        shutil.rmtree(directory)
    return kept, [(text, kept.sum(key) if key else len(kept.pieces)) for text, key in soak.COUNTS], True
