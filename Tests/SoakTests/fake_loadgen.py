#!/usr/bin/python3 -B
"""A load generator with one connection and one post: votes, and audits."""

import csv
import json
import os
import sys

from feedclient import Lost, feed
from service import Connection


def flag(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def load(connection, report):
    post = connection.create_post(feed.Post()).id
    report["post"] = post
    while True:
        connection.vote(post)
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
                post = post or connection.create_post(feed.Post(), "f", sequence=votes + 9).id
                while sequence <= votes:
                    if sequence > votes * 3 // 4 and not was_killed:
                        connection.socket.settimeout(None)
                        connection.socket.recv(1)  # ends with the connection
                        raise Lost("killed")
                    connection.vote(post, sequence=sequence) if sequence else None
                    sequence += 1
        except (Lost, ConnectionError):
            was_killed = post is not None
            os.sched_yield()
    with Connection(port) as connection:
        found = connection.get_post(post).upvote_count
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
            post = connection.get_post(report["post"])
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
