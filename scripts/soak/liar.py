"""What does not keep a rule, for runs that have to fail: most are in the way between service and replica.

`early` says COMMITTED before a majority has anything. `skip` leaves each 40th batch out and gives its index to the
next one, as if there was no fence of indexes. `role` says that a node leads before the last entries have come, and
they never do. `deposed` does not tell a leader that it is none any more, and commits and proves what it asks for.
`reads` proves reads without a word of the others, and tells a leader late that it is deposed. `revision` has the
witnesses take each answer for one of a later revision, as if that was shown before the whole record. `mark` is a
replica that opens a log which has lost its end.
"""

import collections
import contextlib
import os
import socket
import struct
import threading
import time

from nodes import frame, read_frame

PROPOSE, DURABLE, READ = 2, 3, 4
ENTRY, COMMITTED, ROLE, REFUSED, READ_OK, READ_NO, HEARD = 65, 66, 67, 68, 69, 70, 71
SKIPPED = 40
LATE_SECONDS = 4
ENTRY_SECONDS = 0.1  # by which entries are late for followers, and lost for one that begins to lead
# Each with the faults that it shows with, by what is in their names; "" for any.
LIES = {"early": "", "skip": "", "role": "kill the leader's node", "deposed": "the leader is alone",
        "reads": "while nobody changes", "revision": "a follower", "mark": "zero a sector"}
# Those that are rules of the replica, which are switched off in a program with faults.
RULES = {"mark": "NoMark"}
# Those that a client makes.
OF_CLIENTS = {"revision"}


class Liar:
    """Listens for the service on one path, and speaks to the replica on another one."""

    def __init__(self, kind, path, replica):
        self.kind, self.replica = kind, replica
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            service, _ = self.listener.accept()
            replica = socket.socket(socket.AF_UNIX)
            try:
                replica.connect(self.replica)
            except OSError:
                service.close()
                continue
            session = Session(self.kind, service, replica)
            for pump in (session.hear_service, session.hear_replica):
                threading.Thread(target=pump, daemon=True).start()


class Session:
    """One connection of a service, with a lie in it."""

    def __init__(self, kind, service, replica):
        self.kind, self.service, self.replica = kind, service, replica
        self.lock = threading.RLock()  # of what is said to the service
        self.count = self.skipped = 0
        self.proposed = b""  # term and index of the last proposal
        self.leads = self.is_deposed = self.has_ended = False
        self.late = collections.deque()  # words, and when each is said

    def hear_service(self):
        self._pump(self.service, self.replica, self.of_service)

    def hear_replica(self):
        if self.kind == "role":
            threading.Thread(target=self._say_late, daemon=True).start()
        self._pump(self.replica, self.service, self.of_replica)

    def _pump(self, source, sink, change):
        stream = source.makefile("rb")
        with contextlib.suppress(OSError):
            while found := read_frame(stream):
                for kind, body in change(*found):
                    if sink is self.service:
                        self.say(kind, body)
                    else:
                        sink.sendall(frame(kind, body))
        self.has_ended = True
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def say(self, kind, body):
        with self.lock:
            self.service.sendall(frame(kind, body))

    def _say_late(self):
        with contextlib.suppress(OSError):
            while not self.has_ended:
                with self.lock:
                    while self.late and self.late[0][0] <= time.monotonic():
                        self.say(*self.late.popleft()[1:])
                time.sleep(ENTRY_SECONDS / 10)

    def of_service(self, kind, body):
        """What the replica hears of what the service says."""
        numbers = list(struct.unpack_from(f"<{len(body) // 8}Q", body))
        if kind == READ and (self.kind == "reads" or self.is_deposed):
            self.say(READ_OK, body)
            return []
        if kind == DURABLE and self.skipped:
            return [(kind, struct.pack("<Q", numbers[0] - self.skipped))]
        if kind != PROPOSE:
            return [(kind, body)]
        self.proposed = body[:16]
        self.count += 1
        is_skipped = self.kind == "skip" and self.count % SKIPPED == 0
        self.skipped += is_skipped
        if self.kind == "early" or is_skipped or self.is_deposed:
            self.say(COMMITTED, self.proposed)
        if is_skipped or self.is_deposed:
            return []
        return [(kind, struct.pack("<QQ", numbers[0], numbers[1] - self.skipped) + body[16:])]

    def of_replica(self, kind, body):
        """What the service hears of what the replica says."""
        if kind == ROLE:
            was_leading, self.leads = self.leads, body[:8] != bytes(8)
            return self.of_role(was_leading, body)
        if self.kind == "early" and kind in (COMMITTED, REFUSED):
            return []
        if self.kind in ("reads", "deposed") and kind == READ_NO:
            return [(READ_OK, body)] if self.kind == "deposed" else []
        if self.is_deposed and kind in (ENTRY, COMMITTED, REFUSED, HEARD):
            return []
        if kind in (COMMITTED, REFUSED) and self.skipped:
            term, index = struct.unpack_from("<QQ", body)
            return [(kind, struct.pack("<QQ", term, index + self.skipped) + body[16:])]
        if self.kind == "role" and not self.leads:
            self.late.append((time.monotonic() + ENTRY_SECONDS, kind, body))
            return []
        return [(kind, body)]

    def of_role(self, was_leading, body):
        if self.kind == "reads" and was_leading:
            time.sleep(LATE_SECONDS)
        if self.kind == "deposed" and (was_leading or self.is_deposed):
            self.is_deposed = True
            return [(COMMITTED, self.proposed)] if was_leading and self.proposed else []
        if self.kind == "role":
            with self.lock:
                words = [word for _, *word in self.late]
                self.late.clear()
                if self.leads:
                    self.skipped = -sum(kind == ENTRY for kind, _ in words)
                    words = [word for word in words if word[0] != ENTRY]
                    leads, term, leader, index = struct.unpack("<4Q", body)
                    body = struct.pack("<4Q", leads, term, leader, index + self.skipped)
            return [*words, (ROLE, body)]
        return [(ROLE, body)]
