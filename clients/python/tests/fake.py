"""A service whose answers a test decides."""

import contextlib
import pathlib
import socket
import ssl
import sys
import threading
import weakref
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from feedclient import FrameReader, feed  # noqa: E402
from feedclient.frames import with_length  # noqa: E402

CONNECTION = 1 << 40  # the id of a frame about the connection, which is sent as 0
CHANNEL = feed.HelloResponse(instance_id=1, client_known=True, last_sequence=1)


def refusal(reason: str, **fields) -> feed.ServerFrame:
    return feed.ServerFrame(status=feed.Status(code=feed.RESOURCE_EXHAUSTED, reason=reason, **fields))


class FakeService:
    """Answers each call by `answer(call)`, with a frame or a list of them, whose id is the call's unless they
    have one; None ends the connection. Hello is answered with the next of `hellos`, which may be a refusal as a
    frame, the last one for good."""

    def __init__(self, answer: Callable, hellos=(CHANNEL,), tls: ssl.SSLContext | None = None) -> None:
        self.answer, self.hellos, self.tls = answer, list(hellos), tls
        self.calls: list[feed.ClientFrame] = []  # but for Hellos
        self.introductions: list[feed.HelloRequest] = []
        # Nobody else gets the port of a service that has ended.
        reserved = socket.socket()
        weakref.finalize(self, reserved.close)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        self.port = reserved.getsockname()[1]
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        frames = FrameReader()
        with contextlib.suppress(OSError), connection, \
                self.tls.wrap_socket(connection, server_side=True) if self.tls else connection as stream:
            while data := stream.recv(1 << 16):
                frames.append(data)
                while body := frames.next():
                    call = feed.ClientFrame.FromString(body)
                    answers = self._answers(call)
                    for answer in answers:
                        if answer is None:
                            return
                        frame = feed.ServerFrame()
                        frame.CopyFrom(answer)
                        frame.id = 0 if answer.id == CONNECTION else answer.id or call.id
                        stream.sendall(with_length(frame.SerializeToString()))

    def _answers(self, call):
        if call.HasField("hello"):
            self.introductions.append(call.hello)
            hello = self.hellos.pop(0) if len(self.hellos) > 1 else self.hellos[0]
            if isinstance(hello, feed.ServerFrame):
                return [hello]
            return [hello and feed.ServerFrame(hello=hello)]
        if call.HasField("ping") and not call.ping.payload:
            return [feed.ServerFrame(ping=feed.PingResponse())]
        self.calls.append(call)
        answers = self.answer(call)
        return answers if isinstance(answers, list) else [answers]
