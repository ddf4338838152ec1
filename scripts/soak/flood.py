"""The streams of frames that attacks send, each on a connection of its own.

A stream is made of the posts and of this connection's share of the new clients.
"""

import functools
import os
import select
import socket
import struct
import time

import feed_pb2 as feed
from wire import framed

ADDRESS = "127.0.0.1"
RECEIVE_BUFFER = 4096
# As many frames are made at once.
CHUNK = 64
# Answers that stay away for so long will not come.
SILENCE_SECONDS = 1
LONGEST_SECONDS = 120
WINDOW = 256  # the calls that a channel remembers
# A frame of a megabyte without its end.
UNFINISHED = memoryview(struct.pack(">I", 1 << 20) + bytes(1_000_000))


def hello(number):
    return framed(number, hello=feed.HelloRequest(protocol_version=1, client_id=os.urandom(16)))


def batch(number, sequence, posts):
    """A numbered batch of which the first vote fails: which were counted is to be remembered."""
    votes = [feed.CastVoteRequest(post_id=post, direction=feed.UP)
             for post in (1 << 40, posts.attacked)]
    return framed(number, sequence=sequence,
                  batch_cast_votes=feed.BatchCastVotesRequest(votes=votes))


@functools.cache  # the same for all connections
def window(posts):
    """As many batches as a channel remembers."""
    return b"".join(batch(sequence + 1, sequence, posts) for sequence in range(1, WINDOW + 1))


def unread(_posts, _share):
    """Asks for much."""
    yield b"".join(framed(number, list_posts=feed.ListPostsRequest(page_size=100, order=feed.NEW))
                   for number in range(1, 4))


def hellos(posts, share):
    """Ever other clients, each with a batch at the end of its window."""
    for first in range(0, share, CHUNK):
        yield b"".join(hello(2 * number + 1) + batch(2 * number + 2, WINDOW, posts)
                       for number in range(first, min(first + CHUNK, share)))


def batches(posts, _share):
    """One client that has as much remembered as it can."""
    yield hello(1)
    yield window(posts)


def devices(posts, share):
    """Ever other clients, each with a ballot."""
    ballot = feed.CastVoteRequest(post_id=posts.ballot, direction=feed.UP)
    for first in range(0, share, CHUNK):
        yield b"".join(hello(2 * number + 1) + framed(2 * number + 2, cast_vote=ballot)
                       for number in range(first, min(first + CHUNK, share)))


def unfinished(_posts, _share):
    """Begins a call that never ends."""
    yield UNFINISHED


class Flood:
    """Connections that each send a stream; closed by `close`."""

    def __init__(self, port, count, reads):
        self.sockets, self.reads, self.sent = [], reads, 0
        for _ in range(count):
            one = socket.socket()
            if not reads:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            one.settimeout(10)
            one.bind((ADDRESS, 0))
            try:
                one.connect(("127.0.0.1", port))
            except OSError:
                pass  # the service defends itself
            one.setblocking(False)
            self.sockets.append(one)

    def run(self, streams):
        """Sends all; reads and drops the answers, if it reads, until none come any more."""
        waiting = {one.fileno(): [one, stream, b""] for one, stream in zip(self.sockets, streams)}
        poller = select.epoll()
        for descriptor in waiting:
            poller.register(descriptor, select.EPOLLOUT | (select.EPOLLIN if self.reads else 0))
        ends, heard = time.monotonic() + LONGEST_SECONDS, time.monotonic()
        while waiting and time.monotonic() < min(ends, heard + SILENCE_SECONDS):
            for descriptor, event in poller.poll(0.2):
                entry = waiting[descriptor]
                try:
                    if event & select.EPOLLIN and not entry[0].recv(1 << 18):
                        raise ConnectionError("closed by the service")
                    if event & select.EPOLLOUT:
                        self._send(poller, entry)
                    if event & ~(select.EPOLLIN | select.EPOLLOUT):
                        raise ConnectionError("closed by the service")
                    heard = time.monotonic()
                except BlockingIOError:
                    continue
                except OSError:  # the service defends itself
                    poller.unregister(descriptor)
                    del waiting[descriptor]
        poller.close()

    def _send(self, poller, entry):
        entry[2] = entry[2] or next(entry[1], b"")
        if not entry[2]:
            poller.modify(entry[0].fileno(), select.EPOLLIN if self.reads else 0)
            return
        count = entry[0].send(entry[2])
        entry[2] = entry[2][count:]
        self.sent += count

    def close(self):
        for one in self.sockets:
            one.close()
