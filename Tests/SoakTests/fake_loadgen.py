#!/usr/bin/python3 -B
"""A load generator with one connection and one post: votes, and audits."""

import csv
import json
import os
import sys

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
                        connection.socket.settimeout(None)
                        connection.input.read(1)  # ends with the connection
                        raise Lost
                    vote = feed.CastVoteRequest(post_id=post, direction=feed.UP)
                    connection.call(sequence=sequence, cast_vote=vote) if sequence else None
                    sequence += 1
        except (Lost, ConnectionError):
            was_killed = post is not None
            os.sched_yield()
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
