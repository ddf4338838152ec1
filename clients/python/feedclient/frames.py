"""Frames: four bytes of big-endian length, and then a message."""

from typing import Any

from . import feed_pb2 as feed

LENGTH_BYTES = 4
# The longest frame, unless Hello says otherwise.
FRAME_BYTE_LIMIT = 1 << 20


def framed(call_id: int, **fields: Any) -> bytes:
    """The bytes of a call: framed(1, get_post=feed.GetPostRequest(id=7))."""
    return with_length(feed.ClientFrame(id=call_id, **fields).SerializeToString())


def with_length(body: bytes) -> bytes:
    """The bytes of a frame with this message."""
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


class FrameReader:
    """Finds the messages in bytes that come in any pieces."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._place = 0

    def append(self, data: bytes) -> None:
        """Takes what came."""
        del self._bytes[:self._place]
        self._place = 0
        self._bytes += data

    def next(self) -> bytes | None:
        """The next message; None while it is not here as a whole."""
        start = self._place + LENGTH_BYTES
        end = start + int.from_bytes(self._bytes[self._place:start], "big")
        if len(self._bytes) < start or len(self._bytes) < end:
            return None
        self._place = end
        return bytes(self._bytes[start:end])
