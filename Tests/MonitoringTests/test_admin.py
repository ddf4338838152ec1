"""The operator's address from another machine's point of view: TLS, keys and certificates."""

import http.client
import os
import re
import ssl
import subprocess
import tempfile
import unittest

from support import BUILT, PATIENCE_SECONDS, Service


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


class AdminOverTLS(unittest.TestCase):
    """One service whose operator's address is secured, with keys and an authority of clients."""

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.path.join(BUILT, "feed-service")):
            raise unittest.SkipTest("SKIPPED: there is no .build/release/feed-service; build it first")
        cls.folder = tempfile.TemporaryDirectory()
        for name, extra in [("server", "subjectAltName=IP:127.0.0.1"),
                            ("client", "subjectAltName=URI:urn:prometheus"),
                            ("stranger", "subjectAltName=URI:urn:stranger")]:
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", cls.path(name + ".key"), "-out", cls.path(name + ".pem"),
                    "-subj", "/CN=" + name, "-days", "2", "-addext", extra)
        with open(cls.path("clients.pem"), "w") as file:
            for name in ("client", "stranger"):
                with open(cls.path(name + ".pem")) as certificate:
                    file.write(certificate.read())
        cls.keys = {}
        with open(cls.path("keys"), "w") as file:
            for role in ("reader", "operator", "app"):
                key_file = cls.path(role + ".key")
                made = subprocess.run(
                    [os.path.join(BUILT, "feed-service"), "new-service-key", role, key_file,
                     "--role", role], check=True, capture_output=True, text=True).stdout
                file.write(re.search(rf"(?m)^{role} .*$", made).group() + "\n")
                with open(key_file) as made_key:
                    cls.keys[role] = made_key.read().strip()
            file.write("prometheus uri:urn:prometheus reader\n")
        os.chmod(cls.path("keys"), 0o600)
        cls.service = Service(
            "--admin-tls", "127.0.0.1:0", "--tls-cert", cls.path("server.pem"), "--tls-key",
            cls.path("server.key"), "--tls-client-ca", cls.path("clients.pem"), "--service-keys",
            cls.path("keys"))
        said = cls.service.process.stderr.readline()
        cls.port = int(re.search(r"operator's address is https://127.0.0.1:(\d+)/", said).group(1))

    @classmethod
    def tearDownClass(cls):
        assert cls.service.stop() == 0
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def get(self, path, key=None, certificate=None, protocols=("http/1.1",)):
        """The status and the body of a page."""
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        context.set_alpn_protocols(list(protocols))
        if certificate:
            context.load_cert_chain(self.path(certificate + ".pem"), self.path(certificate + ".key"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS, context=context)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body

    def test_a_key_that_may_read_shows_the_metrics(self):
        for role in ("reader", "operator"):
            status, body = self.get("/metrics", self.keys[role])
            self.assertEqual(status, 200)
            self.assertIn("\nfeed_ready 1\n", body)

    def test_a_named_certificate_shows_the_metrics(self):
        self.assertEqual(self.get("/metrics", certificate="client")[0], 200)
        self.assertEqual(self.get("/metrics", certificate="stranger")[0], 401)

    def test_others_learn_whether_it_is_ready_and_no_more(self):
        for key in (None, self.keys["app"], "0" * 64, "x", self.keys["reader"][:-1] + "g"):
            for path in ("/", "/metrics", "/history"):
                self.assertEqual(self.get(path, key)[0], 401, path)
            self.assertEqual(self.get("/readyz", key), (200, "ready\n"))

    def test_the_protocol_of_the_feed_is_not_spoken(self):
        with self.assertRaises(ssl.SSLError):
            self.get("/livez", protocols=("feed/1", "h2"))
        self.assertEqual(self.get("/livez", protocols=("h2", "http/1.1")), (200, "live\n"))


class AdminFlags(unittest.TestCase):
    """What a start refuses."""

    def refusal(self, *flags):
        ended = subprocess.run([os.path.join(BUILT, "feed-service"), *flags], capture_output=True,
                               text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        return ended.stderr

    def test_a_plain_address_of_other_machines_needs_its_own_flag(self):
        for more in ([], ["--insecure"]):
            said = self.refusal("--admin", "0.0.0.0:0", *more)
            self.assertIn("--admin: 0.0.0.0:0 is not a loopback address", said)
            self.assertIn("--admin-insecure", said)

    def test_tls_needs_a_certificate_and_readers(self):
        said = self.refusal("--admin-tls", "127.0.0.1:0")
        self.assertIn("--tls-cert: --admin-tls needs a file", said)
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = (os.path.join(folder, name) for name in ("server.pem", "server.key"))
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=localhost", "-keyout", key, "-out", certificate)
            said = self.refusal("--admin-tls", "127.0.0.1:0", "--tls-cert", certificate,
                                "--tls-key", key)
        self.assertIn("--admin-tls: nobody could show who reads", said)
        self.assertIn("--service-keys", said)


if __name__ == "__main__":
    unittest.main()
