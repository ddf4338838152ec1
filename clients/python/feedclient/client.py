"""A client that connects again, and sends a call again if that cannot execute it twice."""

import random
import secrets
import ssl
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, Self

from . import feed_pb2 as feed
from .calls import NUMBERED, READS, Calls
from .connection import Connection
from .errors import Lost, Refused
from .frames import FRAME_BYTE_LIMIT
from .route import FOR_OTHERS, Route, leader_of

# The wait before a call is sent again is random, up to the first of these, which doubles up to the second.
FIRST_WAIT_SECONDS, MOST_WAIT_SECONDS = 0.05, 2.0
# The service ends a connection after 90 s of silence: one that was silent for so long is not used again.
IDLE_SECONDS = 75.0
# How long a service of a cluster may be silent during a call before another one is asked.
SILENCE_SECONDS = 1.0
# Refusals that say nothing of an earlier try of a numbered call: docs/PROTOCOL.md, "The answer".
OF_THIS_FRAME = FOR_OTHERS | {"SESSION_EXPIRED", "IDENTITY_REQUIRED", "SERVICE_ONLY", "ROLE_DENIED", "DEADLINE_EXCEEDED",
                              "INSTANCE_CHANGED", "CHANNEL_FENCED", "OVERLOADED"}
# What operates one service of a cluster, which the leader has no part in.
OF_ONE_SERVICE = frozenset({"backup", "drain", "set_log_level"})


class Client(Calls):
    """Calls over a connection that is opened again once it is gone, for one thread.

    `timeout` is the seconds of a call with all of its attempts. With a `client_id`, 16 random bytes that the
    program keeps, changes are numbered on a channel, so that each is executed once. A program that goes on
    with the channel of an earlier process names it, the highest sequence that was used on it, and the
    `instance_id` and `channel_number` of then, which this class and a Lost have: a call that is sent again with
    its sequence is Lost, and not sent, once the channel is another one.

    `address` may be the addresses of a cluster's services: the client finds the one that leads. With `reads`
    "any" it reads from the first one that answers, whose state may be some seconds old, until it has a change.
    """

    def __init__(self, address: str | Sequence[str], *, tls: ssl.SSLContext | None = None,
                 server_name: str = "", timeout: float = 10.0, attempts: int = 4, client_name: str = "feedclient",
                 client_id: bytes = b"", channel: int | None = None, last_sequence: int = 0,
                 instance_id: int = 0, channel_number: int = 0,
                 service_key: bytes = b"", session_token: bytes = b"",
                 reads: Literal["leader", "any"] = "leader") -> None:
        self.route = Route([address] if isinstance(address, str) else address)
        self.timeout, self.attempts, self.reads = timeout, attempts, reads
        self.client_id, self.last_sequence = client_id, last_sequence
        self.channel = secrets.randbits(32) if channel is None else channel
        # Each connection shows it. SignUp and SignIn set it, SignOut removes it.
        self.session_token = session_token
        # The answer to the last Hello: the limits, the capabilities and the instance of the service.
        self.service = feed.HelloResponse()
        self._tls, self._server_name = tls, server_name
        self._introduction = {"client_name": client_name, "client_id": client_id, "service_key": service_key}
        self._connection: Connection | None = None
        # The channel as the last answer to a Hello on it names it; 0 where that says nothing.
        self.instance_id, self.channel_number = instance_id, channel_number
        # The service does not know what became of the sequences up to this one.
        self._forgotten_sequence = 0
        # Whether the last Hello on the channel had no answer.
        self._has_open_hello = False
        self.ping()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection; a later call opens one again."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def call(self, *, timeout: float | None = None, sequence: int = 0, acting: int = 0, min_revision: int = 0,
             **request: Any) -> feed.ServerFrame:
        method = next(iter(request))
        takes_number = bool(self.client_id) and method in NUMBERED and not sequence
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        # Whether the service may have executed the call, perhaps for an earlier one with its sequence.
        is_in_doubt = 0 < sequence <= self.last_sequence
        tries, sends = 0, 0
        while True:
            tries += 1
            connection = None
            try:
                connection = self._connected(end, method)
                sends += 1
                if takes_number and not is_in_doubt and sequence <= self._forgotten_sequence:
                    sequence = self.last_sequence + 1
                if not sequence or sequence > self._forgotten_sequence:
                    self.last_sequence = max(self.last_sequence, sequence)
                    frame = connection.call(timeout=max(end - time.monotonic(), 0.001), sequence=sequence,
                                            acting=acting, min_revision=min_revision, **request)
                    self._note_session(method, frame)
                    return frame
            except Refused as refused:
                wait = wait_after(refused, tries)
                if wait is None or self._is_last(tries, sends, wait, end):
                    if is_in_doubt and (connection is None or refused.reason in OF_THIS_FRAME):
                        refused.status.not_executed = False  # it is of this try alone
                    raise
                if refused.reason in FOR_OTHERS:
                    self.route.turn(refused.status.leader)
                if refused.reason in FOR_OTHERS or not refused.is_temporary:
                    self.close()
            except Lost as lost:
                self.close()
                if connection:
                    self.route.turn(connection.going_away.leader if connection.going_away else "")
                is_in_doubt = is_in_doubt or bool(connection) and not lost.not_executed
                lost.not_executed, lost.sequence = not is_in_doubt, sequence
                lost.instance_id, lost.channel_number = self.instance_id, self.channel_number
                is_safe = not is_in_doubt or sequence or method in READS
                wait = random_wait(tries)
                if not is_safe or self._is_last(tries, sends, wait, end):
                    raise
            else:
                raise Lost("the service has forgotten the channel, and may have executed the call before",
                           not_executed=not is_in_doubt)
            time.sleep(wait)

    def watch(self, request: feed.WatchPostsRequest, *, acting: int = 0) -> Iterator[feed.WatchPostsEvent]:
        """The events of a watch, over a connection of its own that is opened again once it is gone; the watch
        then goes on where it was. Close the iterator to end it."""
        going_on = feed.WatchPostsRequest()
        going_on.CopyFrom(request)
        instance, failures, alive = None, 0, time.monotonic()
        while True:
            try:
                end = time.monotonic() + self.timeout
                connection, hello = self._open(secrets.randbits(32), end, self.reads == "leader")
                connection.silence = None
                with connection:
                    if instance not in (None, hello.instance_id):
                        going_on.since_revision = 0
                    instance = hello.instance_id
                    watch = connection.watch(going_on, acting=acting)
                    for event in watch:
                        failures, alive = 0, time.monotonic()
                        # What does not fit into a frame comes with the next event, perhaps of no watch.
                        is_whole = event.ByteSize() < FRAME_BYTE_LIMIT // 2
                        going_on.since_revision = watch.revision if is_whole else 0
                        yield event
                return
            except (Lost, Refused) as failure:
                failures += 1
                wait = wait_after(failure, failures)
                is_last = time.monotonic() + (wait or 0) > alive + self.timeout if self._has_choice \
                    else failures == self.attempts
                if wait is None or is_last:
                    raise
                self.route.turn(failure.status.leader if isinstance(failure, Refused) else "")
            time.sleep(wait)

    def _connected(self, end: float, method: str) -> Connection:
        """The connection, opened if there is none that can be used."""
        leads = self.reads == "leader" or not (method in READS or method in OF_ONE_SERVICE)
        open_one = self._connection
        if open_one and open_one.going_away:
            if open_one.going_away.leader or open_one.going_away.reason == "NOT_LEADER":
                self.route.turn(open_one.going_away.leader)
            self.close()
        elif open_one and time.monotonic() - open_one.sent_at > IDLE_SECONDS:
            self.close()
        elif open_one and leads and self.service.role == feed.NODE_FOLLOWER:
            self.route.turn(leader_of(self.service))
            self.close()
        if self._connection is None:
            self._connection, self.service = self._open(self.channel, end, leads)
            if self.service.role == feed.NODE_FOLLOWER:
                # It gives no channel, and the leader says later what it remembers.
                return self._connection
            if not self._remembers(self.service):
                self._forgotten_sequence = self.last_sequence
            self.instance_id, self.channel_number = self.service.instance_id, self.service.channel_number
            self._has_open_hello = False
        return self._connection

    def _open(self, channel: int, end: float, leads: bool) -> tuple[Connection, feed.HelloResponse]:
        """A connection to the service that leads, or else to the first that answers; each is asked once."""
        failure: Lost | Refused = Lost("there is no address to connect to", not_executed=True)
        for address in self.route.tries():
            try:
                connection, hello = self._greet(address, channel, end)
            except Lost as lost:
                if channel == self.channel and not lost.not_executed:
                    self._has_open_hello = True
                failure = lost
                continue
            except Refused as refused:
                # Another service may take a client that this one does not.
                if wait_after(refused, 1) is None:
                    raise
                self.route.turn(refused.status.leader)
                failure = refused
                continue
            if not leads or hello.role != feed.NODE_FOLLOWER:
                return connection, hello
            connection.close()
            self.route.turn(leader_of(hello))
            failure = Lost(f"{address} is a follower of its cluster, and nobody who was asked leads",
                           not_executed=True)
        raise failure

    def _greet(self, address: str, channel: int, end: float) -> tuple[Connection, feed.HelloResponse]:
        left = min(self.timeout, max(end - time.monotonic(), 0.001)) / len(self.route.addresses)
        if self.route.has_others:
            left = min(left, SILENCE_SECONDS)
        connection = Connection(address, tls=self._tls, server_name=self._server_name, timeout=left)
        try:
            hello = connection.hello(channel=channel, session_token=self.session_token, **self._introduction)
        except BaseException:
            connection.close()
            raise
        self.route.learn(hello)
        connection.timeout = self.timeout
        connection.silence = SILENCE_SECONDS if self.route.has_others else None
        return connection, hello

    def _remembers(self, hello: feed.HelloResponse) -> bool:
        """Whether the service still has the channel of before."""
        if not hello.client_known or self.instance_id not in (0, hello.instance_id):
            return False
        if self.channel_number and hello.channel_number:
            return hello.channel_number == self.channel_number
        # A Hello without an answer may have made the channel.
        return hello.last_sequence > 0 or not self._has_open_hello

    @property
    def _has_choice(self) -> bool:
        """Whether there is more than one service to ask."""
        return self.route.is_cluster or len(self.route.addresses) > 1

    def _is_last(self, tries: int, sends: int, wait: float, end: float) -> bool:
        """Of several services one leads again in a moment, so that only what was sent to one counts."""
        attempts = sends if self._has_choice else tries
        return attempts >= self.attempts or time.monotonic() + wait > end

    def _note_session(self, method: str, frame: feed.ServerFrame) -> None:
        if method in ("sign_up", "sign_in", "change_password", "reset_password"):
            self.session_token = frame.session.token
        elif method in ("sign_out", "delete_account"):
            self.session_token = b""


def random_wait(attempt: int) -> float:
    """The seconds until the next attempt."""
    return random.uniform(0, min(FIRST_WAIT_SECONDS * 2 ** min(attempt - 1, 16), MOST_WAIT_SECONDS))


def wait_after(failure: Lost | Refused, attempt: int) -> float | None:
    """The seconds until the next attempt; None if the call would be refused again."""
    if isinstance(failure, Refused) and failure.is_temporary:
        return max(failure.status.retry_after_ms / 1000, random_wait(attempt))
    passes = {"DRAINING"} | FOR_OTHERS
    if isinstance(failure, Refused) and not (failure.reason in passes and failure.status.not_executed):
        return None
    return random_wait(attempt)
