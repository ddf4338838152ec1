"""The streams of frames that attacks send, each on a connection of its own.

A stream is made of the posts and of this connection's share of the new clients.
"""

import functools
import os

from crowd import Crowd
from feedclient import feed, framed

ADDRESS = "127.0.0.1"
CHUNK = 64  # as many new clients are made at once
WINDOW = 256  # the calls that a channel remembers
# A frame of a megabyte without its end.
UNFINISHED = memoryview((1 << 20).to_bytes(4, "big") + bytes(1_000_000))


def batch(number, sequence, posts):
    """A numbered batch of which the first vote fails: which were counted is to be remembered."""
    votes = [feed.CastVoteRequest(post_id=post, direction=feed.UP) for post in (1 << 40, posts.attacked)]
    return framed(number, sequence=sequence, batch_cast_votes=feed.BatchCastVotesRequest(votes=votes))


@functools.cache  # the same for all connections
def window(posts):
    """As many batches as a channel remembers."""
    return b"".join(batch(sequence + 1, sequence, posts) for sequence in range(1, WINDOW + 1))


def hello(number):
    return framed(number, hello=feed.HelloRequest(protocol_version=1, client_id=os.urandom(16)))


def newcomers(share, call):
    """Ever other clients, each with a call, which is made of its number."""
    for first in range(0, share, CHUNK):
        yield b"".join(hello(number) + call(number + 1)
                       for number in range(2 * first + 1, 2 * min(first + CHUNK, share) + 1, 2))


def unread(_posts, _share):
    """Asks for much."""
    yield b"".join(framed(number, list_posts=feed.ListPostsRequest(page_size=100, order=feed.NEW))
                   for number in range(1, 4))


def hellos(posts, share):
    """Ever other clients, each with a batch at the end of its window."""
    return newcomers(share, lambda number: batch(number, WINDOW, posts))


def batches(posts, _share):
    """One client that has as much remembered as it can."""
    yield hello(1)
    yield window(posts)


def devices(posts, share):
    """Ever other clients, each with a ballot."""
    ballot = feed.CastVoteRequest(post_id=posts.ballot, direction=feed.UP)
    return newcomers(share, lambda number: framed(number, cast_vote=ballot))


def unfinished(_posts, _share):
    """Begins a call that never ends."""
    yield UNFINISHED


def flooded(port, part, options, posts):
    """The attack of a part, once it has sent all; its connections are open."""
    count = connections(part, options)
    crowd, share = Crowd(part.reads), max(1, options.hellos // count)
    for peer in [crowd.connect(port, ADDRESS) for _ in range(count)]:
        crowd.send_all(peer, part.stream(posts, share))
    crowd.run()
    return crowd


def connections(part, options):
    """How many connections attack."""
    return min(part.connections or options.connections, options.connections)
