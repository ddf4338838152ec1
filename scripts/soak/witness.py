"""Clients of a cluster: they follow its leader; and a witness of each node's reads.

A writer counts in one post. A witness asks a node for it again and again. The leader must show what was
acknowledged before it was asked, a follower what the revision holds that was asked for, and any node all
that its answer's revision holds. No node's revision goes back in a connection.
"""

import bisect
import contextlib
import os
import random
import threading
import time

import feedclient
from aside import Worker
from feedclient import Lost, Refused, feed
from lists import Reader
from mixed import MixedClient
from people import People
from process import Failure
from service import Connection, Patient

CALL_SECONDS = 8  # after which a call is in doubt, and asked for again
SILENCE_SECONDS = 1.5  # of the writer, whose waits are measured
FOLLOWER_SECONDS = 0.5  # after which a witness asks again whether its node leads, as one may begin to
PAUSE_SECONDS = 0.02
VOTER_SECONDS, VOTER_ATTEMPTS = 60, 1000
# A Hello that was given up, as a service stood still for a second, may be read behind the one after it, and take the
# channel from that.
OVERTAKEN = "CHANNEL_FENCED"
LONG_TEXT = "\N{GRINNING FACE}" * 9999  # of 40 kB, with a letter before it


# Unless they are set, nobody changes anything, or only the writer does; all others are not asked.
MAY_CHANGE, MAY_WRITE, MAY_READ = threading.Event(), threading.Event(), threading.Event()
for each in (MAY_CHANGE, MAY_WRITE, MAY_READ):
    each.set()


class Following(Worker):
    """Goes on where it is sent once a node is gone; what is in doubt is sent again there."""

    gate = MAY_CHANGE

    def _work(self, where):
        self._ready.set()
        while not self._ending.is_set() and not self.failure:
            if not self.gate.wait(PAUSE_SECONDS):
                continue
            try:
                with self.connected(where()) as connection:
                    self.resume(connection)
                    while not self._ending.is_set() and self.gate.is_set():
                        self.step(connection)
            except Lost:
                pass
            except Refused as refused:
                if refused.status.code != feed.UNAVAILABLE and not refused.is_temporary and refused.reason != OVERTAKEN:
                    self.failure = Failure(f"{self.name}: {refused}")
            except Failure as failure:
                self.failure = Failure(f"{self.name}: {failure}")
            except Exception as error:  # a fault of this script
                self.failure = Failure(f"{self.name}: {error!r}")
            self._ending.wait(PAUSE_SECONDS)

    def resume(self, connection):
        """Sends again what is in doubt."""


def greeted(connection, leads=True, **hello):
    """The answer to Hello, of a node that leads if that is asked for."""
    answer = connection.hello(**hello)
    if leads and answer.role != feed.NODE_LEADER:
        raise Lost("the node does not lead")
    return answer


class Client(Following, MixedClient):
    """Creates, edits, votes on, marks and deletes posts."""

    @contextlib.contextmanager
    def connected(self, port):
        with Patient(port, timeout=CALL_SECONDS) as connection:
            hello = greeted(connection, client_id=self.client_id)
            if self.known and not hello.client_known:
                raise Failure("the cluster has forgotten it")
            self.known = True
            yield connection

    def resume(self, connection):
        if self.pending:
            self.send(connection)

    def step(self, connection):
        super().step(connection)
        time.sleep(PAUSE_SECONDS / 2)  # what it makes, the audits read again and again


class Persons(Following, People):
    """People who sign up, in and out."""

    @contextlib.contextmanager
    def connected(self, port):
        with Patient(port, timeout=CALL_SECONDS) as connection:
            greeted(connection)
            yield connection


class Lists(Following, Reader):
    """Walks STABLE lists, also of followers."""

    gate = MAY_READ

    def connected(self, port):
        return Connection(port, timeout=CALL_SECONDS)


class Voter(Worker):
    """Votes by the client that finds the leader by itself, and sends again what is in doubt."""

    def __init__(self):
        super().__init__("the voter")
        self.post = self.acknowledged = self.doubts = 0

    def _work(self, addresses):
        self._ready.set()
        while not self._ending.is_set() and not self.failure:
            try:
                with feedclient.Client(addresses, client_id=os.urandom(16), timeout=VOTER_SECONDS,
                                       attempts=VOTER_ATTEMPTS) as client:
                    self.vote(client)
            except Lost:
                pass  # it has given up: the vote stays in doubt
            except Refused as refused:
                if refused.reason != OVERTAKEN:
                    self.failure = Failure(f"{self.name}: {refused}")
            except Exception as error:
                self.failure = Failure(f"{self.name}: {error!r}")

    def vote(self, client):
        while not self._ending.is_set():
            if not MAY_CHANGE.wait(PAUSE_SECONDS):
                continue
            if not self.post:
                self.post = client.create_post(feed.Post(title="the voter's")).id
            self.doubts += 1
            client.vote(self.post)
            self.doubts -= 1
            self.acknowledged += 1
            time.sleep(PAUSE_SECONDS / 4)

    def check(self, connection):
        """Finds each acknowledged vote once, and at most those in doubt beside them."""
        found = connection.get_post(self.post).upvote_count if self.post else 0
        if not 0 <= found - self.acknowledged <= self.doubts:
            raise Failure(f"{self.name} sees {found} votes, and {self.acknowledged} were acknowledged, {self.doubts} "
                          "not answered")


class Writer(Following):
    """Counts in a post."""

    gate = MAY_WRITE

    def __init__(self):
        super().__init__("the writer")
        self.client_id = os.urandom(16)
        self.post = self.sequence = 0
        self.revisions = [0]  # of each count, as acknowledged
        self.moments = []     # of the acknowledgements

    @property
    def acknowledged(self):
        """The last count."""
        return len(self.revisions) - 1

    def count_at(self, revision):
        """The count that a state with this revision has at least."""
        return max(0, bisect.bisect_right(self.revisions, revision) - 1)

    def longest_wait(self, since):
        """The longest time without an acknowledgement, in seconds, between a moment and now."""
        moments = [since, *(moment for moment in self.moments if moment > since), time.monotonic()]
        return max(after - before for before, after in zip(moments, moments[1:]))

    @contextlib.contextmanager
    def connected(self, port):
        with Patient(port, timeout=SILENCE_SECONDS) as connection:
            greeted(connection, client_id=self.client_id)
            yield connection

    def step(self, connection):
        if not self.post:
            self.post = connection.create_post(feed.Post(title="the witness's"), sequence=1).id
        count = self.acknowledged + 1  # the same one again, until it is acknowledged
        frame = connection.call(sequence=count + 1, update_post=feed.UpdatePostRequest(
            post=feed.Post(id=self.post, comment_count=count), update_mask=[feed.COMMENT_COUNT]))
        self.revisions.append(frame.revision)
        self.moments.append(time.monotonic())
        time.sleep(PAUSE_SECONDS / 4)

    def check(self, connection):
        """Finds the last count, or the one that is in doubt."""
        found = connection.get_post(self.post).comment_count if self.post else 0
        if found - self.acknowledged not in (0, 1):
            raise Failure(f"the writer's count is {found}, and {self.acknowledged} is acknowledged")


class Plain(Following):
    """Votes without a number: what is in doubt is not sent again."""

    def __init__(self):
        super().__init__("the plain voter")
        self.post = self.acknowledged = self.doubts = 0

    @contextlib.contextmanager
    def connected(self, port):
        with Connection(port, timeout=CALL_SECONDS) as connection:
            greeted(connection)
            yield connection

    def step(self, connection):
        if not self.post:
            self.post = connection.create_post(feed.Post(title="the plain voter's")).id
        self.doubts += 1
        try:
            connection.vote(self.post)
        except Refused as refused:
            self.doubts -= refused.status.not_executed
            raise
        self.doubts -= 1
        self.acknowledged += 1
        time.sleep(PAUSE_SECONDS / 4)

    check = Voter.check


class Importer(Following):
    """Imports posts, some at a time, all or none."""

    into, count = "imported", 3

    def __init__(self):
        super().__init__("the importer")
        self.client_id = os.urandom(16)
        self.acknowledged = 0

    @contextlib.contextmanager
    def connected(self, port):
        with Patient(port, timeout=CALL_SECONDS) as connection:
            greeted(connection, client_id=self.client_id)
            yield connection

    def step(self, connection):
        posts = [feed.Post(title=f"imported {number}", create_time_ms=1, upvote_count=number)
                 for number in range(self.count)]
        connection.import_posts(posts, self.into, sequence=self.acknowledged + 1)  # the same again, until it is there
        self.acknowledged += 1
        time.sleep(2 * PAUSE_SECONDS)

    def check(self, connection):
        """Finds the posts of each acknowledged import once, and perhaps of one more."""
        found = connection.list_posts(feed.ListPostsRequest(feed=self.into, page_size=1)).total_size
        if found not in (self.count * self.acknowledged, self.count * (self.acknowledged + 1)):
            raise Failure(f"there are {found} imported posts, {self.count} each of {self.acknowledged} imports, or of one "
                          "more")


class Bulk(Following):
    """Fills the log: writes the longest text into a post of its own, again and again."""

    def __init__(self):
        super().__init__("the bulk")
        self.post = self.count = 0

    def connected(self, port):
        return Patient(port, timeout=CALL_SECONDS)

    def resume(self, connection):
        greeted(connection)

    def step(self, connection):
        self.count += 1
        post = feed.Post(id=self.post, title="bulk", text="ab"[self.count % 2] + LONG_TEXT)
        if self.post:
            connection.call(update_post=feed.UpdatePostRequest(post=post, update_mask=[feed.TEXT]))
        else:
            self.post = connection.create_post(post).id


class Witness(Following):
    """Reads the writer's post of one node."""

    gate = MAY_READ

    def __init__(self, writer, node, seed, sees_too_much=False):
        super().__init__(f"the witness of {node.name}")
        self.sees_too_much = sees_too_much  # a lie: each answer has a later revision than its own
        self.writer = writer
        self.random = random.Random(f"{seed} witness {node.name}")
        self.leads, self.revision, self.until = False, 0, 0
        self.reads = {True: 0, False: 0}  # answered ones, of a leader and of a follower

    @contextlib.contextmanager
    def connected(self, port):
        with Connection(port, timeout=CALL_SECONDS) as connection:
            self.leads = greeted(connection, leads=False).role == feed.NODE_LEADER
            self.revision, self.until = 0, time.monotonic() + FOLLOWER_SECONDS
            yield connection

    def step(self, connection):
        least = self.writer.acknowledged
        if not least:
            raise Lost("there is no count yet")
        if not self.leads and time.monotonic() > self.until:
            raise Lost("it may lead now")
        # The first one in a connection is asked for, so that the post is there.
        is_asked = not self.leads and (not self.revision or self.random.random() < 0.5)
        asked = self.writer.revisions[least] if is_asked else 0
        frame = connection.call(min_revision=asked, get_post=feed.GetPostRequest(id=self.writer.post))
        revision = connection.call(ping=feed.PingRequest()).revision if self.sees_too_much else frame.revision
        self.judge(revision, frame.post.comment_count, least if self.leads or asked else 0)
        self.reads[self.leads] += 1
        time.sleep(PAUSE_SECONDS / 4)

    def judge(self, revision, count, least):
        """Finds an answer that is older than it may be."""
        who = "the leader" if self.leads else "a follower"
        if count < least:
            raise Failure(f"{who} shows count {count}, and {least} was acknowledged, or asked for, before")
        if revision < self.revision:
            raise Failure(f"{who} shows revision {revision} after {self.revision}")
        held = self.writer.count_at(revision)
        if count < held:
            raise Failure(f"{who} shows count {count} at revision {revision}, which has {held}")
        self.revision = revision
