"""The results so far: a line of JSON a piece, so that runs add up, and a torn line costs one piece."""

import json
import os
import time


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
        whole = b"".join(json.dumps(one).encode() + b"\n" for one in [*self.pieces, piece])
        if os.path.exists(self.path) and not self._ends_whole():
            with open(self.path, "wb") as file:
                file.write(whole)
        else:
            with open(self.path, "ab") as file:
                file.write(json.dumps(piece).encode() + b"\n")
        self.pieces.append(piece)

    def _ends_whole(self):
        with open(self.path, "rb") as file:
            return file.read()[-1:] in (b"", b"\n")

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


class Deadline:
    """When --minutes are over, after one piece of this run at least; without them never."""

    def __init__(self, minutes, tally):
        self.tally = tally
        self.earlier = len(tally.pieces)
        self.end = None if minutes is None else time.monotonic() + 60 * minutes

    @property
    def passed(self):
        return (self.end is not None and len(self.tally.pieces) > self.earlier
                and time.monotonic() >= self.end)
