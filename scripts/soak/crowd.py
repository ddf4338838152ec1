"""Many connections of hosts that are no friends: what is answered is read and dropped, or not read at all."""

import resource
import select
import socket
import time

READ_BYTES = 1 << 18
# Of those that do not read, so that the kernel takes little for the service.
RECEIVE_BUFFER = 4096
LONGEST_SECONDS = 120
# Answers that stay away for so long will not come.
SILENCE_SECONDS = 1


class Peer:
    """A connection, and what is still to be sent on it."""

    def __init__(self, one):
        self.socket, self.is_open = one, True
        self.rest, self.source, self.is_waiting = b"", None, False  # for room
        self.received = 0  # bytes


class Crowd:
    """Connections of one epoll, as many as there may be open files; those that the service closes are left."""

    def __init__(self, reads=True):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.poller, self.peers, self.reads, self.sent = select.epoll(), {}, reads, 0

    def connect(self, port, host):
        """A connection from a host, or None where the service does not take it."""
        one = socket.socket()
        one.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24), 1)
        if not self.reads:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        one.settimeout(10)
        one.bind((host, 0))
        try:
            one.connect(("127.0.0.1", port))
        except OSError:  # the service defends itself
            one.close()
            return None
        one.setblocking(False)
        peer = self.peers[one.fileno()] = Peer(one)
        self.poller.register(one, select.EPOLLIN if self.reads else 0)
        return peer

    def send(self, peer, data):
        """Sends data, the rest of it once there is room; drops it while the rest of earlier data waits."""
        if peer is not None and peer.is_open and not peer.rest:
            peer.rest = data
            self._send(peer)

    def send_all(self, peer, source):
        """Sends one piece after another of what a generator makes."""
        if peer is not None:
            peer.source = source
            self._send(peer)

    def read(self, seconds):
        """One round: reads what came, and sends what has room now; how many connections had something."""
        ready = self.poller.poll(seconds)
        for descriptor, event in ready:
            peer = self.peers.get(descriptor)
            if peer is None:
                continue
            try:
                if event & select.EPOLLIN:
                    data = peer.socket.recv(READ_BYTES)
                    peer.received += len(data)
                    if not data:
                        self.drop(peer)
                        continue
                if event & select.EPOLLOUT:
                    self._send(peer)
                if event & ~(select.EPOLLIN | select.EPOLLOUT):
                    self.drop(peer)
            except BlockingIOError:
                pass
            except OSError:
                self.drop(peer)
        return len(ready)

    def run(self):
        """Sends all, and reads answers until none come any more."""
        end, heard = time.monotonic() + LONGEST_SECONDS, time.monotonic()
        while self.peers and time.monotonic() < min(end, heard + SILENCE_SECONDS):
            if self.read(0.2):
                heard = time.monotonic()

    def drop(self, peer):
        if peer.is_open:
            peer.is_open = False
            self.poller.unregister(peer.socket)
            del self.peers[peer.socket.fileno()]
            peer.socket.close()

    def close(self):
        for peer in list(self.peers.values()):
            self.drop(peer)

    def _send(self, peer):
        """Sends as much as there is room for, and asks to be told of more room only if something is left."""
        if not peer.rest and peer.source:
            peer.rest = next(peer.source, b"")
            peer.source = peer.source if peer.rest else None
        try:
            count = peer.socket.send(peer.rest) if peer.rest else 0
        except BlockingIOError:
            count = 0
        except OSError:
            self.drop(peer)
            return
        peer.rest = peer.rest[count:]
        self.sent += count
        is_waiting = bool(peer.rest) or peer.source is not None
        if is_waiting != peer.is_waiting:
            peer.is_waiting = is_waiting
            self.poller.modify(peer.socket, (select.EPOLLIN if self.reads else 0)
                               | (select.EPOLLOUT if is_waiting else 0))
