"""Handshakes beside votes and pages: a service that ends half ones and serves the rest passes, and no other."""

import socket
import ssl
import subprocess
import tempfile
import unittest

from support import SOAK, SoakTestCase

PING = b"\0\0\0\2\x08\1"  # what it says does not matter to the client


class HandshakeTests(SoakTestCase):
    def soak(self, *flags, **environment):
        with tempfile.TemporaryDirectory() as output:
            return self.run_soak("handshakes", "--seconds", "1", "--rounds", "1", "--rate", "40",
                                 "--halves", "40", "--output", output, *flags, **environment)

    def test_passes_where_handshakes_hold_up_nobody(self):
        # On a busy machine the two rounds differ; this one is about what is done.
        finished = self.soak("--factor", "1000")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertRegex(finished.stdout, r"^handshakes: 1 runs, \d\d+ handshakes, \d\d+ half handshakes, "
                         r"0 failures, \d+ s: done$")

    def test_fails_where_handshakes_hold_up_votes(self):
        finished = self.soak("--factor", "2", FAKE_FAULT="sign")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertRegex(finished.stderr, "beside handshakes: the p99 of votes is .* times as long")

    def test_fails_where_half_handshakes_stay(self):
        finished = self.soak("--factor", "1000", FAKE_FAULT="patient")
        self.assertEqual(finished.returncode, 1, finished.stderr)
        self.assertRegex(finished.stderr, r"\d+ of the half handshakes have no end after 12 s")


class ClientTests(unittest.TestCase):
    """The client alone, with servers that a handshake must not be counted of, and with one that it must."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.client, cls.certificate = cls.directory.name + "/client", cls.directory.name + "/certificate"
        sources = [str(SOAK / "tls" / name) for name in ("handshakes.c", "client.c", "keys.c")]
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", cls.client, *sources, "-lcrypto"], check=True)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-subj", "/CN=localhost", "-keyout", cls.certificate, "-out", cls.certificate + ".pem"],
                       check=True, capture_output=True)

    def handshake(self, serve, kind="whole"):
        """One handshake with a server; the exit code, what is printed and the fault."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            command = [self.client, kind, str(listener.getsockname()[1]), "127.0.0.2", "20"]
            with subprocess.Popen(command + ([PING.hex()] if kind == "whole" else []), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
                plain, address = listener.accept()
                with plain:
                    serve(plain)
                listener.close()
                told, fault = client.communicate()
        self.assertEqual(address[0], "127.0.0.2")
        return client.returncode, told, fault

    def secured(self, plain, **limits):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate + ".pem", self.certificate)
        context.set_alpn_protocols(["feed/1"])
        for name, value in limits.items():
            setattr(context, name, value)
        return context.wrap_socket(plain, server_side=True)

    def test_counts_an_answered_call(self):
        def serve(plain):
            with self.secured(plain) as server:
                self.assertEqual(server.version(), "TLSv1.3")
                self.assertEqual(server.selected_alpn_protocol(), "feed/1")
                self.assertEqual(server.recv(100), PING)
                server.sendall(PING)
                self.assertEqual(server.recv(100), b"")
        _, told, _ = self.handshake(serve)
        self.assertRegex(told, '"ended": 1,')

    def test_fails_where_the_server_goes_after_the_handshake(self):
        def serve(plain):
            with self.secured(plain) as server:
                server.recv(100)
        self.check_failed(serve, "the service closed the connection")

    def test_fails_where_the_server_has_another_version(self):
        def serve(plain):
            with self.assertRaises(ssl.SSLError):
                self.secured(plain, maximum_version=ssl.TLSVersion.TLSv1_2)
        self.check_failed(serve, "the server sent an alert")

    def test_fails_where_the_server_speaks_no_tls(self):
        self.check_failed(lambda plain: plain.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "a record is too long")

    def test_fails_where_a_record_is_changed(self):
        self.check_failed(lambda plain: self.serve_changed(plain), "a record has a wrong tag")

    def test_fails_where_half_a_handshake_gets_much(self):
        self.check_failed(lambda plain: plain.sendall(bytes(5000)), "got more than an answer", "half")

    def serve_changed(self, plain):
        """Answers a ClientHello, and changes the last byte of the answer."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate + ".pem", self.certificate)
        server = context.wrap_bio(incoming, outgoing, server_side=True)
        incoming.write(plain.recv(1000))
        with self.assertRaises(ssl.SSLWantReadError):
            server.do_handshake()
        answer = bytearray(outgoing.read())
        answer[-1] ^= 1
        plain.sendall(answer)
        plain.recv(1)

    def check_failed(self, serve, fault, kind="whole"):
        code, told, said = self.handshake(serve, kind)
        self.assertEqual(code, 1)
        self.assertIn("a handshake failed: ", said)
        self.assertIn(fault, said)
        self.assertIn('"ended": 0,', told)


if __name__ == "__main__":
    unittest.main()
