"""Frames and their messages as bytes, without the library of protobuf that the scripts use."""

import socket

REVISION, STATUS = 2, 3  # fields of a frame
LIST_POSTS, WATCH_POSTS, CAST_VOTE, GET_SERVER_STATS, CREATE_FEED = 33, 37, 40, 51, 53  # and calls


def varint(value):
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def message(fields):
    """The bytes of a message: number to value, which is a number or bytes."""
    out = b""
    for number, value in fields.items():
        if isinstance(value, bytes):
            out += varint(number << 3 | 2) + varint(len(value)) + value
        else:
            out += varint(number << 3) + varint(value)
    return out


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at


def fields_of(data):
    """The fields of a message, which has varints and bytes: number to the last value."""
    at, found = 0, {}
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        found[tag >> 3] = value
    return found


def framed(call_id, method, content, user=0):
    """A frame with a call, for a user unless that is 0, behind its length."""
    frame = message({1: call_id, **({5: user} if user else {}), method: content})
    return len(frame).to_bytes(4, "big") + frame


class Connection:
    """Calls the service, one call after another."""

    def __init__(self, server, timeout=30):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=timeout)
        self.answers = self.socket.makefile("rb")
        self.last_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answers.close()
        self.socket.close()

    def call(self, method, content):
        """The fields of the frame that answers; it has STATUS where the call was refused."""
        return fields_of(self.exchange(method, content))

    def exchange(self, method, content, user=0):
        """The bytes of the frame that answers."""
        self.last_id += 1
        self.socket.sendall(framed(self.last_id, method, content, user))
        return self.read()

    def receive(self):
        """The fields of the next frame."""
        return fields_of(self.read())

    def read(self):
        """The bytes of the next frame."""
        length = int.from_bytes(self.answers.read(4), "big")
        answer = self.answers.read(length)
        if not answer or len(answer) < length:
            raise ConnectionError("the service closed the connection")
        return answer
