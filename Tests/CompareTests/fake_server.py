"""A server to test the minimal client against: it answers votes and pages, well or badly."""

import contextlib
import random
import socket
import threading

import support  # noqa: F401

from frames import fields_of, varint


def framed(call, content, frame_id):
    body = varint(1 << 3) + varint(frame_id)
    body += varint(call << 3 | 2) + varint(len(content)) + content
    return len(body).to_bytes(4, "big") + body


class FakeServer:
    """Counts what it is asked, and answers by `answer(id, call)`; with `cut` in two pieces."""

    def __init__(self, answer, resp=False, cut=False, texts=4):
        self.answer, self.resp, self.cut = answer, resp, cut
        self.texts = texts  # of a request of RESP
        self.threads = []  # of connections
        self.forget()
        self.random = random.Random(7)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def forget(self):
        """Counts from 0 again, once the clients so far are gone."""
        while self.threads:
            self.threads.pop().join()
        self.ballots = []  # the number of the connection, the user and the direction
        self.posts = []   # that were voted on
        self.batches = []  # their bytes
        self.bodies = []  # the bytes of each call
        self.page_users = set()
        self.ids = []     # of frames, by connection
        self.firsts = []  # how many frames the first read of each connection had

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.ids.append([])
            arguments = (connection, self.ids[-1])
            self.threads.append(threading.Thread(target=self._serve, args=arguments, daemon=True))
            self.threads[-1].start()

    def _serve(self, connection, ids):
        pending = b""
        with connection, contextlib.suppress(OSError):
            while received := connection.recv(1 << 20):
                is_first = not ids
                pending, answers = self._take(pending + received, ids)
                if is_first:
                    self.firsts.append(len(ids))
                at = self.random.randrange(len(answers) + 1) if self.cut else 0
                for piece in (answers[:at], answers[at:]):
                    if piece:
                        connection.sendall(piece)

    def _take(self, data, ids):
        """What is left of the data, and the answers to the requests in it."""
        answers = b""
        if self.resp:  # a request is texts of two lines each, behind a line of its own
            lines, size = data.split(b"\r\n"), 2 * self.texts + 1
            whole = (len(lines) - 1) // size
            for number in range(whole):
                ids.append(len(ids) + 1)
                texts = lines[size * number + 2:size * (number + 1):2]
                answers += self.answer(ids[-1], texts if self.texts > 4 else texts[0])
            return b"\r\n".join(lines[size * whole:]), answers
        while len(data) >= 4 and len(data) >= 4 + int.from_bytes(data[:4], "big"):
            end = 4 + int.from_bytes(data[:4], "big")
            request, data = fields_of(data[4:end]), data[end:]
            ids.append(request[1])
            if 40 in request:
                vote = fields_of(request[40])
                self.posts.append(vote[1])
                self.ballots.append((id(ids), request.get(5), vote[2]))
            if 33 in request:
                self.page_users.add(request.get(5))
            if 41 in request:
                self.batches.append(request[41])
            call = next(call for call in request if call > 5)
            self.bodies.append(request[call])
            answers += self.answer(request[1], call)
        return data, answers
