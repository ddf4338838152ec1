"""README's section "In production", word by word, in a fresh Debian 12 without Swift.

scripts/package.sh --test runs it, as root. Each command of the section is run as it is written there. What
needs a machine of its own is put in its place: systemd starts the unit's program, and the tunnel of ssh is
the loopback address itself.
"""

import contextlib
import datetime
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import debian

HOST = "feed.example.org"
TARGET = ["--target", f"{HOST}:7433", "--tls", "--ca", "ca.pem"]
DATA = "var/lib/feed-service"
BACKUP_SECONDS = 30
FETCH = "import sys, urllib.request as web; print(web.urlopen(sys.argv[1], timeout=10).read().decode())"


def section():
    """The blocks of the section: their languages and texts, in their order."""
    text = (debian.ROOT / "README.md").read_text()
    text = text[text.index("\n## In production\n"):]
    text = text[:text.index("\n## ", 1)]
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(text):
    """The commands of a block; a line that ends with a backslash goes on."""
    return text.replace("\\\n", "").splitlines()


def certify(folder):
    """The files that a new user brings: of an authority, and of the name of the service."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *curve, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", *curve, "-subj", f"/CN={HOST}", "-keyout", "feed.key", "-out", "feed.csr")
    (folder / "names").write_text(f"subjectAltName=DNS:{HOST}\n")
    openssl("x509", "-req", "-in", "feed.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", "feed.pem")


@unittest.skipIf(debian.missing(), f"missing: {', '.join(debian.missing())}")
class ProductionTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.debian = debian.Debian()
        self.addCleanup(self.debian.remove)
        self.network = debian.Network()
        self.addCleanup(self.network.remove)
        self.home = self.debian.path / "root"
        for package in debian.pack(pathlib.Path(folder.name)).values():
            shutil.copy(package, self.home)
        certify(self.home)
        (self.debian.path / "etc/hosts").write_text(f"127.0.0.1 localhost {HOST}\n")
        # Nobody is there who could say yes.
        (self.debian.path / "etc/apt/apt.conf.d/yes").write_text('APT::Get::Assume-Yes "true";\n')

    def shell(self, command, network=None):
        """What a command of the section prints, run by root in its home."""
        return self.debian.run("sh", "-c", f"cd /root && {command}", network=network).stdout

    def fetch(self, url):
        """The page at an address of the network."""
        return subprocess.run([*self.network.command, "/usr/bin/python3", "-c", FETCH, url],
                              check=True, capture_output=True, text=True).stdout

    def running(self):
        """The service as `systemctl restart` starts it."""
        unit = debian.Unit((self.debian.path / "lib/systemd/system/feed-service.service").read_text())
        return debian.running(self.debian.path, unit.command(), unit.user(), self.network)

    def feedctl(self, *words):
        """What feedctl says as the program that has web.key, as JSON."""
        words = ["feedctl", *words, *TARGET, "--service-key-file", "web.key", "--json"]
        return json.loads(self.shell(" ".join(map(str, words)), self.network))

    def backups(self, pattern):
        """The complete backups whose names fit."""
        return list((self.debian.path / DATA / "data/backups").glob(f"{pattern}/state.db"))

    def await_scheduled_backup(self):
        end = time.monotonic() + BACKUP_SECONDS
        while not self.backups("*-scheduled"):
            self.assertLess(time.monotonic(), end, "no scheduled backup was made")
            self.feedctl("list")

    def test_section(self):
        (_, install), (language, settings), (_, use), (_, restore) = section()
        for command in commands(install):
            self.shell(command)
        self.assertEqual(language, "yaml")
        (self.debian.path / "etc/feed-service/feed-service.yaml").write_text(settings)
        self.check_secrets()

        restart, *calls, tunnel = commands(use)
        self.assertRegex(restart, "^systemctl restart feed-service ")
        self.assertRegex(tunnel, "^ssh -L 9433:127.0.0.1:9433 ")
        with self.running():
            self.await_scheduled_backup()
            # One shell, as variables of one line count for the next.
            self.shell("\n".join(["set -e", *calls]), self.network)
            self.assertEqual(len(self.backups("*Z")), 1)
            self.assertIn("<html", self.fetch("http://127.0.0.1:9433/"))
            metrics = self.fetch("http://127.0.0.1:9433/metrics")
            self.assertRegex(metrics, '(?m)^feed_calls_total{.*method="create_post".*} 1$')
            (post,) = self.feedctl("list")["posts"]
            self.assertEqual(post["title"], "Dragon fruit")
            self.feedctl("vote", post["id"], "up")
            moment = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
            self.feedctl("vote", post["id"], "up")

        command, edit, again = commands(restore)
        self.assertEqual(again, "systemctl restart feed-service")
        self.shell(re.sub(r"(?<=--at )\S+", moment, command))
        self.shell(edit)
        with self.running():
            self.assertEqual(self.feedctl("get", post["id"])["score"], 1)

    def check_secrets(self):
        """No file with a secret is another's than the service's user's, and nobody else looks for one."""
        found = self.shell("find /etc/feed-service -name '*.key*' -printf '%f %u %m\n' | sort")
        self.assertEqual(found, "feed.key feed-service 600\nservice.keys feed-service 600\n")
        found = self.shell("stat --format='%n %U %a' web.key night.key")
        self.assertEqual(found, "web.key root 600\nnight.key root 600\n")
        other = self.debian.run("runuser", "-u", "nobody", "--", "ls", "/etc/feed-service", check=False)
        self.assertIn("Permission denied", other.stderr)


if __name__ == "__main__":
    unittest.main()
