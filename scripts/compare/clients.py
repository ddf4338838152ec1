"""Runs the clients: pump against anything, redis-benchmark against Redis, loadgen, and calls of the client for Python."""

import concurrent.futures
import json
import subprocess
import time

import feedclient
import loadgen
import machine
import servers
from feedclient import feed

FIRST_PAGES_PER_SECOND = 1000
PAGE_SIZE = 20
IMPORT_POSTS = 256  # in a frame, of which so many are in flight
IMPORTS_IN_FLIGHT = 4
LONGEST_IMPORT_SECONDS = 60  # of a frame
# The values of a measurement that add up with those of the next.
COUNTED = ("seconds", "votes", "pages", "client_seconds", "server_seconds", "busy_seconds", "steal_seconds")


class Sample:
    """One measurement: the answers, the seconds, and the processor time of server and client."""

    def __init__(self, values, **more):
        self.values = {**values, **more}
        self.seconds, self.votes, self.pages = values["seconds"], values["votes"], values.get("pages", 0)
        self.client_seconds = values["client_seconds"]

    def __str__(self):
        if not self.votes + self.pages:  # posts were made
            return f"{self.seconds:.2f} s"
        late = f"p99 {self.values['p99_ms']:.2f} ms, " if self.values.get("latencies") else ""
        return (f"{self.operation_cost:.3f} CPU-s/M, {(self.votes + self.pages) / self.seconds:,.0f}/s, {late}"
                f"others {self.others:.1%}, steal {self.steal:.1%}")

    @staticmethod
    def _each(seconds, count):
        """The seconds of a million."""
        if count <= 0:
            raise RuntimeError("nothing was answered in the measured time")
        return seconds / count * 1e6

    @property
    def server_seconds(self):
        """Without the kernel's run times (CONFIG_SCHED_INFO) every cost would be 0."""
        if self.values["server_seconds"] <= 0:
            raise RuntimeError("the kernel says nothing of the server's processor time")
        return self.values["server_seconds"]

    @property
    def core_share(self):
        """How much of the time the server ran; far below 1 it was the client that had enough."""
        return self.server_seconds / self.seconds

    @property
    def votes_per_second(self):
        return self.votes / self.seconds

    @property
    def cost(self):
        """CPU-seconds of the server per million votes."""
        return self._each(self.server_seconds, self.votes)

    @property
    def client_cost(self):
        return self._each(self.client_seconds, self.votes)

    @property
    def operation_cost(self):
        """Microseconds of processor time of a vote or a page."""
        return self._each(self.server_seconds, self.votes + self.pages)

    @property
    def steal(self):
        """The share of the machine that its host took."""
        return self.values["steal_seconds"] / self.seconds / len(machine.cores())

    @property
    def others(self):
        """The share of the machine that other processes took, as far as clock ticks can tell."""
        rest = self.values["busy_seconds"] - self.server_seconds - self.client_seconds
        return max(0, rest) / self.seconds / len(machine.cores())


def total(samples):
    """Measurements of one server as one: sums of what was counted, and no latencies."""
    return Sample({name: sum(sample.values[name] for sample in samples) for name in COUNTED
                   if name in samples[0].values})


def pump(options, server, **flags):
    """One run of pump against a server; its flags by name, with _ for -."""
    flags = {"connections": options.connections, "posts": options.posts, "warmup": options.warmup,
             "seconds": options.seconds, **flags}
    command = [options.floor + "/pump", "--port", server.port, "--server-pid", server.pid]
    if isinstance(server, servers.Redis):
        command += ["--protocol", "resp"]
    for name, value in flags.items():
        command += ["--" + name.replace("_", "-")] + ([] if value is True else [value])
    command = [str(word) for word in command]
    result = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=servers.prepared(client=True), timeout=600)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}{result.stdout}")
    return Sample(json.loads(result.stdout))


def posts_of(numbers, has_past):
    """Posts of now without votes, or with times from 2020 on and votes of their own. The first bytes of titles
    differ, as in life."""
    now = int(1000 * time.time())
    for number in numbers:
        title = f"{number * 2654435761 % (1 << 32):08x}: what a post of {number} is called by who wrote it"
        author = feed.User(display_name=f"author{number % 50_000}")
        mixed = number * 2246822519 % (1 << 32)
        past = {"create_time_ms": 1577836800000 + 20 * mixed, "upvote_count": mixed % 5000,
                "downvote_count": mixed % 700} if has_past else {"create_time_ms": now}
        yield feed.Post(title=title, author=author, comment_count=number % 1000, **past)


def imports(posts, name="posts", has_past=False):
    """The frames that import so many posts."""
    for call, first in enumerate(range(0, posts, IMPORT_POSTS)):
        numbers = range(first, min(first + IMPORT_POSTS, posts))
        yield feedclient.framed(1 + call, import_posts=feed.ImportPostsRequest(
            feed=name, posts=posts_of(numbers, has_past)))


def import_posts(server, frames):
    """Sends frames over one connection, as they are answered; the measurement, with the id of the last post."""
    def answer(connection, call):
        frame = connection.receive(call, time.monotonic() + LONGEST_IMPORT_SECONDS)
        if frame.HasField("status"):
            raise feedclient.Refused(frame.status)
        return frame.import_posts.ids[-1]

    def send():
        before, used = clocks(server), time.process_time()
        with connected(server) as connection:
            for sent, frame in enumerate(frames, 1):
                connection.socket.sendall(frame)
                if sent > IMPORTS_IN_FLIGHT:
                    answer(connection, sent - IMPORTS_IN_FLIGHT)
            for call in range(max(1, sent - IMPORTS_IN_FLIGHT + 1), sent + 1):
                last = answer(connection, call)
        return Sample({**between(before, clocks(server)), "client_seconds": time.process_time() - used, "votes": 0},
                      last_post_id=last)

    # In a thread, as only that one has to leave the server's core.
    with concurrent.futures.ThreadPoolExecutor(1, initializer=servers.pin, initargs=[True]) as thread:
        return thread.submit(send).result()


def read_orders(server, name="posts"):
    """Reads the first pages of TOP, NEW and HOT, which are kept then."""
    with connected(server) as connection:
        for order in (feed.TOP, feed.NEW, feed.HOT):
            page = connection.list_posts(feed.ListPostsRequest(feed=name, order=order, page_size=PAGE_SIZE))
            if len(page.posts) != PAGE_SIZE:
                raise RuntimeError(f"a page of {PAGE_SIZE} posts has {len(page.posts)}")


def fill(server, posts, name="posts"):
    """Makes the posts, and has the first page of TOP, NEW and HOT read once so that they are kept; Redis
    gets members of the length that redis-benchmark makes."""
    if isinstance(server, servers.Redis):
        for first in range(0, posts, 5000):
            members = range(first, min(first + 5000, posts))
            server.call("ZADD", "posts", *(word for m in members for word in (0, f"p{m:012}")))
    elif not isinstance(server, servers.Floor):
        last = import_posts(server, imports(posts, name)).values["last_post_id"]
        if last != posts:
            raise RuntimeError(f"the service was not empty: the last of {posts} posts is {last}")
        read_orders(server, name)


def clocks(server):
    """The time, and the processor time of a server and of the machine, since some moment."""
    busy, steal = machine.machine_seconds()
    return {"seconds": time.monotonic(), "server_seconds": machine.cpu_seconds(server.pid), "busy_seconds": busy,
            "steal_seconds": steal}


def between(before, after):
    return {name: after[name] - before[name] for name in before}


def redis_benchmark(options, redis, in_flight, posts=None, connections=None, seconds=None, key="posts"):
    """Votes by redis-benchmark: its run is longer than the time between the two readings."""
    posts = posts or options.posts
    command = ["redis-benchmark", "-h", "127.0.0.1", "-p", redis.port, "-c", connections or options.connections,
               "-P", in_flight, "-r", posts, "-n", 10**9, "-q",
               "ZINCRBY", key, "1", "p__rand_int__"]
    client = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=servers.prepared(client=True))

    def reading():
        votes = redis.votes()  # first: it waits for an answer, and the clocks belong together
        return {"votes": votes, **clocks(redis), "client_seconds": machine.cpu_seconds(client.pid)}

    try:
        time.sleep(options.warmup)
        before = reading()
        time.sleep(seconds or options.seconds)
        after = reading()
        if client.poll() is not None:
            raise RuntimeError(f"redis-benchmark ended early, with {client.returncode}")
    finally:
        client.kill()
        client.wait()
    if redis.call("ZCARD", key) != posts:
        raise RuntimeError("redis-benchmark voted on members that the set did not have")
    return Sample(between(before, after))


def run_loadgen(options, server, *flags, seconds=600):
    """A run of loadgen against a server, on the clients' cores; its report."""
    return loadgen.run(
        options.binaries, "--target", f"127.0.0.1:{server.port}", "--threads", 1, "--warmup",
        f"{options.warmup}s", *flags, seconds=seconds, preexec_fn=servers.prepared(client=True))


def connected(server):
    """A connection for calls, one after another."""
    return feedclient.Connection(f"127.0.0.1:{server.port}", timeout=30)
