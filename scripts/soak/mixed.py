"""A client that creates, edits, votes on, marks and deletes posts, and remembers what was acknowledged.

It votes as a device, and as a service for users of its own. It makes one call after another, so that
at most one is in doubt when the service is killed. Then either the state before that call must be
found, or the one after it; the call is sent again with its sequence, and counts once.
"""

import contextlib
import dataclasses
import os
import random

from aside import Worker
from feedclient import Refused, feed
from process import Failure
from service import Patient

FEED = "mixed"
OPERATIONS = {"create": 30, "update": 25, "vote": 50, "mark": 20, "delete": 10}
MARKS = {feed.READ: (0, True), feed.UNREAD: (0, False),  # which of the two marks a mark sets, and how
         feed.DISMISSED: (1, True), feed.RESTORED: (1, False)}
USERS = 2  # for whom each client acts
VOTERS = USERS + 1  # the users, and the client itself: a device


@dataclasses.dataclass(frozen=True)
class State:
    """The state of a post, as the client knows it."""
    title: str
    comment_count: int = 0
    ballots: tuple = (feed.CLEAR,) * VOTERS  # of the device, and of the users
    marks: tuple = ((False, False),) * USERS  # whether each user has read it, and has dismissed it


@dataclasses.dataclass
class Pending:
    """A call without an answer."""
    kind: str
    sequence: int
    request: dict
    after: dict    # the posts that it changes, id to State; 0 is one that is created, None deletes
    acting: int = 0


def replaced(values, place, value):
    return (*values[:place], value, *values[place + 1:])


def marked(state, user, mark):
    place, is_set = MARKS[mark]
    marks = replaced(state.marks[user], place, is_set)
    return dataclasses.replace(state, marks=replaced(state.marks, user, marks))


def device_ballot(post, users):
    """The ballot on a post that is not of the users; None where the counts are of no such ballot."""
    rest = (post.upvote_count - users.count(feed.UP), post.downvote_count - users.count(feed.DOWN))
    return {(0, 0): feed.CLEAR, (1, 0): feed.UP, (0, 1): feed.DOWN}.get(rest)


def create_feed(connection, name=FEED, vote_mode=feed.BALLOT, **fields):
    try:
        connection.create_feed(feed.Feed(name=name, vote_mode=vote_mode, **fields))
    except Refused as refused:
        if refused.reason != "FEED_EXISTS":
            raise


class MixedClient(Worker):
    """One client over all restarts of one data directory. Its posts have its `owner` in their titles."""

    def __init__(self, owner, seed):
        super().__init__(f"client {owner}")
        self.owner = owner
        self.random = random.Random(f"{seed} {owner}")
        self.client_id = os.urandom(16)  # an identity is never from a seed
        first = int.from_bytes(os.urandom(7)) << 4
        self.users = [1 << 63 | first | number for number in range(USERS)]
        self.posts = {}                  # id to State
        self.pending = None
        self.sequence = self.created = self.acknowledged = self.greatest_id = 0
        self.known = False

    # ---- Under load

    @contextlib.contextmanager
    def connected(self, port):
        with Patient(port, timeout=60) as connection:
            hello = connection.hello(client_id=self.client_id)
            if self.known and not hello.client_known:
                raise Failure(f"the service has forgotten {self.name}")
            self.known = True
            yield connection

    def step(self, connection):
        self.sequence += 1
        self.pending = self._next()
        self.send(connection)

    def send(self, connection):
        """Sends the pending call, and takes note of its answer."""
        answer = connection.call(
            sequence=self.pending.sequence, acting=self.pending.acting, **self.pending.request)
        done, self.pending = self.pending, None
        self.acknowledged += 1
        if done.kind == "create":
            post = answer.post.id
            if post <= self.greatest_id:
                raise Failure(f"post {post} was created behind post {self.greatest_id}")
            self.greatest_id = post
        self.posts = self.posts_after(done, answer.post.id)

    def posts_after(self, call, created):
        """The posts once a call was executed, which may have created one."""
        posts = {**self.posts, **{post or created: state for post, state in call.after.items()}}
        return {post: state for post, state in posts.items() if state is not None}

    def _next(self):
        """The call that comes next."""
        kind, = self.random.choices(list(OPERATIONS), OPERATIONS.values())
        if kind == "create" or not self.posts:
            self.created += 1
            after = State(f"{self.owner} {self.created}", self.random.randrange(1000))
            post = feed.Post(title=after.title, comment_count=after.comment_count)
            return Pending("create", self.sequence, {
                "create_post": feed.CreatePostRequest(feed=FEED, post=post)}, {0: after})
        post = self.random.choice(list(self.posts))
        before = self.posts[post]
        if kind == "delete":
            request = {"delete_post": feed.DeletePostRequest(id=post)}
            return Pending(kind, self.sequence, request, {post: None})
        if kind == "vote":
            voter = self.random.randrange(VOTERS)
            ballot = self.random.choice([feed.UP, feed.DOWN, feed.CLEAR])
            request = {"cast_vote": feed.CastVoteRequest(post_id=post, direction=ballot)}
            after = dataclasses.replace(before, ballots=replaced(before.ballots, voter, ballot))
            return Pending(kind, self.sequence, request, {post: after},
                           self.users[voter - 1] if voter else 0)
        if kind == "mark":
            return self._mark(post)
        after = dataclasses.replace(
            before, comment_count=self.random.randrange(1000),
            title=f"{before.title.split(',')[0]}, edited {self.sequence}")
        request = {"update_post": feed.UpdatePostRequest(
            post=feed.Post(id=post, title=after.title, comment_count=after.comment_count),
            update_mask=[feed.TITLE, feed.COMMENT_COUNT])}
        return Pending(kind, self.sequence, request, {post: after})

    def _mark(self, post):
        """A user's mark of a post, or of all that were created up to it."""
        user, mark = self.random.randrange(USERS), self.random.choice(list(MARKS))
        if self.random.random() < 0.1:
            posts = [one for one in self.posts if one <= post]
            which = {"feed": FEED, "through_post_id": post}
        else:
            posts, which = [post], {"post_ids": [post]}
        after = {one: marked(self.posts[one], user, mark) for one in posts}
        request = {"mark_posts": feed.MarkPostsRequest(mark=mark, **which)}
        return Pending("mark", self.sequence, request, after, self.users[user])

    # ---- After a restart

    def check(self, shown):
        """Compares the posts of this client that the service shows, id to State: all of them are as
        before the call in doubt, or as after it. Returns those that this call has created."""
        unknown = [post for post in shown if post not in self.posts]
        if len(unknown) > 1:
            raise Failure(f"one call of {self.name} created posts {unknown}")
        expected = [self.posts]
        if self.pending:
            expected.append(self.posts_after(self.pending, unknown[0] if unknown else 0))
        if shown not in expected:
            raise Failure("; ".join(self.differences(shown, expected)))
        return unknown

    def differences(self, shown, expected):
        for post in sorted({*self.posts, *shown}):
            states = [posts.get(post) for posts in expected]
            if shown.get(post) not in states[:1]:
                yield f"post {post} of {self.name} is {shown.get(post)}, expected {states}"

    def resolve(self, port, shown):
        """Sends the call in doubt again, and checks that it counts once in all."""
        unknown = self.check(shown)
        if self.pending:
            with self.connected(port) as connection:
                create = self.pending.kind == "create"
                self.send(connection)
                if create and unknown and unknown != [self.greatest_id]:
                    raise Failure(f"post {unknown[0]} of {self.name} was created again, as "
                                  f"{self.greatest_id}")


def shown_to(connection, clients):
    """All posts of the feed: {owner: {id: State}}."""
    posts = {}
    for post in read_all(connection):
        if post.id in posts:
            raise Failure(f"the feed shows post {post.id} ({post.title}) twice")
        posts[post.id] = post
    shown = {client.owner: {} for client in clients}
    views = {client.owner: [viewed_by(connection, user) for user in client.users]
             for client in clients}
    for post in posts.values():
        owner = post.title.split(" ")[0]
        if owner not in shown:
            raise Failure(f"the feed shows post {post.id} ({post.title}), which nobody created")
        shown[owner][post.id] = state_of(post, [view[post.id] for view in views[owner]])
    return shown


def read_all(connection, acting=0):
    """The posts of the feed, also those that the user has dismissed."""
    return connection.posts(feed.ListPostsRequest(
        feed=FEED, order=feed.NEW, page_size=100, include_dismissed=acting > 0), acting=acting)


def viewed_by(connection, user):
    """What the feed shows a user: {id: Viewer}."""
    return {post.id: post.viewer for post in read_all(connection, user)}


def state_of(post, viewers):
    """The state of a post, as the service shows it to everybody and to the users of its client."""
    users = tuple(viewer.vote or feed.CLEAR for viewer in viewers)
    marks = tuple((viewer.read, viewer.dismissed) for viewer in viewers)
    return State(post.title, post.comment_count, (device_ballot(post, users), *users), marks)


def check(clients, port):
    """After a restart: finds all acknowledged changes, and sends calls in doubt again: each counts once."""
    with Patient(port) as connection:
        create_feed(connection)
        shown = shown_to(connection, clients)
        for client in clients:
            client.resolve(port, shown[client.owner])
        shown = shown_to(connection, clients)
        for client in clients:
            client.check(shown[client.owner])
