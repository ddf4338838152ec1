"""A client of the feed service: one call after another over one connection.

Run it with ./run.sh HOST PORT, which makes feed_pb2 from proto/feed.proto first.
"""

import os
import socket
import struct
import sys

import feed_pb2 as feed


class FeedError(Exception):
    """A call that the service refused, or an answer that is not what it should be."""


class FeedConnection:
    """Frames over TCP: four bytes of big-endian length, then a message."""

    def __init__(self, host, port):
        self._socket = socket.create_connection((host, port), timeout=10)
        self._bytes = self._socket.makefile("rb")
        self._last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._bytes.close()
        self._socket.close()

    def call(self, **request):
        """Sends one request, as call(get_post=...), and returns the answer's ServerFrame.

        A change that may have to be sent again has a sequence=... beside it.
        """
        self.send(**request)
        while True:
            answer = self._receive()
            # What has id 0 is about the connection: a refusal, or that it will close.
            if answer.id not in (self._last_id, 0):
                continue
            if answer.HasField("status"):
                code = feed.Code.Name(answer.status.code)
                raise FeedError(f"{code} / {answer.status.reason}: {answer.status.message}")
            if answer.id == self._last_id:
                return answer

    def send(self, **request):
        """Sends one request and does not wait for its answer."""
        self._last_id += 1
        body = feed.ClientFrame(id=self._last_id, **request).SerializeToString()
        self._socket.sendall(struct.pack(">I", len(body)) + body)

    def _receive(self):
        (length,) = struct.unpack(">I", self._read(4))
        return feed.ServerFrame.FromString(self._read(length))

    def _read(self, count):
        data = self._bytes.read(count)
        if len(data) < count:
            raise FeedError("The service closed the connection.")
        return data


def expect(condition, what):
    if not condition:
        raise FeedError(what)


def tour(connection):
    """Creates a post, votes on it, finds it in a page, and deletes it."""
    hello = connection.call(hello=feed.HelloRequest(protocol_version=1, client_name="python")).hello
    print(f"Connected to {hello.server_name}, protocol {hello.protocol_version}.")

    title = "Hello from Python: é 🍎"
    post = feed.Post(title=title, author=feed.User(display_name="Ada"))
    created = connection.call(create_post=feed.CreatePostRequest(feed="posts", post=post)).post
    expect(created.id > 0 and created.title == title, f"CreatePost was answered with {created}.")
    print(f"Created post {created.id}: {created.title}")

    for score in (1, 2, 3):
        vote = feed.CastVoteRequest(post_id=created.id, direction=feed.UP)
        voted = connection.call(cast_vote=vote).cast_vote
        expect(voted.score == score, f"CastVote was answered with {voted}.")
        print(f"Voted; the score is {voted.score}.")

    list_posts = feed.ListPostsRequest(feed="posts", order=feed.TOP, around_post_id=created.id)
    page = connection.call(list_posts=list_posts).list_posts
    scores = {post.id: post.score for post in page.posts}
    expect(scores.get(created.id) == 3, f"ListPosts was answered with {scores}.")
    rank = page.first_rank + list(scores).index(created.id)
    print(f"It has rank {rank} of {page.total_size} in TOP order.")

    deleted = connection.call(delete_post=feed.DeletePostRequest(id=created.id))
    expect(deleted.HasField("empty"), f"DeletePost was answered with {deleted}.")
    print(f"Deleted post {created.id}.")


def vote_once(host, port):
    """Loses the answer to a vote, sends the vote again, and sees that it counts once."""
    # A client makes its id once and keeps it; each of its connections has a channel.
    hello = feed.HelloRequest(protocol_version=1, client_id=os.urandom(16), channel=0)
    with FeedConnection(host, port) as connection:
        first = connection.call(hello=hello).hello
        expect(feed.EXACTLY_ONCE in first.capabilities, "The service has no sequences.")
        new = feed.CreatePostRequest(post=feed.Post(title="Counted once"))
        post = connection.call(create_post=new, sequence=1).post
        vote = feed.CastVoteRequest(post_id=post.id, direction=feed.UP)
        connection.send(cast_vote=vote, sequence=2)
    # The connection is gone: did the vote arrive? Whoever asks again with the sequence need not know.
    with FeedConnection(host, port) as connection:
        again = connection.call(hello=hello).hello
        expect(again.client_known, "The service has forgotten the channel.")
        expect(again.instance_id == first.instance_id, "The service's state is another.")
        voted = connection.call(cast_vote=vote, sequence=2).cast_vote
        expect(voted.score == 1, f"The vote was answered with {voted}.")
        print(f"Voted with a sequence, twice; the score is {voted.score}.")
        connection.call(delete_post=feed.DeletePostRequest(id=post.id), sequence=3)


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        sys.exit("Usage: run.sh HOST PORT")
    try:
        with FeedConnection(sys.argv[1], int(sys.argv[2])) as connection:
            tour(connection)
        vote_once(sys.argv[1], int(sys.argv[2]))
    except (FeedError, OSError) as error:
        sys.exit(f"Failed: {error}")


if __name__ == "__main__":
    main()
