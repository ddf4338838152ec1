"""What hosts do in attacks, until they are stopped. None of it waits for what the service answers, unless it says
so."""

import collections
import select
import socket
import subprocess
import time

from crowd import READ_BYTES, Crowd
from feedclient import feed, framed

HOSTS = [f"127.0.0.{number}" for number in range(2, 22)]
NICENESS = 10  # of their processes, as they stand for other machines
GROUPS = ["X25519", "P-256", "P-384", "P-521", "X448", "ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144",
          "ffdhe8192"]
HOST_CONNECTIONS, WATCHES = 750, 16
HANDSHAKE = b"\x16"
# As long as texts may be: 46 KB.
URL = "https://example.org/" + "x" * 2000
LARGE_POST = feed.Post(title="t" * 250, text="\U0001D11E" * 10_000, link_url=URL, thumbnail_url=URL, image_url=URL)

Ports = collections.namedtuple("Ports", "plain tls")


def paced(rate, stopping, crowd):
    """Numbers at a rate, until it is stopped; what is answered meanwhile is read."""
    began, number = time.monotonic(), 0
    while not stopping.is_set():
        while number < (time.monotonic() - began) * rate and not stopping.is_set():
            yield number
            number += 1
            if number % 64 == 0:
                crowd.read(0)
        crowd.read(0.005)


def greet(port, rate, stopping, greetings):
    """One of some first messages on each connection, in turn."""
    crowd = Crowd()
    for number in paced(rate, stopping, crowd):
        crowd.send(crowd.connect(port, HOSTS[number % 10]), greetings[number % len(greetings)])


def call(port, rate, stopping, hosts, request):
    """Calls, each made of its number, on four connections of each host."""
    crowd = Crowd()
    peers = [crowd.connect(port, HOSTS[number % hosts]) for number in range(4 * hosts)]
    for number in paced(rate, stopping, crowd):
        peer = peers[number % len(peers)]
        if peer and peer.is_open and not peer.rest:
            crowd.send(peer, framed(number + 1, **request(number)))


def garbage(ports, stopping, rate=200):
    """Four bytes FF on each connection."""
    greet(ports.plain, rate, stopping, [b"\xff" * 4])


def votes(ports, posts, stopping, rate=1000):
    """Votes of ten hosts."""
    call(ports.plain, rate, stopping, 10, lambda number: {"cast_vote": feed.CastVoteRequest(
        post_id=posts[number % len(posts)], direction=feed.UP)})


def client_hello(group):
    """What OpenSSL's client begins with that offers one group; None where it does not know it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{listener.getsockname()[1]}", "-groups", group,
             "-alpn", "feed/1", "-servername", "localhost", "-tls1_3"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while client.poll() is None:  # it ends where it does not know the group
                if select.select([listener], [], [], 0.01)[0]:
                    plain, _ = listener.accept()
                    with plain:
                        data = plain.recv(READ_BYTES)
                        return data if data[:1] == HANDSHAKE else None
            return None
        finally:
            client.kill()
            client.wait()


def client_hellos():
    """The first messages for every group that OpenSSL knows for TLS 1.3, by the group's name."""
    # From OpenSSL 3.5 on it lists them; others get no message.
    newer = subprocess.run(["openssl", "list", "-tls-groups"], capture_output=True, text=True).stdout
    found = {name: client_hello(name) for name in dict.fromkeys([*GROUPS, *newer.strip().split(":")]) if name}
    return {name: hello for name, hello in found.items() if hello}


def hellos(ports, messages, stopping, rate=100):
    """The first message of a handshake, at a rate for each group, and no other."""
    greet(ports.tls, rate * len(messages), stopping, list(messages.values()))


def watches(ports, stopping, host_connections=HOST_CONNECTIONS, rate=1000):
    """All watches for each of ten hosts; those that are refused are asked for again, at a rate."""
    crowd, peers = Crowd(), []
    def begin(number):
        return framed(number, watch_posts=feed.WatchPostsRequest(
            feed="posts", order=feed.TOP, top_count=20, min_interval_ms=50))
    first = b"".join(begin(number) for number in range(1, WATCHES + 1))
    for number in range(10 * host_connections):
        peers.append(crowd.connect(ports.plain, HOSTS[number % 10]))
        crowd.send(peers[-1], first)
        if number % 50 == 0:
            crowd.read(0)
        if stopping.is_set():
            return
    for number in paced(rate, stopping, crowd):
        crowd.send(peers[number % len(peers)], begin(WATCHES + 1 + number))


def sign_ins(ports, stopping, rate=500):
    """From twenty hosts wrong passwords, and right ones of an account of each host's own."""
    def request(number):
        right = number // 80 % 2 == 0
        email = f"host-{number % 20}@example.org" if right else f"person-{number % 997}@example.org"
        password = "its password" if right else "not the password"
        return {"sign_in": feed.SignInRequest(email=email, password=password, create_if_missing=right)}
    call(ports.plain, rate, stopping, 20, request)


def posts(ports, stopping, rate=200):
    """Posts of 46 KB of nobody."""
    request = feed.CreatePostRequest(feed="posts", post=LARGE_POST)
    call(ports.plain, rate, stopping, 10, lambda _: {"create_post": request})
