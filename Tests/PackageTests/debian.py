"""A fresh Debian 12 in a folder, a network of its own, and the service that a package has put there."""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = os.environ.get("FEED_PROGRAMS", ROOT / ".build-package/release")
RELEASE = "bookworm"
# The longest that a start or a stop may take; a drain alone has ten seconds.
PATIENCE = 30


def pack(folder, *flags):
    """The packages of the programs that are built; by their names."""
    lines = subprocess.run(
        [ROOT / "scripts/package.sh", "--programs", PROGRAMS, "--output", folder, *flags],
        check=True, stdout=subprocess.PIPE, text=True,
        # A package of a test need not be small, and compressing takes minutes.
        env={**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "none"}).stdout.splitlines()
    return {pathlib.Path(line).name.split("_")[0]: pathlib.Path(line) for line in lines}


def mirror():
    """The mirror that apt takes this release from."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    found = [line.split()[1] for line in targets if line.split()[0] == RELEASE]
    if not found:
        raise RuntimeError(f"apt has no source of {RELEASE}: type apt-get update")
    return found[0]


class Debian:
    """A root with what every Debian has, and no Swift; removed at the end."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="feed-debian-"))
        subprocess.run(["debootstrap", "--variant=minbase", RELEASE, self.path, mirror()],
                       check=True, stdout=subprocess.DEVNULL)
        # Other users than root pass through it.
        self.path.chmod(0o755)
        self.mounts = []
        self.mount_proc(self.path)

    def mount_proc(self, root):
        """Mounts /proc in a root at or below this one; Swift reads a program's arguments there."""
        (root / "proc").mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "proc", "proc", root / "proc"], check=True)
        self.mounts.append(root / "proc")

    def remove(self):
        """Removes it."""
        for mount in self.mounts:
            subprocess.run(["umount", mount], check=True)
        shutil.rmtree(self.path)

    def run(self, *command, user=None, check=True, network=None, **options):
        """Runs a command in the root, as a user of it, in a network or in that of this machine."""
        as_user = [f"--userspec={user}:{user}"] if user else []
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                       "DEBIAN_FRONTEND": "noninteractive"}
        inside = network.command if network else []
        finished = subprocess.run([*inside, "chroot", *as_user, self.path, *command], text=True,
                                  env=environment, capture_output=True, **options)
        if check and finished.returncode != 0:
            raise AssertionError(f"{command} ended with {finished.returncode}:\n"
                                 f"{finished.stdout}{finished.stderr}")
        return finished

    def install(self, *packages):
        """Installs packages of this machine, with what they depend on."""
        folder = self.path / "packages"
        folder.mkdir(exist_ok=True)
        for package in packages:
            shutil.copy(package, folder)
        names = [f"/packages/{package.name}" for package in packages]
        return self.run("apt-get", "install", "--yes", "--no-install-recommends", "--allow-downgrades",
                        *names).stdout


class Network:
    """A network with a loopback address and nothing else, so all its ports are free."""

    def __init__(self):
        self.name = f"feed-{os.getpid()}"
        self.command = ["ip", "netns", "exec", self.name]
        subprocess.run(["ip", "netns", "add", self.name], check=True)
        subprocess.run(["ip", "-n", self.name, "link", "set", "lo", "up"], check=True)

    def remove(self):
        """Removes it."""
        subprocess.run(["ip", "netns", "delete", self.name], check=True)


def free_port():
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Unit:
    """What a unit of systemd says, as far as a start without systemd needs it."""

    def __init__(self, text):
        self.values = {}
        for name, value in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE):
            self.values.setdefault(name, []).append(value)

    def one(self, name):
        """The value that stands last."""
        return self.values[name][-1]

    def command(self):
        """The words of ExecStart."""
        return shlex.split(self.one("ExecStart"))

    def user(self):
        """The user and the group, as chroot takes them."""
        return f"{self.one('User')}:{self.one('Group')}"


class Service:
    """The service in a root, started as its user, and told when it is ready."""

    def __init__(self, root, command, user, network=None):
        path = root / "tmp/feed-notify"
        path.unlink(missing_ok=True)
        self.messages = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.messages.bind(str(path))
        self.messages.settimeout(PATIENCE)
        path.chmod(0o666)
        self.process = subprocess.Popen(
            [*(network.command if network else []), "chroot", f"--userspec={user}", root, *command],
            env={"NOTIFY_SOCKET": "/tmp/feed-notify", "PATH": "/usr/bin:/usr/sbin"}, umask=0o077)
        try:
            self.address = re.search(r"^STATUS=Serves on ([^\s,]+)", self.message("READY=1"), re.M).group(1)
        except BaseException:
            self.process.kill()
            self.process.wait()
            self.messages.close()
            raise

    def message(self, first):
        """The next message, which has to begin with a line."""
        text = self.messages.recv(4096).decode()
        if text.split("\n")[0] != first:
            raise AssertionError(f"expected {first} of the service, got {text}")
        return text

    def stop(self):
        """Stops it as systemd does, and returns its exit status."""
        self.process.send_signal(signal.SIGTERM)
        self.message("STOPPING=1")
        self.messages.close()
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def running(root, command, user, network=None):
    """The service while the body runs; it has to stop with 0."""
    service = Service(root, command, user, network)
    try:
        yield service
    except BaseException:
        service.process.kill()
        service.process.wait()
        raise
    status = service.stop()
    if status != 0:
        raise AssertionError(f"the service stopped with {status}")


def missing():
    """What this machine lacks for the tests; empty where they can run."""
    tools = [tool for tool in ("debootstrap", "ip", "lintian", "strace", "systemd-analyze") if not shutil.which(tool)]
    return tools + ([] if os.geteuid() == 0 else ["root"])
