"""What a program does with the client of clients/python: posts, votes, lists, watches, and people.

Run it with ./run.sh HOST PORT. Where the service has service keys, name the file of one, too: ./run.sh HOST
PORT KEY_FILE. Where it has TLS, say --tls, and --ca with the certificates of its authority if the system does
not know it.
"""

import argparse
import contextlib
import functools
import os
import sys

from feedclient import Client, Connection, FeedError, Refused, feed, read_key, tls_context

# Ids with the top bit set are users of this program's own, without an account in the service.
OWN_USERS = 1 << 63
# A sign-in stands back behind other work of the service's machine.
PATIENCE_SECONDS = 60


def expect(condition, what):
    if not condition:
        raise FeedError(what)


def tour(client):
    """Creates a post, votes on it, finds it in a page, and deletes it."""
    service = client.service
    print(f"Connected to {service.server_name}, protocol {service.protocol_version}.")

    title = "Hello from Python: é 🍎"
    post = client.create_post(feed.Post(title=title, author=feed.User(display_name="Ada")))
    expect(post.id > 0 and post.title == title, f"CreatePost was answered with {post}.")
    print(f"Created post {post.id}: {post.title}")

    for score in (1, 2, 3):
        voted = client.vote(post.id)
        expect(voted.score == score, f"CastVote was answered with {voted}.")
        print(f"Voted; the score is {voted.score}.")

    page = client.list_posts(feed.ListPostsRequest(feed="posts", order=feed.TOP, around_post_id=post.id))
    scores = {post.id: post.score for post in page.posts}
    expect(scores.get(post.id) == 3, f"ListPosts was answered with {scores}.")
    # In a list with a filter, or without what the caller has dismissed, first_rank says no post's rank
    # but the first one's.
    place = client.rank(feed.GetPostRankRequest(id=post.id, order=feed.TOP))
    print(f"It has rank {place.rank} of {place.total_size} in TOP order.")

    client.delete_post(post.id)
    print(f"Deleted post {post.id}.")


def watch_posts(client):
    """Follows two posts by events, without asking again, and votes meanwhile."""
    ids = [client.create_post(feed.Post(title="Watched")).id for _ in range(2)]
    posts = {}
    request = feed.WatchPostsRequest(post_ids=ids, min_interval_ms=50)
    with contextlib.closing(client.watch(request)) as events:
        for event in events:
            if event.reset:
                posts = {}
            for post in event.changed:
                # A post without a feed has only numbers that changed; the rest is as it was.
                known = posts.setdefault(post.id, post)
                known.score, known.revision = post.score, post.revision
            for gone in event.removed_ids:
                posts.pop(gone, None)
            if event.reset:
                expect(set(posts) == set(ids), f"The first event has {posts}.")
                client.vote(ids[0])
                client.delete_post(ids[1])
            elif list(posts) == ids[:1] and posts[ids[0]].score == 1:
                break
    expect(posts[ids[0]].title == "Watched", f"The posts are {posts}.")
    print(f"Watched posts until one had {posts[ids[0]].score} vote and the other was deleted.")
    client.delete_post(ids[0])


def vote_for_users(client):
    """Votes and marks for users of this program's own, as a service does."""
    ballots = feed.Feed(name="python-ballots", vote_mode=feed.BALLOT, voters=feed.USERS)
    try:
        client.create_feed(ballots)
    except Refused as refused:
        if refused.reason != "FEED_EXISTS":
            raise
    ada, bob = OWN_USERS | 7, OWN_USERS | 8
    new = feed.Post(title="A ballot each", author=feed.User(display_name="Ada"))
    post = client.create_post(new, ballots.name, acting=ada)
    expect(post.author.id == ada, f"The author is {post.author}.")

    # A ballot stands until its user changes it, however often it is cast.
    cast = [(ada, feed.UP), (ada, feed.UP), (bob, feed.UP), (bob, feed.DOWN)]
    scores = [client.vote(post.id, direction, acting=user).score for user, direction in cast]
    expect(scores == [1, 1, 2, 0], f"The scores are {scores}.")
    print(f"Voted for two users; the score is {scores[-1]}.")

    client.mark(feed.MarkPostsRequest(mark=feed.READ, post_ids=[post.id]), acting=ada)
    seen = {user: client.get_post(post.id, acting=user).viewer for user in (ada, bob)}
    expect(seen[ada].read and seen[ada].vote == feed.UP, f"Ada has {seen[ada]}.")
    expect(not seen[bob].read and seen[bob].vote == feed.DOWN, f"Bob has {seen[bob]}.")
    # The service may delete each post: the program itself decides which user may.
    client.delete_post(post.id)


def vote_once(connect, connect_once, key):
    """Loses the answer to a vote, sends the vote again, and sees that it counts once."""
    # A program makes its id once and keeps it, with the channel and the highest sequence that it has used.
    client_id, channel, sequence = os.urandom(16), 0, 1
    with connect_once() as connection:
        hello = connection.hello(client_id=client_id, channel=channel, service_key=key)
        expect(feed.EXACTLY_ONCE in hello.capabilities, "The service has no sequences.")
        post = connection.create_post(feed.Post(title="Counted once"), sequence=sequence)
        sequence += 1
        vote = feed.CastVoteRequest(post_id=post.id, direction=feed.UP)
        connection.send(cast_vote=vote, sequence=sequence)
    # The connection is gone: did the vote arrive? Whoever sends it again with its sequence need not know.
    with connect(client_id=client_id, channel=channel, last_sequence=sequence) as client:
        expect(client.service.client_known, "The service has forgotten the channel.")
        expect(client.service.instance_id == hello.instance_id, "The service's state is another.")
        voted = client.vote(post.id, sequence=sequence)
        expect(voted.score == 1, f"The vote was answered with {voted}.")
        print(f"Voted with a sequence, twice; the score is {voted.score}.")
        client.delete_post(post.id)


def become_user(connection, email, password, token=b""):
    """Shows the token of a session, or signs in where there is none or its session has ended.

    Returns the token, which the program keeps for its next connection. Any call of a user may be
    refused with SESSION_EXPIRED; the program then drops the token and comes here again.
    """
    if token:
        try:
            connection.hello(session_token=token)
            return token
        except Refused as refused:
            if refused.reason != "SESSION_EXPIRED":
                raise
    return connection.sign_in(email, password, create_if_missing=True).token


def sign_in_again(connect_once):
    """Shows a session on another connection, and signs in again once it has ended."""
    # Only a program that asks its user for the password can do so.
    email, password = f"{os.urandom(4).hex()}@example.org", os.urandom(8).hex()
    with connect_once() as first, connect_once() as second:
        token = become_user(first, email, password)
        expect(become_user(second, email, password, token) == token, "The session is not known.")
        first.sign_out(everywhere=True)
        try:
            second.session()
            raise FeedError("A session that was ended goes on.")
        except Refused as refused:
            expect(refused.reason == "SESSION_EXPIRED", f"{refused}")
        other = become_user(second, email, password, token)
        expect(other != token, "The session that was ended is shown again.")
        print("Signed in again after the session had ended.")
        second.sign_out()


def main():
    parser = argparse.ArgumentParser(prog="run.sh")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("key_file", nargs="?", help="the key of a service")
    parser.add_argument("--tls", action="store_true", help="secure the connections")
    parser.add_argument("--ca", help="with --tls: the certificates that vouch for the service's")
    options = parser.parse_args()
    try:
        key = read_key(options.key_file) if options.key_file else b""
        secured = {"tls": tls_context(options.ca) if options.tls else None, "timeout": PATIENCE_SECONDS}
        address = f"{options.host}:{options.port}"
        connect = functools.partial(Client, address, client_name="python", service_key=key, **secured)
        connect_once = functools.partial(Connection, address, **secured)
        with connect() as client:
            tour(client)
            vote_for_users(client)
            watch_posts(client)
        vote_once(connect, connect_once, key)
        sign_in_again(connect_once)
    except (FeedError, OSError, ValueError) as error:
        sys.exit(f"Failed: {error}")


if __name__ == "__main__":
    main()
