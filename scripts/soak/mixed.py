"""A client that creates, edits, votes on and deletes posts, and remembers the acknowledged changes.

It makes one call after another, so that at most one is in doubt when the service is killed. Then
either the state before that call must be found, or the one after it; the call is sent again with
its sequence, and counts once.
"""

import dataclasses
import os
import random
import threading

import feed_pb2 as feed
from service import Failure
from wire import Connection, Lost, Refused

FEED = "mixed"
OPERATIONS = {"create": 30, "update": 25, "vote": 35, "delete": 10}


@dataclasses.dataclass(frozen=True)
class State:
    """The state of a post, as the client knows it."""
    title: str
    comment_count: int = 0
    ballot: int = feed.CLEAR


@dataclasses.dataclass
class Pending:
    """A call without an answer."""
    kind: str
    sequence: int
    request: dict
    post: int      # 0: one that is created
    after: State   # None: deleted


def state_of(post):
    """The state of a post with one voter, as the service shows it."""
    ballots = {(0, 0): feed.CLEAR, (1, 0): feed.UP, (0, 1): feed.DOWN}
    ballot = ballots.get((post.upvote_count, post.downvote_count))
    return State(post.title, post.comment_count, ballot)


def create_feed(connection):
    try:
        connection.call_until_taken(create_feed=feed.CreateFeedRequest(
            feed=feed.Feed(name=FEED, vote_mode=feed.BALLOT)))
    except Refused as refused:
        if refused.status.reason != "FEED_EXISTS":
            raise


class MixedClient:
    """One client over all restarts of one data directory."""

    def __init__(self, name, seed):
        self.name = name
        self.random = random.Random(f"{seed} {name}")
        self.client_id = os.urandom(16)  # an identity is never from a seed
        self.posts = {}                  # id to State
        self.pending = None
        self.sequence = self.created = self.acknowledged = self.greatest_id = 0
        self.known = False
        self.thread = None
        self.failure = None

    # ---- Under load

    def start(self, port):
        self.failure = None
        self.thread = threading.Thread(target=self._work, args=[port])
        self.thread.start()

    def join(self):
        self.thread.join()
        if self.failure:
            raise self.failure

    def _work(self, port):
        try:
            with self.connected(port) as connection:
                while True:
                    self.step(connection)
        except Lost:
            pass
        except Exception as error:  # reported by the thread that joins
            self.failure = Failure(f"the mixed client: {error}")

    def connected(self, port):
        connection = Connection(port)
        try:
            hello = connection.hello(self.client_id)
            if self.known and not hello.client_known:
                raise Failure(f"the service has forgotten client {self.name}")
        except BaseException:
            connection.__exit__()
            raise
        self.known = True
        return connection

    def step(self, connection):
        self.sequence += 1
        self.pending = self._next()
        self.send(connection)

    def send(self, connection):
        """Sends the pending call, and takes note of its answer."""
        answer = connection.call_until_taken(self.pending.sequence, **self.pending.request)
        done, self.pending = self.pending, None
        self.acknowledged += 1
        post = done.post or answer.post.id
        if done.kind == "create":
            if post <= self.greatest_id:
                raise Failure(f"post {post} was created behind post {self.greatest_id}")
            self.greatest_id = post
        self._put(post, done.after)

    def _put(self, post, state):
        if state is None:
            self.posts.pop(post, None)
        else:
            self.posts[post] = state

    def _next(self):
        kind, = self.random.choices(list(OPERATIONS), OPERATIONS.values())
        if kind == "create" or not self.posts:
            self.created += 1
            after = State(f"{self.name} {self.created}", self.random.randrange(1000))
            post = feed.Post(title=after.title, comment_count=after.comment_count)
            return Pending("create", self.sequence, {
                "create_post": feed.CreatePostRequest(feed=FEED, post=post)}, 0, after)
        post = self.random.choice(list(self.posts))
        before = self.posts[post]
        if kind == "delete":
            request = {"delete_post": feed.DeletePostRequest(id=post)}
            return Pending(kind, self.sequence, request, post, None)
        if kind == "vote":
            ballot = self.random.choice([feed.UP, feed.DOWN, feed.CLEAR])
            request = {"cast_vote": feed.CastVoteRequest(post_id=post, direction=ballot)}
            return Pending(kind, self.sequence, request, post,
                           dataclasses.replace(before, ballot=ballot))
        after = dataclasses.replace(
            before, comment_count=self.random.randrange(1000),
            title=f"{before.title.split(',')[0]}, edited {self.sequence}")
        request = {"update_post": feed.UpdatePostRequest(
            post=feed.Post(id=post, title=after.title, comment_count=after.comment_count),
            update_mask=[feed.TITLE, feed.COMMENT_COUNT])}
        return Pending(kind, self.sequence, request, post, after)

    # ---- After a restart

    def check(self, shown):
        """Compares the posts of this client that the service shows, id to State."""
        pending = self.pending
        for post in {*self.posts, *shown}:
            found, expected = shown.get(post), [self.posts.get(post)]
            if pending and pending.post == post:
                expected.append(pending.after)
            if pending and pending.kind == "create" and post not in self.posts:
                expected.append(pending.after)
            if found not in expected:
                raise Failure(f"post {post} of client {self.name} is {found}, expected {expected}")
        unknown = [post for post in shown if post not in self.posts]
        if len(unknown) > 1:
            raise Failure(f"one call of client {self.name} created posts {unknown}")
        return unknown

    def resolve(self, port, shown):
        """Sends the call in doubt again, and checks that it counts once in all."""
        unknown = self.check(shown)
        if self.pending:
            with self.connected(port) as connection:
                create = self.pending.kind == "create"
                self.send(connection)
                if create and unknown and unknown != [self.greatest_id]:
                    raise Failure(f"post {unknown[0]} of client {self.name} was created again, as "
                                  f"{self.greatest_id}")


def shown_to(connection, clients):
    """All posts of the feed: {client: {id: State}}."""
    shown = {client.name: {} for client in clients}
    for post in connection.posts(FEED):
        owner = shown.get(post.title.split(" ")[0])
        if owner is None or post.id in owner:
            raise Failure(f"the feed shows post {post.id} ({post.title}), which nobody created, or "
                          "shows it twice")
        owner[post.id] = state_of(post)
    return shown


def check(clients, port):
    """After a restart: finds all acknowledged changes, and sends calls in doubt again: each counts once."""
    with Connection(port) as connection:
        create_feed(connection)
        shown = shown_to(connection, clients)
        for client in clients:
            client.resolve(port, shown[client.name])
        shown = shown_to(connection, clients)
        for client in clients:
            client.check(shown[client.name])
