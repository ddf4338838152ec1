#!/usr/bin/python3 -B
"""A load generator with one connection and one post: votes, and audits."""

import csv
import json
import os
import ssl
import sys
import time

import feed_pb2 as feed
from wire import Connection, Lost


def flag(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def load(connection, report):
    post = connection.call(create_post=feed.CreatePostRequest(feed="posts")).post.id
    report["post"] = post
    while True:
        connection.call(cast_vote=feed.CastVoteRequest(post_id=post, direction=feed.UP))
        report["acknowledged"] += 1


def load_for(connection, seconds, report):
    """Votes for some time; which of them have no answer is a fault of its own."""
    post = connection.call(create_post=feed.CreatePostRequest(feed="posts")).post.id
    end, votes = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        connection.call(cast_vote=feed.CastVoteRequest(post_id=post, direction=feed.UP))
        votes += 1
    lost = int(os.environ.get("FAKE_LOST", "0"))
    with open(report, "w") as file:
        json.dump({"audit": {"votes_acknowledged": votes, "passed": True},
                   "outcomes": {"timeout": 0, "lost": lost}}, file)


def load_in_turn(connection, seconds, report):
    """Votes and lists, and how long they take."""
    post = connection.call(create_post=feed.CreatePostRequest(feed="posts")).post.id
    calls = {"vote": {"cast_vote": feed.CastVoteRequest(post_id=post, direction=feed.UP)},
             "list": {"list_posts": feed.ListPostsRequest(feed="posts", page_size=20)}}
    end, times = time.monotonic() + seconds, {name: [] for name in calls}
    while time.monotonic() < end:
        for name, call in calls.items():
            began = time.monotonic()
            connection.call(**call)
            times[name].append(1000 * (time.monotonic() - began))
            time.sleep(0.001)
    with open(report, "w") as file:
        json.dump({"requests_per_second": 100, "ops": {
            name: {"response_ms": {"p99": sorted(taken)[len(taken) * 99 // 100]}}
            for name, taken in times.items()}}, file)


def load_dataset(port):
    """Casts the votes of a file on one post, and lives through a kill.

    The last quarter waits for the kill: on a busy machine all votes would be cast before it.
    """
    with open(sys.argv[2], newline="") as file:
        votes = sum(int(row["ups"]) for row in csv.DictReader(file))
    client, sequence, post = os.urandom(16), 0, None
    was_killed = False
    while sequence <= votes:
        try:
            with Connection(port) as connection:
                connection.hello(client_id=client)
                post = post or connection.call(
                    sequence=votes + 9, create_post=feed.CreatePostRequest(feed="f")).post.id
                while sequence <= votes:
                    if sequence > votes * 3 // 4 and not was_killed:
                        connection.call(get_post=feed.GetPostRequest(id=post))
                        time.sleep(0.01)
                        continue
                    vote = feed.CastVoteRequest(post_id=post, direction=feed.UP)
                    connection.call(sequence=sequence, cast_vote=vote) if sequence else None
                    sequence += 1
        except Lost:
            was_killed = post is not None
            time.sleep(0.01)
    with Connection(port) as connection:
        found = connection.call(get_post=feed.GetPostRequest(id=post)).post.upvote_count
    with open(flag("--json"), "w") as file:
        json.dump({"audit": {"votes_acknowledged": votes, "passed": found == votes}}, file)
    sys.exit(0 if found == votes else 3)


def main():
    port = int(flag("--target").split(":")[1])
    if sys.argv[1] == "dataset":
        load_dataset(port)
    if flag("--verify-only"):
        with open(flag("--verify-only")) as file:
            report = json.load(file)
        with Connection(port) as connection:
            post = connection.call(get_post=feed.GetPostRequest(id=report["post"])).post
        surplus = post.upvote_count - sum(report["record"]["acknowledged"])
        sys.exit(0 if surplus in (0, 1) else f"votes lost or doubled: {surplus}")
    if flag("--mix") == "vote":
        with Connection(port) as connection:
            load_for(connection, float(flag("--duration").rstrip("s")), flag("--json"))
        sys.exit(0)
    if flag("--mix") == "vote=90,list=10":
        with Connection(port) as connection:
            if "--tls" in sys.argv:
                context = ssl.create_default_context(cafile=flag("--ca"))
                connection.socket = context.wrap_socket(connection.socket, server_hostname="127.0.0.1")
                connection.input = connection.socket.makefile("rb")
            load_in_turn(connection, float(flag("--duration").rstrip("s")), flag("--json"))
        sys.exit(0)
    report = {"post": 0, "acknowledged": 0}
    try:
        with Connection(port) as connection:
            load(connection, report)
    except Lost:
        pass
    report["record"] = {"acknowledged": [report["acknowledged"]]} if report["post"] else None
    with open(flag("--json"), "w") as file:
        json.dump(report, file)
    sys.exit(int(os.environ.get("FAKE_LOADGEN_STATUS", "1")))


main()
