"""One host that takes as much of a service as it can, beside a healthy client of another host.

What must hold: the service's memory stays bounded and is given back; the healthy client is refused
nothing, and a restart of the service does not cost it its channel.
"""

import collections
import functools
import os
import resource
import time

import tally
from aside import Aside, MemoryWatch
from crowd import Crowd
from feedclient import Lost, Refused, feed, framed
from hostile import LARGE_POST
from judge import p99
from machine import resident_bytes
from process import Failure
from service import Connection, Service

ATTACKER, HEALTHY = "127.0.0.1", "127.0.0.2"
LARGE_POSTS = 30
IDLE_SECONDS = 5
MEMORY_LIMIT = 256 << 20
# What may stay: connections that were open once leave some of the allocator's own.
LEFT_LIMIT = 32 << 20
# Behind a restart, the channels that are kept lie between those that were evicted: an allocator gives
# back whole pages, and the next channels take the rest. It does not grow from attack to attack.
RESTORED_LEFT_LIMIT = 48 << 20
COUNTS = [("attacks", ""), ("connections", "connections"), ("votes accepted beside them", "votes")]  # of the summary
PIECE = "part"

Posts = collections.namedtuple("Posts", "tally ballot attacked")

# ---- The streams of frames that attacks send, each on a connection of its own
#
# A stream is made of the posts and of this connection's share of the new clients.

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


def new_clients(share, call):
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
    return new_clients(share, lambda number: batch(number, WINDOW, posts))


def batches(posts, _share):
    """One client that has as much remembered as it can."""
    yield hello(1)
    yield window(posts)


def devices(posts, share):
    """Ever other clients, each with a ballot."""
    ballot = feed.CastVoteRequest(post_id=posts.ballot, direction=feed.UP)
    return new_clients(share, lambda number: framed(number, cast_vote=ballot))


def unfinished(_posts, _share):
    """Begins a call that never ends."""
    yield UNFINISHED


# What is sent, from how many connections (None: --connections), whether answers are read, whether the
# service is killed afterwards and attacked again, and whose new clients vote beside it.
Part = collections.namedtuple("Part", "stream connections reads restarts newcomers")
OTHERS, ALL = (HEALTHY,), (HEALTHY, ATTACKER)
PARTS = {
    "unread": Part(unread, None, False, False, OTHERS),
    "non-readers": Part(unread, 400, False, False, OTHERS),
    "channels-of-one": Part(hellos, 1, True, True, ALL),
    "channels-of-many": Part(hellos, None, True, True, OTHERS),
    "full-channels": Part(batches, None, True, True, OTHERS),
    "devices": Part(devices, 1, True, False, ALL),
    "unfinished": Part(unfinished, None, True, False, OTHERS),
}


def flooded(port, part, options, posts):
    """The attack of a part, once it has sent all; its connections are open."""
    count = connection_count(part, options)
    crowd, share = Crowd(part.reads), max(1, options.hellos // count)
    for peer in [crowd.connect(port, ATTACKER) for _ in range(count)]:
        crowd.send_all(peer, part.stream(posts, share))
    crowd.run()
    return crowd


def connection_count(part, options):
    return min(part.connections or options.connections, options.connections)


# ---- The healthy client: counts its refusals, and times its calls

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
        with Connection(port, source=HEALTHY) as connection:
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


def miscounted(connection, posts, seen, when=""):
    """What is wrong with the count of the votes."""
    counted = connection.get_post(posts.tally).upvote_count
    return [f"{seen.votes} votes were acknowledged, {counted} are counted{when}"] * (counted != seen.votes)


def returned(port, posts, seen):
    """The failures that the earlier client finds after a restart of the service."""
    found = []
    with Connection(port, source=HEALTHY) as connection:
        greeting = connection.hello(client_id=seen.client_id)
        if not greeting.client_known or greeting.last_sequence != seen.sequence:
            found.append(f"after a restart the client was to be known with {seen.sequence} calls; "
                         f"known {greeting.client_known}, {greeting.last_sequence} calls")
        # Before anything is sent again, which would bring back a vote that was lost.
        found += miscounted(connection, posts, seen, " after a restart")
        for sequence in range(max(1, seen.sequence - 9), seen.sequence + 1):
            try:
                connection.vote(posts.tally, feed.UP, sequence=sequence)
            except Refused as status:
                found.append(f"after a restart vote {sequence} got {status}")
        found += miscounted(connection, posts, seen, " after a repeat of the last ones")
    return found


# ---- A run

def add_flags(parser):
    parser.add_argument("--only", nargs="+", metavar="PART", choices=PARTS,
                        help="of " + ", ".join(PARTS) + "; all of them if not given")
    parser.add_argument("--hellos", type=tally.count, default=262_144,
                        help="new clients that the attacks on channels and devices pretend to be")
    parser.add_argument("--connections", type=tally.count, default=9_990,
                        help="a service takes 10,000 in all")
    parser.add_argument("--hold", type=float, default=20,
                        help="seconds in which a client votes beside each attack, at least")
    parser.add_argument("--give-back", type=float, default=60,
                        help="seconds in which memory is to be given back afterwards")
    parser.add_argument("--factor", type=float, default=0,
                        help="fail if a vote takes so many times as long as before (p99); 0 does "
                        "not look, as a machine with other work is not to be judged by it")


def pieces(options):
    return {name: functools.partial(withstand, PARTS[name]) for name in options.only or PARTS}


def create_posts(port):
    """Posts as large as they may be, and those that are voted on."""
    with Connection(port) as connection:
        for _ in range(LARGE_POSTS):
            connection.create_post(LARGE_POST)
        connection.create_feed(feed.Feed(name="ballots", vote_mode=feed.BALLOT))
        voted = feed.Post(title="voted on")
        return Posts(*(connection.create_post(voted, name).id for name in ("posts", "ballots", "posts")))


def withstand(part, options, directory, say):
    """Makes one attack, and returns its figures. Raises Failure."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < options.connections + 100:
        raise Failure(f"--connections {options.connections} needs as many open files and some more; the limit is "
                      f"{most} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # of the service
    data = directory + "/data"
    with Service(options.binaries, data) as service:
        pid, port = service.pid, service.port
        posts = create_posts(port)
        client = Aside(keep_voting, port, posts, OTHERS)
        time.sleep(min(IDLE_SECONDS, options.hold))
        idle = client.stop()
        with MemoryWatch(pid) as memory:
            client = Aside(keep_voting, port, posts, part.newcomers)
            started = time.monotonic()
            attack = flooded(port, part, options, posts)
            seconds = time.monotonic() - started
            time.sleep(max(0, options.hold - seconds))
            seen = client.stop()
        piece = {"connections": connection_count(part, options), "sent_mb": round(attack.sent / 1e6, 1),
                 "attack_s": round(seconds, 1), **figures(port, memory, idle, seen)}
        seen.votes += idle.votes
        found = [f"{count} times {what}" for what, count in (*idle.refused.items(), *seen.refused.items())]
        with Connection(port) as connection:
            found += miscounted(connection, posts, seen)
        given_back, left = 0, 0
        if part.restarts:
            service.kill_in_life()
            attack.close()
            found += restarted(part, options, data, posts, seen, say)
        else:
            attack.close()
            given_back, left = give_back(pid, memory.before, LEFT_LIMIT, options.give_back)
            service.stop()
    piece.update(left_mib=mebibytes(left), given_back_s=round(given_back, 1))
    piece["failures"] = found + failures(piece, options)
    return piece


def mebibytes(count):
    return round(count / (1 << 20), 1)


def figures(port, memory, idle, seen):
    """What the service, its memory and the healthy client have come to."""
    with Connection(port) as connection:
        stats = connection.stats()
    return {
        "before_mib": mebibytes(memory.before),
        "memory_mib": mebibytes(memory.highest - memory.before),
        "kernel_mib": mebibytes(memory.kernel_highest - memory.kernel_before),
        "votes": len(seen.times), "new_clients": seen.newcomers,
        "refused": sum(seen.refused.values()),
        **{name: round(1e3 * p99(one.times), 3) if one.times else None
           for name, one in (("idle_p99_ms", idle), ("p99_ms", seen))},
        "channels": stats.channels, "channel_mib": mebibytes(stats.channel_bytes),
        "closed_connections": stats.over_budget_closes,
    }


def give_back(pid, before, limit, seconds):
    """The seconds until the service has at most so much more memory than before, and how much more it has."""
    closed = time.monotonic()
    while resident_bytes(pid) > before + limit and time.monotonic() < closed + seconds:
        time.sleep(0.2)
    return time.monotonic() - closed, resident_bytes(pid) - before


def restarted(part, options, data, posts, seen, say):
    """Starts the killed service, attacks it at once, and then has the healthy client come back."""
    with Service(options.binaries, data) as service:
        with MemoryWatch(service.pid) as memory:
            attack = flooded(service.port, part, options, posts)
            found = returned(service.port, posts, seen)
        more = memory.highest - memory.before
        say(f"after kill -9 and the attack once more: {more >> 20} MiB more than the "
            f"{memory.before >> 20} of the start, the healthy client is "
            f"{'not as before' if found else 'known'}")
        if more > MEMORY_LIMIT:
            found.append(f"{more >> 20} MiB more were in memory after a restart")
        attack.close()
        # Restored channels are kept for their retention.
        seconds, left = give_back(service.pid, memory.before, RESTORED_LEFT_LIMIT, options.give_back)
        say(f"of that {left >> 20} MiB were left {round(seconds)} s after the end")
        if left > RESTORED_LEFT_LIMIT:
            found.append(f"{left >> 20} MiB were not given back within {options.give_back} s, after "
                         "a restart")
        service.stop()
    return found


def failures(piece, options):
    found = []
    if piece["memory_mib"] > MEMORY_LIMIT >> 20:
        found.append(f"{piece['memory_mib']} MiB more were in memory")
    if piece["left_mib"] > LEFT_LIMIT >> 20:
        found.append(f"{piece['left_mib']} MiB were not given back within {options.give_back} s")
    if not piece["votes"]:
        found.append("no vote was accepted")
    elif options.factor and piece["idle_p99_ms"] and piece["p99_ms"] > options.factor * piece["idle_p99_ms"]:
        found.append(f"a vote took {piece['p99_ms']} ms (p99), {piece['idle_p99_ms']} ms before")
    return found
