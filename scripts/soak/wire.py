"""Calls of the service over one connection, one after another."""

import socket
import struct
import time

import feed_pb2 as feed


# A call is sent again until then; checkpoints are behind for seconds.
TAKEN_SECONDS = 60


class Lost(Exception):
    """The connection is gone; whether the last call was executed is unknown."""


class Refused(Exception):
    """The service's status in place of an answer."""

    def __init__(self, status):
        super().__init__(f"{feed.Code.Name(status.code)} / {status.reason}: {status.message}")
        self.status = status

    @property
    def is_temporary(self):
        """The service advises to send the call again, as while its checkpoints are behind."""
        return self.status.not_executed and self.status.retry_after_ms > 0


def framed(number, **fields):
    """The bytes of one request: four bytes of big-endian length, then a ClientFrame."""
    body = feed.ClientFrame(id=number, **fields).SerializeToString()
    return struct.pack(">I", len(body)) + body


class Connection:
    """Calls one after another over TCP."""

    def __init__(self, port, timeout=10, source=""):
        try:
            self.socket = socket.create_connection(
                ("127.0.0.1", port), timeout=timeout, source_address=(source, 0))
        except OSError as error:
            raise Lost(str(error)) from error
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = port
        self.input = self.socket.makefile("rb")
        self.last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.input.close()
        self.socket.close()

    def call(self, sequence=0, acting=0, **request):
        """The answer to one request, as call(get_post=...), for the user `acting` unless that is 0."""
        self.last_id += 1
        frame = framed(self.last_id, sequence=sequence, acting_user_id=acting, **request)
        try:
            self.socket.sendall(frame)
            while True:
                answer = self._receive()
                if answer.id == self.last_id:
                    break
        except OSError as error:
            raise Lost(str(error)) from error
        if answer.HasField("status"):
            raise Refused(answer.status)
        return answer

    def call_until_taken(self, sequence=0, acting=0, **request):
        """The answer to one request, which is sent again after each temporary refusal."""
        end = time.monotonic() + TAKEN_SECONDS
        while True:
            try:
                return self.call(sequence, acting, **request)
            except Refused as refused:
                if not refused.is_temporary or time.monotonic() > end:
                    raise
                time.sleep(refused.status.retry_after_ms / 1000)

    def _receive(self):
        (length,) = struct.unpack(">I", self._read(4))
        return feed.ServerFrame.FromString(self._read(length))

    def _read(self, count):
        data = self.input.read(count)
        if len(data) < count:
            raise Lost("the service closed the connection")
        return data

    def hello(self, **fields):
        return self.call(hello=feed.HelloRequest(
            protocol_version=1, client_name="soak", **fields)).hello

    def pages(self, acting=0, **request):
        """Every page of a list, from its first one."""
        token = b""
        while True:
            page = self.call(acting=acting, list_posts=feed.ListPostsRequest(
                page_size=100, page_token=token, **request)).list_posts
            yield page
            token = page.next_page_token
            if not token:
                return

    def posts(self, name, acting=0, order=feed.NEW, **request):
        """Every post of a feed that is shown to a user, page by page."""
        for page in self.pages(acting, feed=name, order=order, **request):
            yield from page.posts

    def count_of(self, method):
        """How often a method was called since the service started."""
        stats = self.call(get_server_stats=feed.GetServerStatsRequest()).server_stats
        return sum(one.num_requests for one in stats.methods if one.method == method)
