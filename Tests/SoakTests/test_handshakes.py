"""Handshakes beside votes and pages: a service that ends half ones and serves the rest passes, and no other."""

import contextlib
import socket
import ssl
import threading
import unittest
from unittest import mock

from support import Done, RecordedTestCase

SECONDS = 600  # of waiting, before a test has failed


class HandshakeTests(RecordedTestCase):
    """A run, with a client that tells what was recorded."""

    name = "handshakes"

    def run_with(self, *votes):
        """A run whose votes took so long for its capacity, and without and with whole and half handshakes."""
        return self.live_through(votes, "--halves", "5000", Service=mock.MagicMock(),
                                 Handshakes=lambda name, *_: Done(**{name: 1000}))

    def test_passes_where_handshakes_hold_up_nobody(self):
        piece = self.run_with(1, 2, 4, 2, 2)
        self.assertEqual((piece["handshakes"], piece["half handshakes"]), (1000, 1000))

    def test_fails_where_handshakes_hold_up_votes(self):
        with self.fails("beside handshakes: the p99 of votes is 2.5 times as long, over 2"):
            self.run_with(1, 2, 5, 2, 2)

    def test_says_what_was_not_as_it_should_be(self):
        told = self.module.Told(begun=1000, ended=1000, seconds=2, longest=4.9, most_late=0.9, fault="")
        self.module.check("handshakes", 500, told)
        faults = [({"begun": 899}, "only 899 of the handshakes in 2.0 s"),
                  ({"most_late": 1.1}, "began 1.1 s late"), ({"longest": 5.1}, "took 5.1 s, over 5"),
                  ({"ended": 997, "fault": "3 have no end"}, "3 of the handshakes failed: 3 have no end")]
        for changes, words in faults:
            with self.fails(words):
                self.module.check("handshakes", 500, told._replace(**changes))


class ClientTests(RecordedTestCase):
    """The clients alone, each with a server for its first handshake; a second one would be due after days."""

    name = "handshakes"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificate = cls.module.Certificate(cls.binaries)
        cls.feed = cls.module.beside.feed

    def told(self, serve, client, *arguments):
        """What a client tells of a server."""
        stopping, result = threading.Event(), []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(SECONDS)
            thread = threading.Thread(target=lambda: result.append(
                client(listener.getsockname()[1], 1e-6, *arguments, stopping)))
            thread.start()
            plain, (host, _) = listener.accept()
            with plain:
                plain.settimeout(SECONDS)
                serve(plain)
            stopping.set()
            thread.join()
        self.assertEqual((host, result[0].begun), ("127.0.0.2", 1))
        return result[0]

    def served(self, answer, version=ssl.TLSVersion.TLSv1_3):
        """What a client tells of a server over TLS that answers its call so."""
        def serve(plain):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate.path, self.certificate.key)
            context.set_alpn_protocols(["feed/1"])
            context.maximum_version = version
            with contextlib.suppress(ssl.SSLError), context.wrap_socket(plain, server_side=True) as server:
                self.assertEqual((server.version(), server.selected_alpn_protocol()), ("TLSv1.3", "feed/1"))
                server.recv(100)
                if answer:
                    server.sendall(answer)
                    server.recv(100)
        return self.told(serve, self.module.whole, self.certificate.path)

    def answer(self, **fields):
        body = self.feed.ServerFrame(id=1, **fields).SerializeToString()
        return len(body).to_bytes(4, "big") + body

    def test_counts_an_answered_call(self):
        told = self.served(self.answer(ping=self.feed.PingResponse()))
        self.assertEqual((told.ended, told.fault), (1, ""))

    def test_fails_where_the_call_is_refused_or_lost(self):
        refused = self.answer(status=self.feed.Status(code=self.feed.RESOURCE_EXHAUSTED, reason="OVERLOADED"))
        for answer, fault in ((refused, "OVERLOADED"), (b"", "closed")):
            told = self.served(answer)
            self.assertEqual(told.ended, 0)
            self.assertIn(fault, told.fault)

    def test_fails_where_the_server_has_another_version_or_speaks_no_tls(self):
        def speak_http(plain):
            plain.recv(1000)
            plain.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        for told in (self.served(b"", ssl.TLSVersion.TLSv1_2),
                     self.told(speak_http, self.module.whole, self.certificate.path)):
            self.assertEqual(told.ended, 0)
            self.assertNotEqual(told.fault, "")

    def test_counts_a_half_handshake_that_is_closed(self):
        told = self.told(lambda plain: self.assertEqual(plain.recv(1000)[:1], b"\x16"), self.module.halves)
        self.assertEqual((told.ended, told.fault), (1, ""))

    def test_fails_where_half_a_handshake_gets_much_or_stays(self):
        def send_much(plain):
            plain.recv(1000)
            plain.sendall(bytes(5000))
        self.assertIn("more than an answer", self.told(send_much, self.module.halves).fault)
        kept = []
        with mock.patch.object(self.module, "LONGEST_SECONDS", 0.01):
            told = self.told(lambda plain: kept.append(plain.dup()), self.module.halves)
        kept[0].close()
        self.assertEqual((told.ended, told.fault), (0, "1 have no end after 0.01 s"))


if __name__ == "__main__":
    unittest.main()
