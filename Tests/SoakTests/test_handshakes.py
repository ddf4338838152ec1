"""Handshakes beside votes and pages: a service that ends half ones and serves the rest passes, and no other."""

import json
import os
import socket
import ssl
import subprocess
import tempfile
import unittest
from unittest import mock

from support import RecordedTestCase

PING = b"\0\0\0\4\x08\1\xf2\1"  # what it asks for does not matter to the client
PONG = b"\0\0\0\6\x08\1\x10\7\xf2\1"
SECONDS = 600  # of waiting, before a test has failed
RATE = "1e-6"  # a second one would be begun after days
TOLD = {"begun": 1000, "ended": 1000, "open": 0, "seconds": 2, "most_late_seconds": 0.9, "longest_seconds": 4.9}


class HandshakeTests(RecordedTestCase):
    """A run, with a client that tells what was recorded."""

    name = "handshakes"

    def run_with(self, *votes, **halves):
        """A run whose votes took so long for its capacity, and without and with whole and half handshakes, of
        which the client tells these figures."""
        with tempfile.TemporaryDirectory() as directory:
            client = directory + "/client"
            for kind, told in (("whole", TOLD), ("half", {**TOLD, **halves})):
                with open(f"{client}.{kind}", "w") as file:
                    json.dump(told, file)
            with open(client, "w") as file:
                file.write('#!/bin/sh\ncat > /dev/null\ncat "$0.$1"\n')
            os.chmod(client, 0o755)
            return self.live_through(votes, "--halves", "5000", Service=mock.MagicMock(),
                                     built_client=lambda _: client)

    def test_passes_where_handshakes_hold_up_nobody(self):
        piece = self.run_with(1, 2, 4, 2, 2)
        self.assertEqual((piece["handshakes"], piece["half handshakes"]), (1000, 1000))

    def test_fails_where_handshakes_hold_up_votes(self):
        with self.fails("beside handshakes: the p99 of votes is 2.5 times as long, over 2"):
            self.run_with(1, 2, 5, 2, 2)

    def test_fails_where_half_handshakes_stay(self):
        with self.fails("3 of the half handshakes have no end after 12 s"):
            self.run_with(1, 2, 2, 2, 2, open=3)


class ClientTests(RecordedTestCase):
    """The client alone, with servers whose handshakes must not be counted, and with one whose must.

    Each server reads what it was sent before it closes: the reset of a connection with unread bytes may come
    before the client has sent its own.
    """

    name = "handshakes"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client = cls.module.built_client(cls.binaries)
        cls.certificate = cls.module.Certificate(cls.binaries)

    def handshake(self, serve, kind="whole", call=PING):
        """One handshake with a server; the exit code, what is printed, and the fault."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(SECONDS)
            command = [self.client, kind, str(listener.getsockname()[1]), "127.0.0.2", RATE]
            if kind == "whole":
                command.append(call.hex())
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as client:
                try:
                    plain, address = listener.accept()
                    plain.settimeout(SECONDS)
                    with plain:
                        serve(plain)
                    told, fault = client.communicate(timeout=SECONDS)
                finally:
                    client.kill()
        self.assertEqual(address[0], "127.0.0.2")
        return client.returncode, json.loads(told), fault

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate.path, self.certificate.key)
        context.set_alpn_protocols(["feed/1"])
        return context

    def answering(self, answer):
        """A server that has one call, and answers it."""
        def serve(plain):
            with self.context().wrap_socket(plain, server_side=True) as server:
                self.assertEqual(server.version(), "TLSv1.3")
                self.assertEqual(server.selected_alpn_protocol(), "feed/1")
                self.assertEqual(server.recv(100), PING)
                server.sendall(answer)
                self.assertEqual(server.recv(100), b"")
        return serve

    def test_counts_an_answered_call(self):
        code, told, fault = self.handshake(self.answering(PONG))
        self.assertEqual((code, fault), (0, ""))
        self.assertEqual((told["begun"], told["ended"], told["open"]), (1, 1, 0))

    def test_fails_where_the_call_is_refused(self):
        self.check_failed(self.answering(b"\0\0\0\6\x08\1\x1a\2\x08\x08"), "its call was refused")
        self.check_failed(self.answering(b"\0\0\0\4\x1a\2\x08\x08"), "its call was refused")

    def test_fails_where_the_server_goes_after_the_handshake(self):
        def serve(plain):
            with self.context().wrap_socket(plain, server_side=True) as server:
                server.recv(100)
        self.check_failed(serve, "the service closed the connection")

    def test_fails_where_the_server_has_another_version(self):
        def serve(plain):
            context = self.context()
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            with self.assertRaises(ssl.SSLError):
                context.wrap_socket(plain, server_side=True)
        self.check_failed(serve, "the server sent an alert")

    def test_fails_where_the_server_speaks_no_tls(self):
        def serve(plain):
            plain.recv(1000)
            plain.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        self.check_failed(serve, "a record is too long")

    def test_fails_where_a_record_is_changed(self):
        def serve(plain):
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            server = self.context().wrap_bio(incoming, outgoing, server_side=True)
            incoming.write(plain.recv(1000))
            with self.assertRaises(ssl.SSLWantReadError):
                server.do_handshake()
            answer = bytearray(outgoing.read())
            answer[-1] ^= 1
            plain.sendall(answer)
            plain.recv(1)
        self.check_failed(serve, "a record has a wrong tag")

    def test_counts_a_half_handshake_that_is_closed(self):
        code, told, _ = self.handshake(lambda plain: plain.recv(1000), "half")
        self.assertEqual((code, told["ended"]), (0, 1))

    def test_fails_where_half_a_handshake_gets_much(self):
        def serve(plain):
            plain.recv(1000)
            plain.sendall(bytes(5000))
        self.check_failed(serve, "got more than an answer", "half")

    def test_refuses_a_call_that_is_none(self):
        for digits in ("", "0", "0g", "00" * 513):
            finished = subprocess.run([self.client, "whole", "1", "127.0.0.2", "1", digits], timeout=SECONDS,
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(finished.returncode, 2, digits)
            self.assertIn("usage: handshakes", finished.stderr)

    def check_failed(self, serve, fault, kind="whole"):
        code, told, said = self.handshake(serve, kind)
        self.assertEqual(code, 1)
        self.assertIn("a handshake failed: ", said)
        self.assertIn(fault, said)
        self.assertEqual(told["ended"], 0)


class CheckTests(RecordedTestCase):
    """What the client tells is looked at."""

    name = "handshakes"

    def test_says_what_was_not_as_it_should_be(self):
        faults = {"begun": (899, "only 899 of the handshakes in 2.0 s"),
                  "most_late_seconds": (1.1, "began 1.1 s late"), "open": (3, "3 of the handshakes have no end"),
                  "longest_seconds": (5.1, "took 5.1 s, over 5")}
        client = self.module.Handshakes("client", 500)
        client.check(TOLD)
        for name, (value, words) in faults.items():
            with self.assertRaisesRegex(self.module.Failure, words):
                client.check({**TOLD, name: value})
        self.module.Handshakes("client", 500, "half").check({**TOLD, "longest_seconds": 11})


if __name__ == "__main__":
    unittest.main()
