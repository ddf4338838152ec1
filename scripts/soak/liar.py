"""Replicas that do not keep their word, for runs that have to fail: in the way between service and replica.

`early` says COMMITTED before a majority has anything, `skip` leaves each 40th batch out and gives its
index to the next one, and `reads` proves reads without a word of the others, and tells a leader late
that it is deposed.
"""

import contextlib
import os
import socket
import struct
import threading
import time

from nodes import frame, read_frame

PROPOSE, DURABLE, READ = 2, 3, 4
COMMITTED, ROLE, REFUSED, READ_OK, READ_NO = 66, 67, 68, 69, 70
SKIPPED = 40
LATE_SECONDS = 4
LIES = ("early", "skip", "reads")


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
        self.lock = threading.Lock()  # of what is said to the service
        self.proposed = self.skipped = 0
        self.leads = False

    def hear_service(self):
        self._pump(self.service, self.replica, self.of_service)

    def hear_replica(self):
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
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def say(self, kind, body):
        with self.lock:
            self.service.sendall(frame(kind, body))

    def of_service(self, kind, body):
        """What the replica hears of what the service says."""
        numbers = list(struct.unpack_from(f"<{len(body) // 8}Q", body))
        if kind == PROPOSE and self.kind == "early":
            self.say(COMMITTED, body[:16])
        if kind == READ and self.kind == "reads":
            self.say(READ_OK, body)
            return []
        if kind == PROPOSE and self.kind == "skip":
            self.proposed += 1
            if self.proposed % SKIPPED == 0:
                self.skipped += 1
                self.say(COMMITTED, body[:16])
                return []
            return [(kind, struct.pack("<QQ", numbers[0], numbers[1] - self.skipped) + body[16:])]
        if kind == DURABLE and self.skipped:
            return [(kind, struct.pack("<Q", numbers[0] - self.skipped))]
        return [(kind, body)]

    def of_replica(self, kind, body):
        """What the service hears of what the replica says."""
        if self.kind == "early" and kind in (COMMITTED, REFUSED):
            return []
        if self.kind == "skip" and kind in (COMMITTED, REFUSED):
            term, index = struct.unpack_from("<QQ", body)
            return [(kind, struct.pack("<QQ", term, index + self.skipped) + body[16:])]
        if self.kind == "reads" and kind == ROLE:
            is_deposed, self.leads = self.leads, body[:8] != bytes(8)
            time.sleep(LATE_SECONDS if is_deposed else 0)
        return [] if self.kind == "reads" and kind == READ_NO else [(kind, body)]
