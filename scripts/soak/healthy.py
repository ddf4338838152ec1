"""A client from another host than the attack: counts its refusals, and times its calls."""

import collections
import os
import time

from feedclient import Lost, Refused, feed
from service import Connection

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
        self.refused = collections.Counter()

    def takes(self, what, call):
        """Whether a call is executed; counts its refusal."""
        try:
            call()
            return True
        except Refused as status:
            self.refused[f"{what} got {status}"] += 1
            return False

    def hello(self, connection, client_id, what):
        answer = connection.hello(client_id=client_id)
        if answer.HasField("channel_status"):
            self.refused[f"{what}'s channel got {Refused(answer.channel_status)}"] += 1


def newcomer(port, source, posts, seen):
    """A client that nobody knows: a channel, a ballot and a numbered vote."""
    what = f"a new client of {source}"
    try:
        with Connection(port, source=source) as connection:
            seen.hello(connection, os.urandom(16), what)
            seen.takes(f"{what}'s ballot", lambda: connection.vote(posts.ballot))
            seen.votes += seen.takes(f"{what}'s vote", lambda: connection.vote(posts.tally, sequence=1))
            seen.newcomers += 1
    except (Lost, Refused) as failure:
        seen.refused[f"{what} got {failure}"] += 1


def keep_voting(port, posts, newcomers, stopping):
    """Casts votes one after another until `stopping`, with new clients between, one of each host at least;
    returns what it saw."""
    seen, number = Observations(), 0
    try:
        with Connection(port, source=ADDRESS) as connection:
            seen.hello(connection, seen.client_id, "the healthy client")
            while not stopping.is_set() or number < VOTES_PER_NEWCOMER:
                number += 1
                started = time.monotonic()
                if seen.takes("a vote", lambda: connection.vote(posts.tally, sequence=number)):
                    seen.times.append(time.monotonic() - started)
                    seen.votes, seen.sequence = seen.votes + 1, number
                if number % VOTES_PER_NEWCOMER == 0:
                    for source in newcomers:
                        newcomer(port, source, posts, seen)
                time.sleep(PAUSE_SECONDS)
    except (Lost, Refused) as failure:
        seen.refused[f"the healthy client got {failure}"] += 1
    return seen


def returned(port, posts, seen):
    """The failures that the earlier client finds after a restart of the service."""
    found = []
    with Connection(port, source=ADDRESS) as connection:
        def count(when):
            counted = connection.get_post(posts.tally).upvote_count
            if counted != seen.votes:
                found.append(f"{seen.votes} votes were acknowledged, {counted} are counted after {when}")

        greeting = connection.hello(client_id=seen.client_id)
        if not greeting.client_known or greeting.last_sequence != seen.sequence:
            found.append(f"after a restart the client was to be known with {seen.sequence} calls; "
                         f"known {greeting.client_known}, {greeting.last_sequence} calls")
        # Before anything is sent again, which would bring back a vote that was lost.
        count("a restart")
        for sequence in range(max(1, seen.sequence - 9), seen.sequence + 1):
            try:
                connection.vote(posts.tally, feed.UP, sequence=sequence)
            except Refused as status:
                found.append(f"after a restart vote {sequence} got {status}")
        count("a repeat of the last ones")
    return found
