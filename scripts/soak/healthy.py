"""A client from another host than the attack: counts its refusals, and times its calls."""

import multiprocessing
import os
import time

import feed_pb2 as feed
from wire import Connection, Lost, Refused

ADDRESS = "127.0.0.2"
PAUSE_SECONDS = 0.002  # between two votes
# So many votes of the client that stays, and then one of a client that is new.
VOTES_PER_NEWCOMER = 20


class Observations:
    """The results of its calls. Times are in seconds."""

    def __init__(self):
        self.client_id = os.urandom(16)
        self.sequence = 0  # the last one that was acknowledged
        self.votes = 0  # acknowledged on the TALLY post, by newcomers too
        self.newcomers = 0
        self.times = []
        self.refused = {}

    def refuse(self, what, reason):
        key = f"{what} got {reason}"
        self.refused[key] = self.refused.get(key, 0) + 1

    def takes(self, what, call):
        """Whether a call is executed; counts its refusal."""
        try:
            call()
            return True
        except Refused as status:
            self.refuse(what, str(status))
            return False


def numbered_vote(connection, sequence, post):
    vote = feed.CastVoteRequest(post_id=post, direction=feed.UP)
    return connection.call(sequence=sequence, cast_vote=vote).cast_vote


def hello(connection, client_id, seen, what):
    answer = connection.hello(client_id=client_id)
    if answer.HasField("channel_status"):
        seen.refuse(what + "'s channel", str(Refused(answer.channel_status)))
    return answer


def newcomer(port, source, posts, seen):
    """A client that nobody knows: a channel, a ballot and a numbered vote."""
    what = f"a new client of {source}"
    try:
        with Connection(port, source=source) as connection:
            hello(connection, os.urandom(16), seen, what)
            ballot = feed.CastVoteRequest(post_id=posts.ballot, direction=feed.UP)
            seen.takes(f"{what}'s ballot", lambda: connection.call(cast_vote=ballot))
            seen.votes += seen.takes(
                f"{what}'s vote", lambda: numbered_vote(connection, 1, posts.tally))
            seen.newcomers += 1
    except (Lost, Refused) as failure:
        seen.refuse(what, str(failure))


def keep_voting(port, posts, newcomers, stopping, pipe):
    """Casts votes one after another until `stopping`, with new clients between, one of each host at least;
    sends what it saw."""
    seen, number = Observations(), 0
    try:
        with Connection(port, source=ADDRESS) as connection:
            hello(connection, seen.client_id, seen, "the healthy client")
            while not stopping.is_set() or number < VOTES_PER_NEWCOMER:
                number += 1
                started = time.monotonic()
                if seen.takes("a vote", lambda: numbered_vote(connection, number, posts.tally)):
                    seen.times.append(time.monotonic() - started)
                    seen.votes, seen.sequence = seen.votes + 1, number
                if number % VOTES_PER_NEWCOMER == 0:
                    for source in newcomers:
                        newcomer(port, source, posts, seen)
                time.sleep(PAUSE_SECONDS)
    except (Lost, Refused) as failure:
        seen.refuse("the healthy client", str(failure))
    pipe.send(seen)
    pipe.close()


class Healthy:
    """The client in a process of its own, so that it does not wait for the attack's interpreter."""

    def __init__(self, port, posts, newcomers=(ADDRESS,)):
        self.stopping = multiprocessing.Event()
        self.pipe, theirs = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(
            target=keep_voting, args=(port, posts, newcomers, self.stopping, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def stop(self):
        """Its observations."""
        self.stopping.set()
        seen = self.pipe.recv()
        self.process.join()
        return seen


def returned(port, posts, seen):
    """The failures that the earlier client finds after a restart of the service."""
    found = []
    with Connection(port, source=ADDRESS) as connection:
        def count(when):
            post = connection.call(get_post=feed.GetPostRequest(id=posts.tally)).post
            if post.upvote_count != seen.votes:
                found.append(f"{seen.votes} votes were acknowledged, {post.upvote_count} are counted "
                             f"after {when}")

        greeting = connection.hello(client_id=seen.client_id)
        if not greeting.client_known or greeting.last_sequence != seen.sequence:
            found.append(f"after a restart the client was to be known with {seen.sequence} calls; "
                         f"known {greeting.client_known}, {greeting.last_sequence} calls")
        # Before anything is sent again, which would bring back a vote that was lost.
        count("a restart")
        for sequence in range(max(1, seen.sequence - 9), seen.sequence + 1):
            try:
                numbered_vote(connection, sequence, posts.tally)
            except Refused as status:
                found.append(f"after a restart vote {sequence} got {status}")
        count("a repeat of the last ones")
    return found
