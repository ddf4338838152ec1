"""One connection to the service: calls one after another, and watches."""

import collections
import pathlib
import socket
import ssl
import time
from types import TracebackType
from typing import Any, Self

from . import feed_pb2 as feed
from .calls import Calls
from .errors import Lost, Refused, TimedOut
from .frames import FrameReader, framed

DEFAULT_PORT = 7433
PROTOCOL_VERSION = 1
READ_BYTES = 1 << 16
# The longest time that a call may wait for its execution.
MOST_TIMEOUT_MS = 60_000
# Silence after which a watch pings; the service ends a connection after 90 s of it.
KEEP_ALIVE_SECONDS = 30.0


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of feed.example.org, 127.0.0.1:7433 or [::1]:7433."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or ":" in host and not host.startswith("["):
        host, port = text, str(DEFAULT_PORT)
    return host.strip("[]"), int(port)


def tls_context(authority: str | None = None, certificate: str | None = None,
                key: str | None = None) -> ssl.SSLContext:
    """TLS 1.3 of feeds, which checks the service's certificate: against a file of authorities, or against
    those that the system knows. The client may show a certificate, too."""
    context = ssl.create_default_context(cafile=authority)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["feed/1"])
    if certificate:
        context.load_cert_chain(certificate, key)
    return context


def read_key(path: str) -> bytes:
    """The key in a file of `feed-service new-service-key`: 64 hexadecimal digits."""
    return bytes.fromhex(pathlib.Path(path).read_text(encoding="ascii").strip())


class Connection(Calls):
    """Calls over one connection, one after another, for one thread.

    A call raises Lost once the connection is gone. `timeout` is the seconds that an answer may take, and a
    connect.
    """

    def __init__(self, address: str, *, tls: ssl.SSLContext | None = None, server_name: str = "",
                 timeout: float = 10.0, source: str = "") -> None:
        host, port = parse_address(address)
        try:
            self.socket: socket.socket = socket.create_connection(
                (host, port), timeout=timeout, source_address=(source, 0) if source else None)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls:
                self.socket = tls.wrap_socket(self.socket, server_hostname=server_name or host)
        except OSError as error:
            raise Lost(f"{address}: {error}", not_executed=True) from error
        self.address = address
        self.timeout = timeout
        # How long the service may be silent during a call, if another one may answer it; None if none may.
        self.silence: float | None = None
        self.last_id = 0
        # When the last frame was sent.
        self.sent_at = time.monotonic()
        # What the service has said of its end; None until then.
        self.going_away: feed.GoAway | None = None
        self._frames = FrameReader()
        # The events that came while another answer was awaited, of watches that have not ended.
        self._events: dict[int, collections.deque[feed.ServerFrame]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def hello(self, **fields: Any) -> feed.HelloResponse:
        """Says who is calling: the fields of HelloRequest, as client_id, session_token and service_key."""
        fields = {"client_name": "feedclient", **fields}
        request = feed.HelloRequest(protocol_version=PROTOCOL_VERSION, **fields)
        return self.ask("hello", {}, hello=request).hello

    def call(self, *, timeout: float | None = None, sequence: int = 0, acting: int = 0, min_revision: int = 0,
             **request: Any) -> feed.ServerFrame:
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        # Without a timeout of its own it waits for its execution as long as the service finds right.
        timeout_ms = 0 if timeout is None else max(1, min(MOST_TIMEOUT_MS, int(1000 * timeout)))
        number = self.last_id + 1
        try:
            self.send(timeout_ms=timeout_ms, sequence=sequence, acting_user_id=acting,
                      min_revision=min_revision, **request)
            frame = self.receive(number, deadline, self.silence)
        except Lost as lost:
            lost.sequence = sequence
            if self.going_away and self.going_away.last_id < number:
                lost.not_executed = True
            raise
        if frame.HasField("status"):
            raise Refused(frame.status)
        return frame

    def watch(self, request: feed.WatchPostsRequest, *, acting: int = 0) -> "Watch":
        """Begins a watch, whose events are read by iterating over it."""
        number = self.send(acting_user_id=acting, watch_posts=request)
        self._events[number] = collections.deque()
        return Watch(self, number)

    def end_watch(self, number: int) -> None:
        """Keeps no further events of a watch."""
        self._events.pop(number, None)

    def send(self, **fields: Any) -> int:
        """Sends a frame and does not wait for its answer; its id."""
        self.last_id += 1
        data = framed(self.last_id, **fields)
        try:
            self.socket.settimeout(self.timeout)
            self.socket.sendall(data)
        except OSError as error:
            raise Lost(str(error) or "the call could not be sent") from error
        self.sent_at = time.monotonic()
        return self.last_id

    def receive(self, number: int, deadline: float, silence: float | None = None) -> feed.ServerFrame:
        """The next frame with this id. Events of watches are kept, and answers that nobody awaits any more
        are dropped. A refusal of the whole connection is raised."""
        kept = self._events.get(number)
        if kept:
            return kept.popleft()
        while True:
            frame = self.receive_any(deadline, silence)
            if frame.id == number:
                return frame
            if frame.id == 0 and frame.HasField("status"):
                raise Refused(frame.status)
            if frame.id == 0 and frame.HasField("go_away"):
                self.going_away = frame.go_away
            if frame.id in self._events:
                self._events[frame.id].append(frame)

    def receive_any(self, deadline: float, silence: float | None = None) -> feed.ServerFrame:
        """The next frame, whatever it is about. After half of a `silence` the service is asked for a sign of
        life, and after all of it the connection is lost."""
        is_asked = False
        while (body := self._frames.next()) is None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimedOut("no answer came in time")
            try:
                self.socket.settimeout(left if silence is None else min(left, silence / 2))
                data = self.socket.recv(READ_BYTES)
            except TimeoutError as error:
                if silence is None or time.monotonic() >= deadline:
                    raise TimedOut("no answer came in time") from error
                if is_asked:
                    raise Lost("the service gave no sign of life") from error
                is_asked = True
                self.send(ping=feed.PingRequest())
                continue
            except OSError as error:
                raise Lost(str(error)) from error
            if not data:
                raise Lost("the service closed the connection")
            self._frames.append(data)
        return feed.ServerFrame.FromString(body)


class Watch:
    """The events of a watch, until it is cancelled; it pings against the silence between them."""

    def __init__(self, connection: Connection, number: int) -> None:
        self.number = number
        # The revision of the last event, from which another watch may go on.
        self.revision = 0
        self._connection = connection

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> feed.WatchPostsEvent:
        frame = self._next_frame()
        if frame.more:
            self.revision = frame.revision
            return frame.watch_posts
        self._connection.end_watch(self.number)
        if frame.status.code == feed.CANCELLED:
            raise StopIteration
        raise Refused(frame.status)

    def cancel(self) -> None:
        """Asks for the end, behind the events that are on their way."""
        self._connection.send(cancel=feed.CancelRequest(id=self.number))

    def _next_frame(self) -> feed.ServerFrame:
        while True:
            try:
                deadline = time.monotonic() + KEEP_ALIVE_SECONDS
                return self._connection.receive(self.number, deadline)
            except TimedOut:
                # Nothing has changed; a service that is gone does not answer.
                self._connection.ping()
