"""Ten to twenty hosts attack a service, each in one way, beside a healthy client of another host.

What must hold: its votes, pages and sign-ins are answered nearly as on an idle service, or refused with the cause
where a sync hangs; memory stays within what docs/OPERATIONS.md says; and /ready, the log, a metric and an alert say
what is wrong and that it is over, within seconds.
"""

import collections
import contextlib
import fcntl
import functools
import http.client
import os
import re
import select
import subprocess
import tempfile
import threading
import time

import bystander
import hostile
import lag
import tally
from aside import Aside, MemoryWatch, Sampler
from feedclient import feed, read_key
from judge import RISE_SECONDS, Sample, Times, judge
from process import Certificate
from service import Connection, Service

POSTS = 100
POST_MEMORY = "32MiB"
SLACK_MIB = 32  # the allocator's own
CALM_SECONDS = 10  # after the end of an attack
ACCOUNT = ("healthy@example.org", "the right password")
SCRAPE_SECONDS = 0.5
PIPE_BYTES = 4096
LINE = re.compile(r"^([^#\s]\S*) (\S+)$", re.MULTILINE)
COUNTS = [("attacks", "")]  # of the summary
PIECE = "attack"

# What says that something is wrong: a text of /ready's 503, if it is one, lines of the log at its begin and at its
# end, and what a metric and an alert of monitoring/feed-service.rules.yaml make of a reading.
Says = collections.namedtuple("Says", "ready line over_line metric alert")
# What is done, flags of the service, whether a sync hangs, by how many MiB memory may grow, and what says so.
Attack = collections.namedtuple("Attack", "begin flags hangs bound_mib bound says")

LIMITS = ('feed_errors_total{reason="RATE_LIMITED"', 'feed_errors_total{reason="TOO_MANY_',
          'feed_errors_total{reason="NO_ROOM_FOR_POSTS"')


def limits_reached(reading):
    """FeedLimitsReached, over 2 s in place of a minute."""
    return reading.rise(*LIMITS) / RISE_SECONDS > 1


def calls_refused(reading):
    """FeedLimitsReached or FeedOverloaded, likewise."""
    return limits_reached(reading) or reading.rise('feed_errors_total{reason="OVERLOADED"') / RISE_SECONDS > 1


def rises(name):
    return lambda reading: reading.rise(name) > 0


def stalls(reading):
    """FeedStalled."""
    return reading.value("feed_oldest_held_seconds") > 5 or reading.value("feed_loop_stalled_seconds") > 5


def log_waits(reading):
    """FeedLogUnread, for a log of which no line is lost yet."""
    return reading.value("feed_log_waiting_seconds") > 2


def posts_fill_up(reading):
    """FeedPostMemoryFillsUp, without its five minutes."""
    return reading.value('feed_memory_bytes{kind="posts"') > 0.8 * reading.value("feed_post_limit_bytes") > 0


HANDSHAKES = 'feed_connections_closed_total{reason="handshake"'
ATTACKS = {
    "log": Attack(hostile.garbage, [], False, 1 + SLACK_MIB, "256 KiB of lines wait",
                  Says(None, None, "the log was not read for", log_waits, log_waits)),
    "hang": Attack(hostile.votes, [], True, 192 + SLACK_MIB, "192 MiB are held for connections",
                   Says("has stood still", "a commit has stood still", "commits go on", stalls, stalls)),
    "hellos": Attack(hostile.hellos, [], False, 170 + SLACK_MIB, "2,048 handshakes of 85 KiB are under way",
                     Says(None, "No TLS connection from 127.0.0.", None, rises(HANDSHAKES),
                          lambda reading: reading.rise(HANDSHAKES) / RISE_SECONDS > 10)),
    "watches": Attack(hostile.watches, [], False, 192 + SLACK_MIB, "192 MiB are held for connections",
                      Says(None, "refused watch_posts from 127.0.0.", None,
                           rises('feed_errors_total{reason="TOO_MANY_WATCHES"'), limits_reached)),
    "signins": Attack(hostile.sign_ins, [], False, 38 + SLACK_MIB, "two passwords of 19 MiB are hashed",
                      Says(None, "refused sign_in from 127.0.0.", None, rises("feed_sign_ins_refused_total"),
                           calls_refused)),
    "posts": Attack(hostile.posts, ["--max-post-memory", POST_MEMORY], False, 32 + 32 + 20 + SLACK_MIB,
                    "--max-post-memory, twice where they wait for a checkpoint; 20 MiB of hosts and limits",
                    Says(None, "refused create_post from 127.0.0.", None, rises("feed_posts_refused_total"),
                         posts_fill_up)),
}


def add_flags(parser):
    parser.add_argument("--only", nargs="+", metavar="ATTACK", choices=ATTACKS,
                        help="of " + ", ".join(ATTACKS) + "; all of them if not given")
    parser.add_argument("--seconds", type=tally.count, default=30, help="of each attack, and alone before it")
    parser.add_argument("--hang", type=tally.count, default=60, help="seconds in which a sync hangs")
    parser.add_argument("--factor", type=float, default=5,
                        help="the p99 of votes, pages and sign-ins may be so many times as long")


def pieces(options):
    return {name: functools.partial(withstand, name) for name in options.only or ATTACKS}


# ---- What an operator sees of a service: its log, /ready and /metrics, each with the time when it was seen

class Pipe:
    """Standard error of a service as a small pipe, which can be left unread. What is read goes into a file."""

    def __init__(self):
        self.file, self.lines, self.reads = tempfile.TemporaryFile("w+"), [], threading.Event()
        self.reads.set()
        self.end, self.theirs = os.pipe()
        fcntl.fcntl(self.theirs, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        threading.Thread(target=self._run, daemon=True).start()

    def fileno(self):
        return self.theirs

    def fill(self):
        """From now on it is not read, and full."""
        self.reads.clear()
        # The thread still waits for bytes, which it takes.
        while select.select([], [self.theirs], [], 0.2)[1]:
            os.write(self.theirs, b" " * (PIPE_BYTES - 1) + b"\n")

    def close(self):
        """It ends once the service has ended, too."""
        os.close(self.theirs)

    def _run(self):
        rest = b""
        while True:
            self.reads.wait()
            data = os.read(self.end, PIPE_BYTES)
            if not data:
                os.close(self.end)
                return
            now = time.monotonic()
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                self.lines.append((now, line.decode()))
            if not self.file.closed:
                self.file.write(data.decode(errors="replace"))
                self.file.flush()


class Watcher(Sampler):
    """What the operator's address says."""

    def __init__(self, port):
        super().__init__(SCRAPE_SECONDS)
        self.port, self.samples = port, []

    def get(self, path):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def sample(self):
        try:
            status, text = self.get("/ready")
            page = {name: float(value) for name, value in LINE.findall(self.get("/metrics")[1])}
        except OSError as error:
            status, text, page = 0, str(error), {}
        self.samples.append(Sample(time.monotonic(), status, text, page))


# ---- A run

class Town:
    """A service with plain and TLS addresses for callers who all are strangers, and what is in it."""

    def __init__(self, options, directory, attack):
        certificate = Certificate(directory)
        keys, self.key = directory + "/keys", directory + "/operator.key"
        with open(os.open(keys, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            subprocess.run([options.binaries + "/feed-service", "new-service-key", "operator", self.key,
                            "--role", "operator"], check=True, stdout=file)
        self.set_delay, environment = lambda _: None, None
        if attack.hangs:
            environment, self.set_delay = lag.preloaded(directory, "/journal/")
        self.pipe = Pipe()
        self.service = Service(
            options.binaries, directory + "/data",
            ["--listen-tls", "127.0.0.1:0", *certificate.flags,
             "--admin", "127.0.0.1:0", "--service-keys", keys, "--limit-loopback", *attack.flags],
            env=environment, pipe=self.pipe)
        text = self.service.text()
        self.ports = hostile.Ports(self.service.port, self.port(text, r"127\.0\.0\.1:(\d+) \(TLS\)"))
        self.admin = self.port(text, r"http://127\.0\.0\.1:(\d+)/")
        self.certificate, self.posts = certificate.path, []

    def fill(self):
        with Connection(self.ports.plain) as connection:
            connection.sign_up(*ACCOUNT)
            self.posts = [connection.create_post(feed.Post(title=f"post {number}")).id for number in range(POSTS)]

    @staticmethod
    def port(text, pattern):
        return int(re.search(pattern, text).group(1))

    def delete_posts(self):
        """What an operator does after a flood."""
        with Connection(self.ports.plain) as connection:
            connection.hello(service_key=read_key(self.key))
            for host in hostile.HOSTS[:10]:
                request = feed.DeletePostsRequest(host=host, apply=True)
                while True:
                    answer = connection.call(delete_posts=request).delete_posts
                    if not answer.next_after_id:
                        break
                    request.after_id = answer.next_after_id


def withstand(name, options, directory, say):
    """Makes one attack; its figures."""
    attack = ATTACKS[name]
    town = Town(options, directory, attack)
    with contextlib.closing(town.pipe), town.service as service, Watcher(town.admin) as watcher, \
            contextlib.ExitStack() as stack:
        town.fill()
        arguments = [town.posts] if name == "hang" else []
        if name == "hellos":
            arguments = [hostile.client_hellos()]
            say("groups: " + " ".join(arguments[0]))
        client = Aside(bystander.run, town.ports.tls, town.certificate, town.posts, ACCOUNT)
        time.sleep(2)
        idle = time.monotonic()
        time.sleep(options.seconds)
        if name == "log":
            town.pipe.fill()
        memory = stack.enter_context(MemoryWatch(service.pid))
        begin = time.monotonic()
        hostiles = Aside(attack.begin, town.ports, *arguments, niceness=hostile.NICENESS)
        stack.callback(hostiles.stopping.set)
        if attack.hangs:
            begin = time.monotonic()
            town.set_delay(3_600_000)
        time.sleep(options.hang if attack.hangs else options.seconds)
        end = over = time.monotonic()
        town.set_delay(0)
        hostiles.stop()
        town.pipe.reads.set()
        if name == "posts":
            town.delete_posts()
            over = time.monotonic()
        time.sleep(CALM_SECONDS)
        calls = client.stop()
        grown = round((memory.highest - memory.before) / (1 << 20), 1)
        piece = judge(attack, calls, watcher.samples, town.pipe.lines, Times(idle, begin, end, over), grown,
                      options.factor)
        service.stop()
    with open(f"{options.output}/attackers-{name}.log", "w") as file:
        file.writelines(f"{at - begin:9.3f} {line}\n" for at, line in town.pipe.lines)
    return piece
