"""A client of the feed service: one call after another over one connection.

Run it with ./run.sh HOST PORT, which makes feed_pb2 from proto/feed.proto first. Where the service has
service keys, name the file of one, too: ./run.sh HOST PORT KEY_FILE. Where it has TLS, say --tls, and --ca
with the certificates of its authority if the system does not know it.
"""

import argparse
import functools
import os
import socket
import ssl
import struct
import sys

try:
    import feed_pb2 as feed
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}. Run ./run.sh; on Debian: apt install protobuf-compiler python3-protobuf")


# Ids with the top bit set are users of this program's own, without an account in the service.
OWN_USERS = 1 << 63


class FeedError(Exception):
    """A call that the service refused, or an answer that is not what it should be."""

    def __init__(self, message, reason=""):
        super().__init__(message)
        self.reason = reason


class FeedConnection:
    """Frames over TCP or TLS: four bytes of big-endian length, then a message."""

    def __init__(self, host, port, tls=None):
        # A sign-in stands back behind other work of the service's machine.
        self._socket = socket.create_connection((host, port), timeout=60)
        if tls:
            self._socket = tls.wrap_socket(self._socket, server_hostname=host)
        self._bytes = self._socket.makefile("rb")
        self._last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._bytes.close()
        self._socket.close()

    def call(self, **request):
        """Sends one request, as call(get_post=...), and returns the answer's ServerFrame.

        A change that may have to be sent again has a sequence=... beside it. A call of a service for
        a user has acting_user_id=... beside it.
        """
        self.send(**request)
        while True:
            answer = self._receive()
            # What has id 0 is about the connection: a refusal, or that it will close.
            if answer.id not in (self._last_id, 0):
                continue
            if answer.HasField("status"):
                code = feed.Code.Name(answer.status.code)
                reason = answer.status.reason
                raise FeedError(f"{code} / {reason}: {answer.status.message}", reason)
            if answer.id == self._last_id:
                return answer

    @property
    def last_id(self):
        """The id of the last request."""
        return self._last_id

    def events(self, watch):
        """The events of a watch, until it is cancelled."""
        while True:
            frame = self._receive()
            if frame.id == watch and frame.more:
                yield frame.watch_posts
            elif frame.id == watch and frame.status.code == feed.CANCELLED:
                return
            elif frame.id in (watch, 0):
                raise FeedError(f"The watch ended: {frame}")

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


def secured(authority):
    """The TLS of a connection: 1.3, the protocol of feeds, and a check of the service's certificate."""
    tls = ssl.create_default_context(cafile=authority)
    tls.minimum_version = ssl.TLSVersion.TLSv1_3
    tls.set_alpn_protocols(["feed/1"])
    return tls


def expect(condition, what):
    if not condition:
        raise FeedError(what)


def read_key(path):
    """The key in a file of `feed-service new-service-key`: 64 hexadecimal digits."""
    with open(path, encoding="ascii") as file:
        return bytes.fromhex(file.read().strip())


def tour(connection, key):
    """Creates a post, votes on it, finds it in a page, and deletes it."""
    introduction = feed.HelloRequest(protocol_version=1, client_name="python", service_key=key)
    hello = connection.call(hello=introduction).hello
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
    # In a list with a filter, or without what the caller has dismissed, first_rank says no post's rank
    # but the first one's.
    get_rank = feed.GetPostRankRequest(id=created.id, order=feed.TOP)
    place = connection.call(get_post_rank=get_rank).post_rank
    print(f"It has rank {place.rank} of {place.total_size} in TOP order.")

    deleted = connection.call(delete_post=feed.DeletePostRequest(id=created.id))
    expect(deleted.HasField("empty"), f"DeletePost was answered with {deleted}.")
    print(f"Deleted post {created.id}.")


def watch_posts(connect, key):
    """Follows two posts by events, without asking again, and votes on another connection meanwhile."""
    with connect() as connection, connect() as other:
        # Only a service may delete posts that it has not written.
        other.call(hello=feed.HelloRequest(protocol_version=1, service_key=key))
        new = feed.CreatePostRequest(post=feed.Post(title="Watched"))
        ids = [other.call(create_post=new).post.id for _ in range(2)]
        posts = {}
        connection.send(watch_posts=feed.WatchPostsRequest(post_ids=ids, min_interval_ms=50))
        watch = connection.last_id
        for event in connection.events(watch):
            if event.reset:
                posts = {}
            for post in event.changed:
                # A post without a feed has only numbers that changed; the rest is as it was.
                known = posts.setdefault(post.id, post)
                known.score, known.revision = post.score, post.revision
            for gone in event.removed_ids:
                posts.pop(gone, None)
            if event.reset:
                expect(set(posts) == set(ids), f"The first event has {posts}.")
                vote = feed.CastVoteRequest(post_id=ids[0], direction=feed.UP)
                other.call(cast_vote=vote)
                other.call(delete_post=feed.DeletePostRequest(id=ids[1]))
            elif list(posts) == ids[:1] and posts[ids[0]].score == 1:
                connection.send(cancel=feed.CancelRequest(id=watch))
        expect(posts[ids[0]].title == "Watched", f"The posts are {posts}.")
        print(f"Watched posts until one had {posts[ids[0]].score} vote and the other was deleted.")
        other.call(delete_post=feed.DeletePostRequest(id=ids[0]))


def vote_for_users(connection):
    """Votes and marks for users of this program's own, as a service on a connection with its key."""
    ballots = feed.Feed(name="python-ballots", vote_mode=feed.BALLOT, voters=feed.USERS)
    try:
        connection.call(create_feed=feed.CreateFeedRequest(feed=ballots))
    except FeedError as error:
        if error.reason != "FEED_EXISTS":
            raise
    ada, bob = OWN_USERS | 7, OWN_USERS | 8
    post = feed.Post(title="A ballot each", author=feed.User(display_name="Ada"))
    new = feed.CreatePostRequest(feed=ballots.name, post=post)
    post = connection.call(create_post=new, acting_user_id=ada).post
    expect(post.author.id == ada, f"The author is {post.author}.")

    def vote(user, direction):
        cast = feed.CastVoteRequest(post_id=post.id, direction=direction)
        return connection.call(cast_vote=cast, acting_user_id=user).cast_vote.score

    # A ballot stands until its user changes it, however often it is cast.
    scores = [vote(ada, feed.UP), vote(ada, feed.UP), vote(bob, feed.UP), vote(bob, feed.DOWN)]
    expect(scores == [1, 1, 2, 0], f"The scores are {scores}.")
    print(f"Voted for two users; the score is {scores[-1]}.")

    mark = feed.MarkPostsRequest(feed=ballots.name, mark=feed.READ, post_ids=[post.id])
    connection.call(mark_posts=mark, acting_user_id=ada)
    seen = {}
    for user in (ada, bob):
        get = feed.GetPostRequest(id=post.id)
        seen[user] = connection.call(get_post=get, acting_user_id=user).post.viewer
    expect(seen[ada].read and seen[ada].vote == feed.UP, f"Ada has {seen[ada]}.")
    expect(not seen[bob].read and seen[bob].vote == feed.DOWN, f"Bob has {seen[bob]}.")
    # The service may delete each post: the program itself decides which user may.
    connection.call(delete_post=feed.DeletePostRequest(id=post.id))


def vote_once(connect, key):
    """Loses the answer to a vote, sends the vote again, and sees that it counts once."""
    # A client makes its id once and keeps it; each of its connections has a channel.
    client_id = os.urandom(16)
    hello = feed.HelloRequest(protocol_version=1, client_id=client_id, channel=0, service_key=key)
    with connect() as connection:
        first = connection.call(hello=hello).hello
        expect(feed.EXACTLY_ONCE in first.capabilities, "The service has no sequences.")
        new = feed.CreatePostRequest(post=feed.Post(title="Counted once"))
        post = connection.call(create_post=new, sequence=1).post
        vote = feed.CastVoteRequest(post_id=post.id, direction=feed.UP)
        connection.send(cast_vote=vote, sequence=2)
    # The connection is gone: did the vote arrive? Whoever asks again with the sequence need not know.
    with connect() as connection:
        again = connection.call(hello=hello).hello
        expect(again.client_known, "The service has forgotten the channel.")
        expect(again.instance_id == first.instance_id, "The service's state is another.")
        voted = connection.call(cast_vote=vote, sequence=2).cast_vote
        expect(voted.score == 1, f"The vote was answered with {voted}.")
        print(f"Voted with a sequence, twice; the score is {voted.score}.")
        connection.call(delete_post=feed.DeletePostRequest(id=post.id), sequence=3)


def become_user(connection, email, password, token=b""):
    """Shows the token of a session, or signs in where there is none or its session has ended.

    Returns the token, which the program keeps for its next connection. Any call of a user may be
    refused with SESSION_EXPIRED; the program then drops the token and comes here again.
    """
    if token:
        hello = feed.HelloRequest(protocol_version=1, session_token=token)
        try:
            connection.call(hello=hello)
            return token
        except FeedError as error:
            if error.reason != "SESSION_EXPIRED":
                raise
    sign_in = feed.SignInRequest(email=email, password=password, create_if_missing=True)
    return connection.call(sign_in=sign_in).session.token


def sign_in_again(connect):
    """Shows a session on another connection, and signs in again once it has ended."""
    # Only a program that asks its user for the password can do so.
    email, password = f"{os.urandom(4).hex()}@example.org", os.urandom(8).hex()
    with connect() as first, connect() as second:
        token = become_user(first, email, password)
        expect(become_user(second, email, password, token) == token, "The session is not known.")
        first.call(sign_out=feed.SignOutRequest(everywhere=True))
        try:
            second.call(get_session=feed.GetSessionRequest())
            raise FeedError("A session that was ended goes on.")
        except FeedError as error:
            expect(error.reason == "SESSION_EXPIRED", f"{error}")
        other = become_user(second, email, password, token)
        expect(other != token, "The session that was ended is shown again.")
        print("Signed in again after the session had ended.")
        second.call(sign_out=feed.SignOutRequest())


def main():
    parser = argparse.ArgumentParser(prog="run.sh")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("key_file", nargs="?", help="the key of a service")
    parser.add_argument("--tls", action="store_true", help="secure the connections")
    parser.add_argument("--ca", help="with --tls: the certificates that vouch for the service's")
    options = parser.parse_args()
    try:
        key = read_key(options.key_file) if options.key_file else b""
        tls = secured(options.ca) if options.tls else None
        connect = functools.partial(FeedConnection, options.host, options.port, tls)
        with connect() as connection:
            tour(connection, key)
            vote_for_users(connection)
        watch_posts(connect, key)
        vote_once(connect, key)
        sign_in_again(connect)
    except (FeedError, OSError, ValueError) as error:
        sys.exit(f"Failed: {error}")


if __name__ == "__main__":
    main()
