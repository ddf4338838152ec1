"""One host that takes as much of a service as it can, beside a healthy client of another host.

What must hold: the service's memory stays bounded and is given back; the healthy client is refused
nothing, and a restart of the service does not cost it its channel.
"""

import collections
import resource
import shutil
import time

import flood
import healthy
import tally
from aside import Aside, MemoryWatch
from feedclient import feed
from machine import resident_bytes
from process import Failure
from service import FAILURES, Connection, Service

LARGE_POSTS = 30
IDLE_SECONDS = 5
MEMORY_LIMIT = 256 << 20
# What may stay: connections that were open once leave some of the allocator's own.
LEFT_LIMIT = 32 << 20
# Behind a restart, the channels that are kept lie between those that were evicted: an allocator gives
# back whole pages, and the next channels take the rest. It does not grow from attack to attack.
RESTORED_LEFT_LIMIT = 48 << 20

Posts = collections.namedtuple("Posts", "tally ballot attacked")
# What is sent, from how many connections (None: --connections), whether answers are read, whether the
# service is killed afterwards and attacked again, and whose new clients vote beside it.
Part = collections.namedtuple("Part", "stream connections reads restarts newcomers")
OTHERS, ALL = (healthy.ADDRESS,), (healthy.ADDRESS, flood.ADDRESS)
PARTS = {
    "unread": Part(flood.unread, None, False, False, OTHERS),
    "non-readers": Part(flood.unread, 400, False, False, OTHERS),
    "channels-of-one": Part(flood.hellos, 1, True, True, ALL),
    "channels-of-many": Part(flood.hellos, None, True, True, OTHERS),
    "full-channels": Part(flood.batches, None, True, True, OTHERS),
    "devices": Part(flood.devices, 1, True, False, ALL),
    "unfinished": Part(flood.unfinished, None, True, False, OTHERS),
}


def add_flags(parser):
    parser.add_argument("--only", nargs="+", metavar="PART", choices=PARTS,
                        help="of " + ", ".join(PARTS) + "; all of them if not given")
    parser.add_argument("--in-memory", action="store_true",
                        help="attack a service without a data directory, and do not restart it")
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


def create_posts(port):
    """Posts as large as they may be, 46 KB each, and those that are voted on."""
    url = "https://example.org/" + "x" * 2000
    large = feed.Post(title="t" * 250, text="\U0001D11E" * 10_000, link_url=url,
                      thumbnail_url=url, image_url=url)
    with Connection(port) as connection:
        for _ in range(LARGE_POSTS):
            connection.create_post(large)
        connection.create_feed(feed.Feed(name="ballots", vote_mode=feed.BALLOT))
        voted = feed.Post(title="voted on")
        return Posts(*(connection.create_post(voted, name).id for name in ("posts", "ballots", "posts")))


def p99(times):
    return sorted(times)[int(0.99 * (len(times) - 1))] if times else float("inf")


def withstand(part, options, directory, say):
    """Makes one attack, and returns its figures. Raises Failure."""
    with Service(options.binaries, None if options.in_memory else directory) as service:
        pid, port = service.pid, service.port
        posts = create_posts(port)
        client = Aside(healthy.keep_voting, port, posts, OTHERS)
        time.sleep(min(IDLE_SECONDS, options.hold))
        idle = client.stop()
        with MemoryWatch(pid) as memory:
            client = Aside(healthy.keep_voting, port, posts, part.newcomers)
            started = time.monotonic()
            attack = flood.flooded(port, part, options, posts)
            seconds = time.monotonic() - started
            time.sleep(max(0, options.hold - seconds))
            seen = client.stop()
        piece = {"connections": flood.connections(part, options), "sent_mb": round(attack.sent / 1e6, 1),
                 "attack_s": round(seconds, 1), **figures(port, memory, idle, seen)}
        seen.votes += idle.votes
        found = faults(port, posts, idle, seen)
        if part.restarts and not options.in_memory:
            service.kill_in_life()
            attack.close()
            found += restarted(part, options, directory, posts, seen, say)
            given_back, left = 0, 0
        else:
            attack.close()
            given_back, left = give_back(pid, memory.before + LEFT_LIMIT, options.give_back)
            left -= memory.before
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
        "idle_p99_ms": round(1e3 * p99(idle.times), 3), "p99_ms": round(1e3 * p99(seen.times), 3),
        "channels": stats.channels, "channel_mib": mebibytes(stats.channel_bytes),
        "closed_connections": stats.over_budget_closes,
    }


def faults(port, posts, idle, seen):
    """What was refused to the healthy client and to new ones, and votes that are lost or doubled."""
    found = [f"{count} times {what}" for what, count in (*idle.refused.items(), *seen.refused.items())]
    with Connection(port) as connection:
        counted = connection.get_post(posts.tally).upvote_count
    if counted != seen.votes:
        found.append(f"{seen.votes} votes were acknowledged, {counted} are counted")
    return found


def give_back(pid, enough, seconds):
    """The seconds until the memory is small enough, and the memory at that time."""
    closed = time.monotonic()
    while resident_bytes(pid) > enough and time.monotonic() < closed + seconds:
        time.sleep(0.2)
    return time.monotonic() - closed, resident_bytes(pid)


def restarted(part, options, directory, posts, seen, say):
    """Starts the killed service, attacks it at once, and then has the healthy client come back."""
    with Service(options.binaries, directory) as service:
        with MemoryWatch(service.pid) as memory:
            attack = flood.flooded(service.port, part, options, posts)
            found = healthy.returned(service.port, posts, seen)
        more = memory.highest - memory.before
        say(f"after kill -9 and the attack once more: {more >> 20} MiB more than the "
            f"{memory.before >> 20} of the start, the healthy client is "
            f"{'not as before' if found else 'known'}")
        if more > MEMORY_LIMIT:
            found.append(f"{more >> 20} MiB more were in memory after a restart")
        attack.close()
        # Restored channels are kept for their retention.
        limit = RESTORED_LEFT_LIMIT
        seconds, left = give_back(service.pid, memory.before + limit, options.give_back)
        left -= memory.before
        say(f"of that {left >> 20} MiB were left {round(seconds)} s after the end")
        if left > limit:
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
    if options.factor and piece["p99_ms"] > options.factor * piece["idle_p99_ms"]:
        found.append(f"a vote took {piece['p99_ms']} ms (p99), {piece['idle_p99_ms']} ms before")
    return found


def run(options, say):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    kept = tally.Tally(options.output, "attack")
    directory = options.output + "/attack-data"
    for name in options.only or PARTS:
        started = time.monotonic()
        shutil.rmtree(directory, ignore_errors=True)
        say(name)
        try:
            if hard != resource.RLIM_INFINITY and hard < options.connections + 100:
                raise Failure(f"--connections {options.connections} needs as many open files and "
                              f"some more; the limit is {hard} (ulimit -Hn)")
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            piece = withstand(PARTS[name], options, directory, say)
        except FAILURES as failure:
            piece = {"failures": [str(failure)]}
        say(", ".join(f"{key} {value}" for key, value in piece.items() if key != "failures"))
        for failure in piece["failures"]:
            say(f"{name}: {failure}")
        piece.update(part=name, seconds=round(time.monotonic() - started, 2))
        kept.add(piece)
    shutil.rmtree(directory, ignore_errors=True)
    counts = [("attacks", len(kept.pieces)), ("connections", kept.sum("connections")),
              ("votes accepted beside them", kept.sum("votes"))]
    return kept, counts, True
