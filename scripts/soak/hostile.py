"""What hosts do in attacks: each in one process of niceness 10, as they stand for other machines, until it is
stopped. None of it waits for what the service answers, unless it says so."""

import collections
import multiprocessing
import os
import select
import socket
import subprocess
import time

import feed_pb2 as feed
from wire import framed

HOSTS = [f"127.0.0.{number}" for number in range(2, 22)]
NICENESS = 10
GROUPS = ["X25519", "P-256", "P-384", "P-521", "X448", "ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144", "ffdhe8192"]
HOST_CONNECTIONS, WATCHES = 750, 16
READ_BYTES = 1 << 16
HANDSHAKE = b"\x16"
# As texts may have: 46 KB.
TEXT = "\U0001D11E" * 10_000
URL = "https://example.org/" + "x" * 1900

Ports = collections.namedtuple("Ports", "plain tls")


def connected(port, host):
    one = socket.socket()
    one.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24), 1)
    one.settimeout(10)
    one.bind((host, 0))
    try:
        one.connect(("127.0.0.1", port))
    except OSError:
        one.close()
        return None
    one.setblocking(False)
    return one


class Crowd:
    """Connections whose answers are read and dropped; those that the service closes are forgotten."""

    def __init__(self):
        self.poller, self.sockets = select.epoll(), {}

    def add(self, one):
        self.sockets[one.fileno()] = one
        self.poller.register(one, select.EPOLLIN)

    def drop(self, one):
        self.poller.unregister(one)
        del self.sockets[one.fileno()]
        one.close()

    def read(self, seconds):
        """The bytes that came, by connection."""
        came = collections.Counter()
        for descriptor, _ in self.poller.poll(seconds):
            one = self.sockets[descriptor]
            try:
                data = one.recv(READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if data:
                came[one] += len(data)
            else:
                self.drop(one)
        return came

    def send(self, one, data):
        """Sends all of it, or closes the connection."""
        try:
            if one.fileno() >= 0 and one.send(data) == len(data):
                return True
        except BlockingIOError:
            return False  # the service does not read from it now
        except OSError:
            pass
        if one.fileno() >= 0:
            self.drop(one)
        return False


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


def garbage(ports, stopping, rate=200):
    """Four bytes FF on each connection."""
    crowd = Crowd()
    for number in paced(rate, stopping, crowd):
        one = connected(ports.plain, HOSTS[number % 10])
        if one:
            crowd.add(one)
            crowd.send(one, b"\xff" * 4)


def votes(ports, stopping, posts, rate=1000):
    """Votes of ten hosts, on four connections each."""
    crowd = Crowd()
    sockets = [connected(ports.plain, HOSTS[number % 10]) for number in range(40)]
    for one in filter(None, sockets):
        crowd.add(one)
    for number in paced(rate, stopping, crowd):
        one = sockets[number % 40]
        vote = feed.CastVoteRequest(post_id=posts[number % len(posts)], direction=feed.UP)
        if one:
            crowd.send(one, framed(number + 1, cast_vote=vote))


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


def hellos(ports, stopping, messages, rate=100):
    """The first message of a handshake, at a rate for each group, and no other."""
    crowd, names = Crowd(), list(messages)
    for number in paced(rate * len(names), stopping, crowd):
        one = connected(ports.tls, HOSTS[number % 10])
        if one:
            crowd.add(one)
            crowd.send(one, messages[names[number % len(names)]])


def watches(ports, stopping, host_connections=HOST_CONNECTIONS, rate=1000):
    """All watches for each of ten hosts; those that are refused are asked for again, at a rate."""
    crowd, sockets = Crowd(), []
    def begin(number):
        return framed(number, watch_posts=feed.WatchPostsRequest(
            feed="posts", order=feed.TOP, top_count=20, min_interval_ms=50))
    first = b"".join(begin(number) for number in range(1, WATCHES + 1))
    for number in range(10 * host_connections):
        one = connected(ports.plain, HOSTS[number % 10])
        if one:
            crowd.add(one)
            crowd.send(one, first)
            sockets.append(one)
        if number % 50 == 0:
            crowd.read(0)
        if stopping.is_set():
            return
    for number in paced(rate, stopping, crowd):
        if sockets:
            crowd.send(sockets[number % len(sockets)], begin(WATCHES + 1 + number))


def sign_ins(ports, stopping, rate=500):
    """From twenty hosts wrong passwords, and right ones of an account of each host's own."""
    crowd = Crowd()
    sockets = [connected(ports.plain, HOSTS[number % 20]) for number in range(80)]
    for one in filter(None, sockets):
        crowd.add(one)
    for number in paced(rate, stopping, crowd):
        one = sockets[number % 80]
        right = number // 80 % 2 == 0
        email = f"host-{number % 20}@example.org" if right else f"person-{number % 997}@example.org"
        if one:
            crowd.send(one, framed(number + 1, sign_in=feed.SignInRequest(
                email=email, password="its password" if right else "not the password",
                create_if_missing=right)))


def posts(ports, stopping, rate=200):
    """Posts of 46 KB of nobody."""
    crowd, waiting = Crowd(), {}
    sockets = [connected(ports.plain, HOSTS[number % 10]) for number in range(40)]
    for one in filter(None, sockets):
        crowd.add(one)
    post = feed.Post(title="t" * 250, text=TEXT, link_url=URL, thumbnail_url=URL, image_url=URL)
    for number in paced(rate, stopping, crowd):
        one = sockets[number % 40]
        if not one or one.fileno() < 0:
            continue
        data = waiting.pop(one, b"") or framed(
            number + 1, create_post=feed.CreatePostRequest(feed="posts", post=post))
        try:
            rest = data[one.send(data):]
        except BlockingIOError:
            rest = data
        except OSError:
            crowd.drop(one)
            continue
        if rest:
            waiting[one] = rest


def run(attack, arguments, stopping):
    os.nice(NICENESS)
    attack(*arguments[:1], stopping, *arguments[1:])


class Hostile:
    """An attack in its process; all of its connections close with it."""

    def __init__(self, attack, *arguments):
        self.stopping = multiprocessing.Event()
        self.process = multiprocessing.Process(target=run, args=(attack, arguments, self.stopping), daemon=True)
        self.process.start()

    def stop(self):
        self.stopping.set()
        self.process.join()
