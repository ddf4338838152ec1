"""Sign-ins at 1,000 a second, on one account and on many, beside votes and pages.

Passwords are hashed on one thread of the lowest priority, and most sign-ins are refused without a hash.
So votes and pages at a quarter of the service's capacity take no longer than without the sign-ins.
"""

import json
import os
import random
import select
import shutil
import socket
import statistics
import struct
import subprocess
import threading
import time

import feed_pb2 as feed
from service import Failure, Service
from tally import Tally

CONNECTIONS = 16
MIX = "vote=90,list=10"
LOAD_SECONDS = 600  # after which a load has hung
LEAST_SENT = 0.9    # of the sign-ins that are due
FLOODS = ("one", "many")


def frame_of(number, account):
    frame = feed.ClientFrame(id=number, sign_in=feed.SignInRequest(
        email=f"{account}@example.org", password="not the password")).SerializeToString()
    return struct.pack(">I", len(frame)) + frame


class Flood(threading.Thread):
    """Sign-ins with wrong passwords, at a rate, over some connections; counts what is answered."""

    def __init__(self, port, rate, accounts):
        super().__init__(daemon=True)
        self.rate, self.accounts = rate, accounts
        self.ended, self.failure = threading.Event(), None
        self.sent, self.seconds, self.reasons = 0, 0, {}
        self.sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
        self.pending = {one: b"" for one in self.sockets}
        self.random = random.Random(accounts)

    def run(self):
        began = time.monotonic()
        try:
            while not self.ended.is_set():
                due = int((time.monotonic() - began) * self.rate) - self.sent
                for _ in range(due):
                    self._send()
                self._receive()
        except OSError as error:
            self.failure = f"a connection of the sign-ins was lost: {error}"
        self.seconds = time.monotonic() - began
        for one in self.sockets:
            one.close()

    def _send(self):
        connection = self.sockets[self.sent % CONNECTIONS]
        account = f"account-{self.random.randrange(self.accounts)}"
        connection.sendall(frame_of(self.sent // CONNECTIONS + 1, account))
        self.sent += 1

    def _receive(self):
        ready, _, _ = select.select(self.sockets, [], [], 0.002)
        for one in ready:
            received = one.recv(1 << 16)
            if not received:
                raise OSError("the service closed it")
            data = self.pending[one] + received
            while len(data) >= 4 and len(data) >= 4 + struct.unpack(">I", data[:4])[0]:
                end = 4 + struct.unpack(">I", data[:4])[0]
                status = feed.ServerFrame.FromString(data[4:end]).status
                self.reasons[status.reason] = self.reasons.get(status.reason, 0) + 1
                data = data[end:]
            self.pending[one] = data

    def stop(self):
        """Ends the sign-ins, and returns what was answered. Raises Failure."""
        self.ended.set()
        self.join(30)
        if self.failure:
            raise Failure(self.failure)
        if self.sent < LEAST_SENT * self.rate * self.seconds:
            raise Failure(f"only {self.sent} sign-ins were sent in {self.seconds:.1f} s: the machine "
                          "is too busy")
        if "UNKNOWN_METHOD" in self.reasons:
            raise Failure("the service has no accounts")
        if self.reasons.get("", 0) > 0:
            raise Failure("a sign-in with a wrong password succeeded")
        return {"sent": self.sent, "answers": self.reasons}


def load(options, port, seconds, *flags):
    """One run of loadgen; its report."""
    report = options.output + "/signins-run.json"
    finished = subprocess.run(
        [options.binaries + "/loadgen", "--target", f"127.0.0.1:{port}", "--clients", "50",
         "--threads", "1", "--pipeline", "16", "--mix", MIX, "--warmup", "1",
         "--duration", f"{seconds}s", "--quiet", "--json", report, *flags],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LOAD_SECONDS)
    if finished.returncode != 0:
        raise Failure(f"loadgen ended with {finished.returncode}:\n{finished.stdout}"
                      f"{finished.stderr}")
    with open(report) as file:
        return json.load(file)


def p99s(options, port, rate):
    told = load(options, port, options.seconds, "--rate", str(rate))
    try:
        return {name: told["ops"][operation]["response_ms"]["p99"]
                for name, operation in (("votes", "vote"), ("pages", "list"))}
    except KeyError as error:
        raise Failure(f"too few votes or pages for a percentile: no {error}") from error


def flooded(options, port, rate, accounts):
    """The latencies beside sign-ins on so many accounts, and what these were answered."""
    flood = Flood(port, options.rate, accounts)
    flood.start()
    try:
        taken = p99s(options, port, rate)
    finally:
        answers = flood.stop()
    return taken, answers


def ratios(pairs):
    """With ÷ without, of each kind: the median of the rounds."""
    return {kind: round(statistics.median(after[kind] / before[kind] for before, after in pairs), 2)
            for kind in ("votes", "pages")}


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    with Service(options.binaries, directory + "/data") as service:
        capacity = load(options, service.port, options.seconds)["requests_per_second"]
        rate = max(1, int(capacity / 4))
        piece = {"rate": rate}
        for name, accounts in zip(FLOODS, (1, options.accounts)):
            pairs, answers = [], {}
            for number in range(options.rounds):
                before = p99s(options, service.port, rate)
                after, answers = flooded(options, service.port, rate, accounts)
                pairs.append((before, after))
                say(f"{name}, round {number + 1}: {before} without, {after} with {answers}")
            piece[name] = {"ratios": ratios(pairs), "rounds": pairs, **answers}
            say(f"{name}: {piece[name]['ratios']}")
        service.stop()
    check(options, piece)
    return piece


def check(options, piece):
    """Raises Failure where votes or pages took too much longer."""
    for name in FLOODS:
        for kind, ratio in piece[name]["ratios"].items():
            if ratio > options.factor:
                raise Failure(f"sign-ins on {name} account{'s' * (name == 'many')}: the p99 of {kind} is "
                              f"{ratio} times as long, over {options.factor}")


def run(options, say):
    tally = Tally(options.output, "signins")
    directory = options.output + "/signins-data"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    started = time.monotonic()
    piece = {"failures": []}
    try:
        piece.update(live_through(options, directory, say))
        shutil.rmtree(directory)
    except (Failure, OSError, subprocess.SubprocessError) as failure:
        piece["failures"] = [str(failure)]
        say(str(failure))
    piece["seconds"] = round(time.monotonic() - started, 2)
    piece["signins"] = sum(piece.get(name, {}).get("sent", 0) for name in FLOODS)
    tally.add(piece)
    counts = [("runs", len(tally.pieces)), ("sign-ins beside the last rounds", tally.sum("signins"))]
    return tally, counts, True
