"""The packages in a fresh Debian 12 without Swift: installed, served, upgraded and removed.

scripts/package.sh --test runs it, as root. It takes some minutes, most of them for Debian.
"""

import gzip
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import debian

DATA = "var/lib/feed-service/data"
SETTINGS = "etc/feed-service/feed-service.yaml"
PROGRAMS = {"feed-service": ["feed-service"], "feed-tools": ["feedctl", "loadgen"]}
UNITS = ("feed-service.service", "feed-replica.service")


def with_settings(package, version, text, folder):
    """The package under another version, with other settings: as a later release would be."""
    tree = folder / version
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*$", f"Version: {version}", control.read_text()))
    with open(tree / SETTINGS, "a") as settings:
        settings.write(text)
    made = folder / f"feed-service_{version}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, made], check=True,
                   stdout=subprocess.DEVNULL)
    return made


def field(package, name):
    """What a package says of itself."""
    return subprocess.run(["dpkg-deb", "--field", package, name], check=True, capture_output=True,
                          text=True).stdout.strip()


@unittest.skipIf(debian.missing(), f"missing: {', '.join(debian.missing())}")
class PackageTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.packages = debian.pack(cls.folder / "first")
        cls.debian = debian.Debian()
        cls.addClassCleanup(cls.debian.remove)
        cls.debian.run("apt-get", "update")
        cls.debian.install(*cls.packages.values())
        cls.unit = debian.Unit((cls.debian.path / "lib/systemd/system/feed-service.service").read_text())

    def feedctl(self, service, *arguments):
        """What feedctl in the root says of the service, as JSON."""
        found = self.debian.run("feedctl", *arguments, "--target", service.address, "--json")
        return json.loads(found.stdout)

    def listen_anywhere(self):
        """Lets the service take a free port, as an operator changes the settings; their file."""
        path = self.debian.path / SETTINGS
        path.write_text(path.read_text().replace("127.0.0.1:7433", "127.0.0.1:0"))
        return path

    def running(self):
        """The installed service, as its unit starts it."""
        return debian.running(self.debian.path, self.unit.command(), self.unit.user())

    def test_life_of_a_package(self):
        root = self.debian
        settings = self.listen_anywhere()
        for program in sum(PROGRAMS.values(), []):
            self.assertNotIn("not found", root.run("ldd", f"/usr/bin/{program}").stdout)
        checked = root.run("feed-service", "config", *self.unit.command()[1:], user=self.unit.one("User"))
        self.assertRegex(checked.stdout, "(?m)^data-dir: /var/lib/feed-service/data +# .*yaml:[0-9]+$")
        with self.running() as service:
            post = str(self.feedctl(service, "create", "--title", "Apple")["id"])
            for _ in range(3):
                self.feedctl(service, "vote", post, "up")
        owner = (root.path / DATA).stat()
        self.assertEqual(root.run("stat", "--format=%U %a", f"/{DATA}").stdout, "feed-service 700\n")

        # An upgrade starts the service again over the same data, and keeps what the operator wrote.
        upgrade = debian.pack(self.folder / "second", "--version", "9.0.0")
        root.install(*upgrade.values())
        shown = root.run("dpkg-query", "--show", "--showformat", "${Version}", "feed-service").stdout
        self.assertEqual(shown, "9.0.0")
        self.assertIn("127.0.0.1:0", settings.read_text())
        self.assertEqual((root.path / DATA).stat().st_uid, owner.st_uid)
        with self.running() as service:
            self.assertEqual(self.feedctl(service, "get", post)["score"], 3)
            self.assertEqual(self.feedctl(service, "vote", post, "up")["score"], 4)

        # Removed, and installed again: the data is there.
        root.run("apt-get", "remove", "--yes", "feed-service")
        self.assertFalse((root.path / "usr/bin/feed-service").exists())
        self.assertTrue((root.path / DATA / "state.db").exists())
        root.install(*self.packages.values())
        with self.running() as service:
            self.assertEqual(self.feedctl(service, "get", post)["score"], 4)
        said = root.run("apt-get", "purge", "--yes", "feed-service").stdout
        self.assertIn("the data and its backups stay in /var/lib/feed-service", said)
        self.assertFalse(settings.exists())
        self.assertTrue((root.path / DATA / "state.db").exists())
        root.install(*self.packages.values())

    def test_upgrade_keeps_settings_of_an_operator_alone(self):
        root, package = self.debian, self.packages["feed-service"]
        settings = root.path / SETTINGS
        root.run("apt-get", "purge", "--yes", "feed-service")
        root.install(package)
        self.assertEqual(root.run("stat", "--format=%U:%G %a", "/etc/feed-service").stdout,
                         "root:feed-service 750\n")
        before = settings.read_text()
        root.install(with_settings(package, "9.1.0", "# of 9.1\n", self.folder))
        self.assertEqual(settings.read_text(), before + "# of 9.1\n")
        # dpkg would ask here. Without a terminal, this is the answer "keep".
        (root.path / "etc/dpkg/dpkg.cfg.d/keep").write_text("force-confold\n")
        settings.write_text("threads: 1\n")
        settings.parent.chmod(0o700)
        root.install(with_settings(package, "9.2.0", "# of 9.2\n", self.folder))
        self.assertEqual(settings.read_text(), "threads: 1\n")
        offered = settings.with_name(settings.name + ".dpkg-dist")
        self.assertEqual(offered.read_text(), before + "# of 9.2\n")
        self.assertEqual(settings.parent.stat().st_mode & 0o777, 0o700)
        # A purge takes the settings, and leaves what the package has not brought.
        key = settings.with_name("feed.key")
        key.touch()
        said = root.run("apt-get", "purge", "--yes", "feed-service").stdout
        self.assertIn("/etc/feed-service stays", said)
        self.assertEqual(list(settings.parent.iterdir()), [key])
        key.unlink()
        root.install(package)

    def test_names_the_licences_of_what_is_from_others(self):
        documents = self.debian.path / "usr/share/doc"
        for package, names in (("feed-service", ("swift-argument-parser", "swift-configuration", "Yams")),
                               ("feed-runtime", ("swift",))):
            text = (documents / package / "copyright").read_text()
            for name in names:
                self.assertRegex(text, f"(?m)^==== {name}$")

    def test_is_small_and_has_what_other_programs_read(self):
        sizes = [int(field(package, "Installed-Size")) for package in self.packages.values()]
        self.assertLess(sum(sizes), 105_000)
        share = self.debian.path / "usr/share"
        for name in ("feed.proto", "feed-service.rules.yaml", "grafana.json"):
            self.assertTrue((share / "feed-service" / name).stat().st_size, name)
        pages = share / "doc/feed-service"
        for link in re.findall(r"\]\((docs/\w+\.md)", (pages / "README.md").read_text()):
            self.assertTrue((pages / link).exists(), link)

    def test_a_build_between_releases_sorts_before_the_next(self):
        version = field(self.packages["feed-service"], "Version")
        self.assertRegex(version, r"^\d+\.\d+\.\d+(~git\d{14}\.[0-9a-f]{8})?$")
        subprocess.run(["dpkg", "--compare-versions", version, "le", version.split("~")[0]], check=True)

    def test_lintian_finds_no_error(self):
        # The packages of the tests are not compressed.
        own = ",".join(f"uses-no-compression-for-{part}-tarball" for part in ("control", "data"))
        found = subprocess.run(["lintian", "--fail-on", "none", "--suppress-tags", own,
                                *self.packages.values()], capture_output=True, text=True, check=True)
        self.assertEqual([line for line in found.stdout.splitlines() if line.startswith("E:")], [])

    def test_container(self):
        """Makes the layers as the recipe says, and serves from them alone; no engine is needed."""
        recipe = (debian.ROOT / "Containerfile").read_text()
        layers = re.findall(r"^COPY --from=layers /layers/(\w+)/ /$", recipe, re.MULTILINE)
        self.assertEqual(layers, ["libraries", "program", "configuration"])
        self.assertIn("sh /package/layers.sh /layers /package/feed-*.deb", recipe)
        root = self.debian
        script = debian.ROOT / "packaging/container/layers.sh"
        root.run("sh", "-s", "/layers", *(f"/packages/{path.name}" for path in self.packages.values()),
                 input=script.read_text())
        container = root.path / "container"
        container.mkdir()
        for layer in layers:
            subprocess.run(["cp", "--archive", f"{root.path}/layers/{layer}/.", container], check=True)
        # What an engine adds.
        subprocess.run(["cp", "--archive", "--parents", "dev/null", container], cwd=root.path, check=True)
        root.mount_proc(container)
        entry, arguments = (json.loads(re.search(rf"^{word} (.*)$", recipe, re.MULTILINE).group(1))
                            for word in ("ENTRYPOINT", "CMD"))
        user = re.search("^USER (.*)$", recipe, re.MULTILINE).group(1)
        check = json.loads(re.search(r"^HEALTHCHECK .*CMD (.*)$", recipe, re.MULTILINE).group(1))
        with debian.running(container, entry + arguments + ["--listen", "127.0.0.1:0"], user) as service:
            post = str(self.feedctl(service, "create", "--title", "Apple")["id"])
            self.assertEqual(self.feedctl(service, "vote", post, "up")["score"], 1)
            inside = ["/usr/sbin/chroot", f"--userspec={user}", container, *check, "--target"]
            subprocess.run([*inside, service.address], check=True, capture_output=True, env={})
            self.assertNotEqual(subprocess.run([*inside, "127.0.0.1:1"], capture_output=True, env={}).returncode, 0)
        self.assertEqual((container / DATA).stat().st_uid, int(user.split(":")[0]))
        self.assertFalse((container / "bin/sh").exists())

    def check_page(self, name):
        """The man page of a program, which has to be one."""
        page = gzip.decompress((self.debian.path / f"usr/share/man/man1/{name}.1.gz").read_bytes())
        checked = subprocess.run(["man", "--warnings", "--local-file", "-"], input=page,
                                 capture_output=True, check=True)
        self.assertEqual(checked.stderr, b"")
        self.assertIn(f"{name} - ".encode(), checked.stdout)
        return checked.stdout.decode()

    def test_node_of_a_cluster(self):
        """Makes a node of the package as its settings say, runs it as its unit does, and stops it."""
        if "feed-replica" not in self.packages:
            self.skipTest("feed-replica is not built: there is no Go")
        root = self.debian
        root.install(*self.packages.values())
        unit = debian.Unit((root.path / "lib/systemd/system/feed-replica.service").read_text())
        self.assertEqual(unit.user(), self.unit.user())
        beside = debian.Unit(
            (root.path / "lib/systemd/system/feed-service.service.d/feed-replica.conf").read_text())
        self.assertEqual((beside.one("Wants"), beside.one("RestartForceExitStatus")), ("feed-replica.service", "75"))
        # A service that is to follow is started again; no program of a node that has to be replaced is.
        for each, codes in ((self.unit, "2 3 4 5"), (unit, "2 3 65")):
            self.assertEqual(each.one("RestartPreventExitStatus"), codes)
        self.assertNotIn("RestartPreventExitStatus", beside.values)
        for path, rights in (("/etc/feed-replica", "root:feed-service 750"),
                             ("/var/lib/feed-replica", "feed-service:feed-service 700")):
            self.assertEqual(root.run("stat", "--format=%U:%G %a", path).stdout, rights + "\n")
        page = self.check_page("feed-replica")
        for command in ("run", "init", "join", "cert"):
            self.assertIn(f"feed-replica {command}", page)
        self.assertIn("==== golang-etcd-server-dev", (root.path / "usr/share/doc/feed-replica/copyright").read_text())

        settings = root.path / "etc/feed-replica/feed-replica.yaml"
        # The commands that its comments name are there.
        named = re.findall("(?:-- |`)(feed[a-z-]+ [a-z-]+(?: add)?) ", settings.read_text())
        self.assertEqual(named, ["feed-service begin-cluster", "feed-replica init", "feedctl cluster add",
                                 "feed-replica join"])
        for command in named:
            root.run(*command.split(), "--help")
        settings.write_text(settings.read_text() + "name: a\nlisten: http://127.0.0.1:7440\nmetrics: ''\n"
                            .replace("7440", str(debian.free_port())))
        config = ("--config", "/etc/feed-replica/feed-replica.yaml")
        said = root.run("feed-replica", "init", *config, "--last-index", "7", "--cluster", "1" * 32,
                        user=unit.one("User")).stdout
        self.assertIn("behind record 7.", said)
        root.run("install", "-d", "-o", unit.one("User"), "-m", "0750", "/run/feed-replica")  # as systemd does
        command = ["chroot", f"--userspec={unit.user()}", root.path, *unit.command()]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            self.assertTrue(any('"the node runs"' in line for line in process.stderr))
            process.terminate()
            process.stderr.read()
            self.assertEqual(process.wait(debian.PATIENCE), 0)
        said = root.run("apt-get", "purge", "--yes", "feed-replica").stdout
        self.assertIn("the log stays in /var/lib/feed-replica", said)
        self.assertTrue((root.path / "var/lib/feed-replica/node.json").exists())
        self.assertFalse(settings.exists())
        root.run("rm", "-r", "/var/lib/feed-replica")

    def test_pages_and_completions(self):
        share = self.debian.path / "usr/share"
        for name in sum(PROGRAMS.values(), []):
            self.check_page(name)
            bash = share / f"bash-completion/completions/{name}"
            subprocess.run(["bash", "-n", bash], check=True)
            for path in (f"zsh/vendor-completions/_{name}", f"fish/vendor_completions.d/{name}.fish"):
                self.assertIn(name, (share / path).read_text())

    def test_packs_the_same_bytes_again(self):
        again = debian.pack(self.folder / "again")
        for name, path in self.packages.items():
            self.assertEqual(path.read_bytes(), again[name].read_bytes(), name)

    def test_units_are_hardened(self):
        for unit in UNITS:
            found = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", "--no-pager", debian.ROOT / "packaging" / unit],
                capture_output=True, text=True)
            exposure = re.search(rf"exposure level for {unit}: ([\d.]+)", found.stdout)
            self.assertIsNotNone(exposure, found.stdout + found.stderr)
            self.assertLessEqual(float(exposure.group(1)), 2.0)


if __name__ == "__main__":
    unittest.main()
