"""A client that connects again, and sends a call again if that cannot execute it twice."""

import random
import secrets
import ssl
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from . import feed_pb2 as feed
from .calls import NUMBERED, READS, Calls
from .connection import Connection
from .errors import Lost, Refused
from .frames import FRAME_BYTE_LIMIT

# The wait before a call is sent again is random, up to the first of these, which doubles up to the second.
FIRST_WAIT_SECONDS, MOST_WAIT_SECONDS = 0.05, 2.0
# The service ends a connection after 90 s of silence: one that was silent for so long is not used again.
IDLE_SECONDS = 75.0


class Client(Calls):
    """Calls over a connection that is opened again once it is gone, for one thread.

    `timeout` is the seconds of a call with all of its attempts. With a `client_id`, 16 random bytes that the
    program keeps, changes are numbered on a channel, so that each is executed once. A program that goes on
    with the channel of an earlier process names it, and the highest sequence that was used on it.
    """

    def __init__(self, address: str, *, tls: ssl.SSLContext | None = None, server_name: str = "",
                 timeout: float = 10.0, attempts: int = 4, client_name: str = "feedclient",
                 client_id: bytes = b"", channel: int | None = None, last_sequence: int = 0,
                 service_key: bytes = b"", session_token: bytes = b"") -> None:
        self.address, self.timeout, self.attempts = address, timeout, attempts
        self.client_id, self.last_sequence = client_id, last_sequence
        self.channel = secrets.randbits(32) if channel is None else channel
        # Each connection shows it. SignUp and SignIn set it, SignOut removes it.
        self.session_token = session_token
        # The answer to the last Hello: the limits, the capabilities and the instance of the service.
        self.service = feed.HelloResponse()
        self._tls, self._server_name = tls, server_name
        self._introduction = {"client_name": client_name, "client_id": client_id, "service_key": service_key}
        self._connection: Connection | None = None
        # Whether the service remembers the channel, and whether the last Hello on it had no answer.
        self._is_known, self._has_open_hello = False, False
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
        if self.client_id and method in NUMBERED and not sequence:
            self.last_sequence += 1
            sequence = self.last_sequence
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        doubt: int | None = None  # the instance of the service that may have executed the call
        attempt = 0
        while True:
            attempt += 1
            connection = None
            try:
                connection = self._connected(end)
                if doubt is None or not sequence or self._remembers(doubt):
                    frame = connection.call(timeout=max(end - time.monotonic(), 0.001), sequence=sequence,
                                            acting=acting, min_revision=min_revision, **request)
                    self._note_session(method, frame)
                    return frame
            except Refused as refused:
                wait = wait_after(refused, attempt)
                if wait is None or self._is_last(attempt, wait, end):
                    raise
                if not refused.is_temporary:
                    self.close()
            except Lost as lost:
                self.close()
                if connection and not lost.not_executed:
                    doubt = self.service.instance_id
                lost.not_executed, lost.sequence = doubt is None, sequence
                is_safe = doubt is None or sequence or method in READS
                wait = random_wait(attempt)
                if not is_safe or self._is_last(attempt, wait, end):
                    raise
            else:
                raise Lost("the service has forgotten the channel, and may have executed the call before")
            time.sleep(wait)

    def watch(self, request: feed.WatchPostsRequest, *, acting: int = 0) -> Iterator[feed.WatchPostsEvent]:
        """The events of a watch, over a connection of its own that is opened again once it is gone; the watch
        then goes on where it was. Close the iterator to end it."""
        going_on = feed.WatchPostsRequest()
        going_on.CopyFrom(request)
        instance, failures = None, 0
        while True:
            try:
                connection, hello = self._open(secrets.randbits(32), time.monotonic() + self.timeout)
                with connection:
                    if instance not in (None, hello.instance_id):
                        going_on.since_revision = 0
                    instance = hello.instance_id
                    watch = connection.watch(going_on, acting=acting)
                    for event in watch:
                        failures = 0
                        # What does not fit into a frame comes with the next event, perhaps of no watch.
                        is_whole = event.ByteSize() < FRAME_BYTE_LIMIT // 2
                        going_on.since_revision = watch.revision if is_whole else 0
                        yield event
                return
            except (Lost, Refused) as failure:
                failures += 1
                wait = wait_after(failure, failures)
                if wait is None or failures == self.attempts:
                    raise
            time.sleep(wait)

    def _connected(self, end: float) -> Connection:
        """The connection, opened if there is none that can be used."""
        open_one = self._connection
        if open_one and (open_one.going_away or time.monotonic() - open_one.sent_at > IDLE_SECONDS):
            self.close()
        if self._connection is None:
            try:
                self._connection, self.service = self._open(self.channel, end)
            except Lost:
                self._has_open_hello = True
                raise
            # A Hello without an answer may have made the channel.
            self._is_known = self.service.client_known and (
                self.service.last_sequence > 0 or not self._has_open_hello)
            self._has_open_hello = False
        return self._connection

    def _open(self, channel: int, end: float) -> tuple[Connection, feed.HelloResponse]:
        left = min(self.timeout, max(end - time.monotonic(), 0.001))
        connection = Connection(self.address, tls=self._tls, server_name=self._server_name, timeout=left)
        try:
            hello = connection.hello(channel=channel, session_token=self.session_token, **self._introduction)
        except BaseException:
            connection.close()
            raise
        connection.timeout = self.timeout
        return connection, hello

    def _remembers(self, instance: int) -> bool:
        """Whether a numbered call that was sent to this instance may be sent again."""
        return self._is_known and self.service.instance_id == instance

    def _is_last(self, attempt: int, wait: float, end: float) -> bool:
        return attempt >= self.attempts or time.monotonic() + wait > end

    def _note_session(self, method: str, frame: feed.ServerFrame) -> None:
        if method in ("sign_up", "sign_in"):
            self.session_token = frame.session.token
        elif method == "sign_out":
            self.session_token = b""


def random_wait(attempt: int) -> float:
    """The seconds until the next attempt."""
    return random.uniform(0, min(FIRST_WAIT_SECONDS * 2 ** (attempt - 1), MOST_WAIT_SECONDS))


def wait_after(failure: Lost | Refused, attempt: int) -> float | None:
    """The seconds until the next attempt; None if the call would be refused again."""
    if isinstance(failure, Refused) and failure.is_temporary:
        return max(failure.status.retry_after_ms / 1000, random_wait(attempt))
    if isinstance(failure, Refused) and not (failure.reason == "DRAINING" and failure.status.not_executed):
        return None
    return random_wait(attempt)
