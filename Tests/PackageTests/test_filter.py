"""What the service asks of the system is what its unit allows, through all that a service does.

Here runs no systemd, so a trace of the system calls is compared with the unit's lists.
scripts/package.sh --test runs it, as it needs the programs.
"""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

import debian

PROGRAMS = pathlib.Path(debian.PROGRAMS)

USER = "nobody"


def expand(name):
    """The system calls of a group, or the call itself."""
    if not name.startswith("@"):
        return {name}
    text = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name],
                          check=True, capture_output=True, text=True).stdout
    members = re.findall(r"^    ([@\w-]+)$", text, re.MULTILINE)
    return set().union(*map(expand, members))


def allowed(unit):
    """The system calls that a unit lets through: its lists in their order, and what systemd adds."""
    calls = expand("@default")
    for line in unit.values["SystemCallFilter"]:
        named = set().union(*map(expand, line.removeprefix("~").split()))
        calls = calls - named if line.startswith("~") else calls | named
    return calls


class Traced:
    """A service under strace, which writes what it asks for into a file."""

    def __init__(self, directory, *flags):
        self.path = directory / "trace"
        address = directory / "notify"
        address.unlink(missing_ok=True)
        messages = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        messages.bind(str(address))
        messages.settimeout(120)
        address.chmod(0o666)
        self.process = subprocess.Popen(
            # Not as root, whom SQLite also lets change the owners of its files.
            ["strace", "--user", USER, "--follow-forks", "--output", self.path, "--output-append-mode",
             PROGRAMS / "feed-service", "--listen", "127.0.0.1:0",
             "--data-dir", directory / "data", *flags],
            env={"NOTIFY_SOCKET": str(address), "WATCHDOG_USEC": "200000", "PATH": os.environ["PATH"],
                 # Of Swift's libraries, which scripts/package.sh names.
                 "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")},
            stderr=subprocess.DEVNULL)
        try:
            self.address = re.search(r"STATUS=Serves on (\S+)", messages.recv(4096).decode()).group(1)
        except TimeoutError:
            self.stop()
            raise
        finally:
            messages.close()

    @property
    def service(self):
        """The process id of the service, which strace has started."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(children.read_text().split()[0])

    def stop(self):
        """Stops the service, and waits for strace."""
        os.kill(self.service, signal.SIGTERM)
        return self.process.wait(120)


@unittest.skipIf(debian.missing(), f"missing: {', '.join(debian.missing())}")
class FilterTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        directory = pathlib.Path(folder.name)
        cls.unit = debian.Unit((debian.ROOT / "packaging/feed-service.service").read_text())
        keys = directory / "service.keys"
        key = directory / "operator.key"
        made = subprocess.run([PROGRAMS / "feed-service", "new-service-key", "operator", key, "--role", "operator"],
                              check=True, capture_output=True)
        keys.write_bytes(made.stdout)
        keys.chmod(0o600)
        for path in (directory, keys):
            shutil.chown(path, USER)

        def feedctl(service, *arguments, **options):
            subprocess.run([PROGRAMS / "feedctl", *arguments, "--target", service.address], check=True,
                           capture_output=True, timeout=120, **options)

        for _ in range(2):
            service = Traced(directory, "--service-keys", keys)
            feedctl(service, "create", "--title", "Apple")
            subprocess.run([PROGRAMS / "loadgen", "--target", service.address, "--clients", "8",
                            "--requests", "2000", "--posts", "100"], capture_output=True, timeout=120)
            feedctl(service, "list")
            os.kill(service.service, signal.SIGHUP)
            feedctl(service, "signup", f"{service.service}@example.org", "--profile", directory / "profile",
                    input=b"correct horse battery\n")
            feedctl(service, "backup", "--service-key-file", key)
            status = service.stop()
            if status != 0:
                raise AssertionError(f"the traced service stopped with {status}")
        cls.trace = (directory / "trace").read_text(errors="replace").splitlines()

    def calls(self, names):
        """The lines of calls of some names."""
        return [line for line in self.trace if re.match(rf"\d+ +(?:{names})\(", line)]

    def test_asks_for_calls_that_the_filter_allows(self):
        asked = {match.group(1) for line in self.trace
                 if (match := re.match(r"\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)", line))}
        self.assertIn("fdatasync", asked)
        self.assertEqual(asked - allowed(self.unit), set())

    def test_opens_sockets_of_the_allowed_families(self):
        families = set(re.findall(r"socket\((AF_\w+)", "\n".join(self.trace)))
        self.assertIn("AF_INET", families)
        self.assertLessEqual(families, set(self.unit.one("RestrictAddressFamilies").split()))

    def test_makes_no_memory_executable(self):
        self.assertNotEqual(self.calls("mmap"), [])
        wrong = [line for line in self.calls("mmap") if re.search("PROT_WRITE[^,]*PROT_EXEC", line)]
        wrong += [line for line in self.calls("mprotect|pkey_mprotect") if "PROT_EXEC" in line]
        self.assertEqual(wrong, [])

    def test_reads_nothing_of_proc_that_is_hidden(self):
        names = set(re.findall(r'"/proc/(\w+)', "\n".join(self.calls("openat|open"))))
        self.assertIn("self", names)
        if self.unit.one("ProcSubset") == "pid":
            self.assertEqual({name for name in names if name != "self" and not name.isdigit()}, set())

    def test_writes_below_its_data_only(self):
        opened = self.calls("openat|open|creat")
        paths = [re.search(r'"([^"]*)"', line).group(1) for line in opened
                 if re.search("O_WRONLY|O_RDWR|O_CREAT", line)]
        self.assertNotEqual(paths, [])
        self.assertEqual([path for path in paths if path.startswith("/") and "/data" not in path], [])


if __name__ == "__main__":
    unittest.main()
