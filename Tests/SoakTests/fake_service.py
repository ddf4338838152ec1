#!/usr/bin/python3 -B
"""A small durable service to test the soak against: well, or with the fault in FAKE_FAULT.

It appends each change to a file before it answers. Faults: `lose` answers first and writes later,
`twice` executes what is sent again, `forget` no longer knows its clients after a restart, `drift`
verifies another state than it serves, `replay` replays another one, `reuse` gives out ids again,
`refuse` does not start anew, `status` does not end with 0, `crash` ends by itself, `last` leaves
another state than it served last, `busy` refuses each change once, for a millisecond, `deny` has no
channel for anybody, `limit` takes no ballots, `grow` holds much for each batch of votes, `unmark` forgets
marks, `reopen` opens ended sessions at its start, `skip` leaves a post out of a list, `shut` one out of a
window, `merge` takes the ballots of users for ballots of the device that acts for them.
"""

import hashlib
import json
import os
import signal
import socketserver
import struct
import sys
import threading
import time

from feedclient import feed

FAULT = os.environ.get("FAKE_FAULT", "")
BUSY = feed.Status(code=8, reason="OVERLOADED", not_executed=True, retry_after_ms=1)
REFUSAL = feed.Status(code=8, reason="TOO_MANY_CHANNELS")
HELD = []  # what `grow` holds
BATCH = 40  # changes that `lose` collects before it writes
KEPT = 3  # of which it keeps the last for later, so that some are lost whenever it is killed


class Store:
    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.path = directory + "/log"
        self.lock = threading.Lock()
        self.posts, self.clients, self.outcomes = {}, set(), {}
        self.feeds, self.last_id, self.waiting, self.votes, self.marks = set(), 0, [], 0, 0
        self.accounts, self.sessions = {}, {}
        self.refused = set()  # the calls that `busy` has refused
        if os.path.exists(self.path):
            with open(self.path, "rb") as file:
                lines = file.readlines()
            # A kill tears the last line, of which nobody was told.
            if lines and not lines[-1].endswith(b"\n"):
                os.truncate(self.path, os.path.getsize(self.path) - len(lines.pop()))
            for line in lines:
                self.apply(json.loads(line))
        if FAULT == "forget":
            self.clients.clear()
            self.outcomes.clear()
        if FAULT == "reopen":
            self.sessions = {token: abs(user) for token, user in self.sessions.items()}
        if FAULT == "reuse":
            self.last_id //= 2
        self.file = open(self.path, "ab", buffering=0)

    def apply(self, change):
        kind, key, value, record = change
        if kind == "client":
            self.clients.add(key)
        elif kind == "feed":
            self.feeds.add(key)
        elif kind == "account":
            self.accounts[key] = value
        elif kind == "session":
            self.sessions[key] = value
        elif kind == "posts":
            # JSON has made texts of the numbers.
            self.posts.update((int(post), state) for post, state in value.items())
        elif value is None:
            self.posts.pop(key, None)
        else:
            self.posts[key] = value
            self.last_id = max(self.last_id, key)
        if record and FAULT != "twice":
            self.outcomes[tuple(record)] = key

    def change(self, *change):
        self.apply(json.loads(json.dumps(change)))
        self.waiting.append(json.dumps(change).encode() + b"\n")
        written = len(self.waiting)
        if FAULT == "lose":
            written = written - KEPT if written >= BATCH else 0
        self.file.write(b"".join(self.waiting[:written]))
        del self.waiting[:written]

    def last_sequence(self, client):
        return max((sequence for name, sequence in self.outcomes if name == client), default=0)

    def hash(self, wrong=False):
        text = json.dumps([sorted(self.posts.items()), sorted(self.feeds), wrong])
        return "state hash " + hashlib.sha256(text.encode()).hexdigest()[:16]


def shown(post, state, viewer=""):
    standing = list(state["ballots"].values())
    return feed.Post(id=post, feed=state["feed"], title=state["title"], create_time_ms=state["created"],
                     comment_count=state["comments"],
                     upvote_count=state["up"] + standing.count(feed.UP),
                     downvote_count=standing.count(feed.DOWN),
                     viewer=viewer_of(state, viewer) if viewer else None)


def viewer_of(state, viewer):
    read, dismissed = state["marks"].get(viewer, (False, False))
    return feed.Viewer(vote=state["ballots"].get(viewer, 0), read=read, dismissed=dismissed)


def mark(store, viewer, body, record):
    """Marks posts for a user; `unmark` forgets one mark in 50."""
    place, is_set = {1: (0, True), 2: (0, False), 3: (1, True), 4: (1, False)}[body.mark]
    posts = body.post_ids or [post for post, state in store.posts.items()
                              if state["feed"] == body.feed and post <= body.through_post_id]
    changed = {}
    for post in posts:
        state = dict(store.posts[post])
        marks = list(state["marks"].get(viewer, (False, False)))
        marks[place] = is_set
        store.marks += 1
        if FAULT != "unmark" or store.marks % 50:
            state["marks"] = {**state["marks"], viewer: marks}
        changed[post] = state
    # One change, so that a kill leaves all of the marks or none.
    store.change("posts", None, changed, record)
    return feed.ServerFrame(mark_posts=feed.MarkPostsResponse())


def sign(store, kind, body):
    """Signs somebody up or in. A session has its user, or less than 0 once it has ended."""
    account = store.accounts.get(body.email)
    if account is None and (kind == "sign_up" or body.create_if_missing):
        account = [body.password, len(store.accounts) + 1]
        store.change("account", body.email, account, None)
    if account is None or account[0] != body.password:
        return feed.ServerFrame(status=feed.Status(code=16, reason="BAD_CREDENTIALS"))
    token = os.urandom(32)
    store.change("session", token.hex(), account[1], None)
    return feed.ServerFrame(session=feed.UserSession(token=token, user=feed.User(id=account[1])))


def sign_out(store, token, everywhere):
    """Ends a session, or all of its user."""
    user = store.sessions[token]
    for one, owner in list(store.sessions.items()):
        if one == token or everywhere and owner == user:
            store.change("session", one, -abs(owner), None)
    return feed.ServerFrame(empty=feed.Empty())


def greet(store, hello):
    """The answer to Hello: of a client, and of the user of a session."""
    client, token = hello.client_id.hex(), hello.session_token.hex()
    known = client in store.clients
    if client and not known:
        store.change("client", client, None, None)
    user = store.sessions.get(token, -1) if token else 0
    if user < 0:
        return feed.ServerFrame(status=feed.Status(code=16, reason="SESSION_EXPIRED"))
    return feed.ServerFrame(hello=feed.HelloResponse(
        client_known=known, last_sequence=store.last_sequence(client), user=feed.User(id=user) if token else None,
        channel_status=REFUSAL if FAULT == "deny" else None))


def ordered(posts, order, window):
    """The posts of a list, none of which is old; `skip` leaves one out of CONTROVERSIAL."""
    keys = {feed.TOP: lambda post: (-post.score, post.title), feed.NEW: lambda post: -post.id,
            feed.DISCUSSED: lambda post: -post.comment_count}
    posts = sorted(posts, key=keys.get(order, lambda post: post.id))
    is_short = order == feed.CONTROVERSIAL if FAULT == "skip" else FAULT == "shut" and window == feed.DAY
    return posts[is_short:]


def execute(store, client, sequence, request):
    """The answer to a call, without its id."""
    if FAULT == "busy" and sequence and (client, sequence) not in store.refused:
        store.refused.add((client, sequence))
        return feed.ServerFrame(status=BUSY)
    kind = request.WhichOneof("body")
    body = getattr(request, kind)
    viewer = str(request.acting_user_id or "")
    store.votes += kind == "cast_vote"
    record = [client, sequence] if sequence else None
    done = store.outcomes.get((client, sequence)) if sequence else None
    if kind == "create_post":
        post = done or store.last_id + 1
        if not done:
            store.change("post", post, {
                "feed": body.feed, "title": body.post.title, "comments": body.post.comment_count,
                "up": 0, "ballots": {}, "marks": {}, "created": int(1000 * time.time())}, record)
        return feed.ServerFrame(post=shown(post, store.posts[post]))
    if kind == "create_feed":
        if body.feed.name in store.feeds:
            return feed.ServerFrame(status=feed.Status(code=6, reason="FEED_EXISTS"))
        store.change("feed", body.feed.name, None, record)
        return feed.ServerFrame(feed=body.feed)
    if kind == "list_posts":
        first = int(body.page_token or b"0")
        posts = ordered([shown(*one, viewer) for one in store.posts.items()
                         if one[1]["feed"] == body.feed], body.order, body.window)
        end = first + body.page_size
        return feed.ServerFrame(list_posts=feed.ListPostsResponse(
            consistency=body.consistency,
            posts=posts[first:end], next_page_token=b"%d" % end if end < len(posts) else b""))
    if kind == "get_server_stats":
        votes = feed.MethodStats(method="cast_vote", num_requests=store.votes)
        return feed.ServerFrame(server_stats=feed.ServerStats(methods=[votes]))
    if kind == "mark_posts":
        return mark(store, viewer, body, None if done else record)
    if kind in ("sign_up", "sign_in"):
        return sign(store, kind, body)
    if kind == "ping":
        return feed.ServerFrame(ping=feed.PingResponse())
    if kind == "batch_cast_votes":
        if FAULT == "grow" and len(HELD) < 3:
            HELD.append(b"x" * (100 << 20))
        return feed.ServerFrame(batch_cast_votes=feed.BatchCastVotesResponse())
    if kind == "delete_post":
        if not done:
            store.change("post", body.id, None, record)
        return feed.ServerFrame(empty=feed.Empty())
    post = body.id if kind == "get_post" else getattr(body, "post_id", 0) or body.post.id
    state = dict(store.posts[post])
    if FAULT == "limit" and kind == "cast_vote" and state["feed"] == "ballots":
        return feed.ServerFrame(status=feed.Status(code=8, reason="RATE_LIMITED"))
    if kind == "cast_vote" and not done:
        if state["feed"] == "mixed":
            ballots = {**state["ballots"], viewer or client: body.direction}
            if FAULT == "merge":
                ballots = {client: body.direction}
            state["ballots"] = {voter: ballot for voter, ballot in ballots.items()
                                if ballot != feed.CLEAR}
        else:
            state["up"] += 1
    if kind == "update_post" and not done:
        state.update(title=body.post.title, comments=body.post.comment_count)
    if kind != "get_post" and not done:
        store.change("post", post, state, record)
    after = shown(post, state, viewer)
    if kind == "cast_vote":
        return feed.ServerFrame(cast_vote=feed.CastVoteResponse(
            post_id=post, upvote_count=after.upvote_count, downvote_count=after.downvote_count))
    return feed.ServerFrame(post=after)


def first_of(request, titles):
    """Whether `twice` does not answer: posts that it creates for the first time, but for a few."""
    return (FAULT == "twice" and request.HasField("create_post") and request.sequence > 9
            and request.create_post.post.title not in titles)


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        client, token, store = "", "", self.server.store
        while len(head := self.rfile.read(4)) == 4:
            request = feed.ClientFrame.FromString(self.rfile.read(*struct.unpack(">I", head)))
            with store.lock:
                before = {state["title"] for state in store.posts.values()}
                if FAULT == "crash" and request.sequence > 9:
                    os._exit(134)
                if request.HasField("hello"):
                    client = request.hello.client_id.hex()
                    token = request.hello.session_token.hex()
                    answer = greet(store, request.hello)
                elif request.HasField("sign_out"):
                    answer = sign_out(store, token, request.sign_out.everywhere)
                else:
                    answer = execute(store, client, request.sequence, request)
            if first_of(request, before):
                return  # executed, and never answered
            answer.id = request.id
            body = answer.SerializeToString()
            self.wfile.write(struct.pack(">I", len(body)) + body)


def flag(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def stop(store):
    print(store.hash(FAULT == "last"), flush=True)
    os._exit(3 if FAULT == "status" else 0)


def main():
    if sys.argv[1] == "verify":
        store = Store(sys.argv[-1])
        print(store.hash(FAULT == "drift"))
        if "--replay-all" in sys.argv:
            print(store.hash(FAULT in ("replay", "drift")).replace("state", "replayed"))
        return
    directory = sys.argv[sys.argv.index("--data-dir") + 1]
    if FAULT == "refuse" and os.path.exists(directory):
        sys.exit("feed-service: damaged")
    store = Store(directory)
    address = flag("--listen")
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer.daemon_threads = True
    socketserver.ThreadingTCPServer.request_queue_size = 128  # else a connect may wait for a second
    with socketserver.ThreadingTCPServer(("127.0.0.1", int(address.split(":")[1])), Handler) as server:
        server.store = store
        # Connections end as their clients want: without a word on it.
        server.handle_error = lambda *_: None
        signal.signal(signal.SIGTERM, lambda *_: stop(store))
        print(store.hash())
        print(f"listening on 127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()


main()
