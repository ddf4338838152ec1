"""The durable rows: the disk is a real one, what comes after the votes counts, targets are right."""

import contextlib
import os
import subprocess
import tempfile
import types
import unittest
from unittest import mock

import support  # noqa: F401

import disk
import durable
import latency
import machine
import restart
import runs
import servers
from clients import Sample

MOUNTS = """\
1 0 254:0 / / rw,relatime - ext4 /dev/vda rw
2 1 0:9 / /dev rw - devtmpfs devtmpfs rw
3 2 0:10 / /dev/shm rw - tmpfs tmpfs rw
4 1 8:1 / /mnt/a\\040disk rw shared:1 - xfs /dev/sda1 rw
5 1 8:2 / /mnt/twice rw - ext4 /dev/sdb rw
6 1 0:11 / /mnt/twice rw - tmpfs none rw
"""


def sample(cost, per_second=1_000_000, seconds=2):
    millions = per_second * seconds / 1e6
    return Sample({"seconds": seconds, "votes": per_second * seconds, "client_seconds": 0,
                   "server_seconds": cost * millions, "busy_seconds": 0, "steal_seconds": 0})


def one_run(cost, per_second, floors, written=0, afterwards=(0, True)):
    return runs.Run(
        [sample(cost, per_second)], [sample(one) for one in floors], written, afterwards, 0)


class DiskTests(unittest.TestCase):
    def test_finds_the_file_system_of_a_path(self):
        with tempfile.NamedTemporaryFile("w") as table:
            table.write(MOUNTS)
            table.flush()
            found = {"/home/x": "ext4", "/dev": "devtmpfs", "/dev/shm/a": "tmpfs",
                     "/dev/shmx": "devtmpfs", "/mnt/a disk/b": "xfs", "/mnt/twice": "tmpfs"}
            for path, kind in found.items():
                with self.subTest(path=path):
                    self.assertEqual(disk.mount_of(path, table.name)[0], kind)

    def test_refuses_a_directory_in_memory(self):
        with tempfile.TemporaryDirectory() as path, \
                mock.patch.object(disk, "mount_of", return_value=("tmpfs", "none")):
            with self.assertRaisesRegex(RuntimeError, "is a tmpfs"):
                with disk.directory(types.SimpleNamespace(disk=path)):
                    self.fail("the directory was given out")

    def test_syncs_each_append_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as path, \
                mock.patch.object(disk, "mount_of", return_value=("ext4", "x")), \
                mock.patch.object(os, "fdatasync", wraps=os.fdatasync) as synced:
            taken = disk.syncs(types.SimpleNamespace(disk=path), 30)
            self.assertEqual(len(taken), 30)
            self.assertEqual(synced.call_count, 30 + disk.WARMUP_APPENDS)
            self.assertEqual(os.listdir(path), [])

    def test_a_percentile_is_one_of_the_values(self):
        values = list(range(100, 0, -1))
        self.assertEqual(disk.percentile(values, 0.5), 50)
        self.assertEqual(disk.percentile(values, 0.99), 99)
        self.assertEqual(disk.percentile([7], 0.99), 7)


class DurableTests(unittest.TestCase):
    def options(self):
        return types.SimpleNamespace(
            connections=1, posts=1, in_flight=[64], durable_rounds=2, durable_seconds=60)

    def rows(self, rests=True):
        ours = [one_run(0.4, 1_000_000, [0.1, 0.3]),
                one_run(0.6, 3_000_000, [0.2, 0.2], afterwards=(0.6, rests))]
        always = [one_run(2, 100_000, [0.2]), one_run(2, 1_000_000, [0.2])]
        everysec = [one_run(2, 500_000, [0.2])] * 2
        taken = {("service fsync", 64): ours, ("redis always", 64): always,
                 ("redis everysec", 64): everysec}
        about = {"file_system": "ext4", "device": "x"}
        return durable.PART.table(
            {"runs": taken, "disk": disk.summary([0.001]), "about": about}, self.options())

    def test_what_is_done_after_the_votes_is_a_part_of_their_cost(self):
        taken = one_run(1, 1_000_000, [0.5], written=48_000_000, afterwards=(1, True))
        self.assertAlmostEqual(taken.cost, 1.5)       # a second more for two million votes
        self.assertAlmostEqual(taken.over_floor, 3)
        self.assertAlmostEqual(taken.bytes_a_vote, 24)

    def test_targets_are_of_floors_and_of_redis_that_syncs_always(self):
        ours, always, everysec = self.rows().rows
        self.assertEqual(ours[5], "2.75")             # 0.4 ÷ 0.2, and (0.6 + 0.1) ÷ 0.2
        self.assertEqual(ours[-1], "≤ 5.2: met")
        self.assertEqual(always[-2:], ["6.50", "≥ 5: met"])  # of 10 and 3
        self.assertEqual(everysec[-2:], ["4.00", ""])

    def test_says_when_a_server_does_not_come_to_rest(self):
        self.assertFalse(any("still worked" in text for text in self.rows().notes))
        self.assertTrue(any("still worked" in text for text in self.rows(rests=False).notes))

    def test_a_run_has_the_floor_around_each_slice(self):
        class Server:
            pid = os.getpid()
        asked = []
        load = runs.Load(
            "votes", {}, lambda *_: None,
            lambda _options, _server, _row, _in_flight, seconds, seed:
                (asked.append((seconds, seed)), sample(2 + seed))[1],
            lambda *_: (asked.append("floor"), sample(1))[1])
        with tempfile.TemporaryDirectory() as path, \
                mock.patch.object(disk, "directory", return_value=contextlib.nullcontext(path)), \
                mock.patch.object(runs, "start", return_value=contextlib.nullcontext(Server)), \
                mock.patch.object(runs, "wait_until_idle", return_value=(0.5, True)):
            options = types.SimpleNamespace(durable_seconds=25, warmup=25 / 3)
            taken = runs.measure(load, options, None, "service fsync", 1)
        slices = [(25 / 3, 1), (25 / 3, 2), (25 / 3, 3)]
        self.assertEqual(asked, ["floor", slices[0], "floor", slices[1], "floor", slices[2], "floor"])
        self.assertAlmostEqual(taken.cost, 4.125)  # 3, 4 and 5, and a quarter second for two million
        self.assertAlmostEqual(taken.over_floor, 4.125)
        self.assertEqual(taken.sample.seconds, 6)

    def test_waiting_counts_until_the_process_is_idle(self):
        used = iter([1, 1.4, 1.7, 1.7])
        with mock.patch.object(machine, "cpu_seconds", side_effect=lambda _: next(used)), \
                mock.patch.object(machine, "children_seconds", return_value=0), \
                mock.patch.object(runs, "IDLE_STEP", 0.001):
            seconds, rests = runs.wait_until_idle(1)
        self.assertAlmostEqual(seconds, 0.7)
        self.assertTrue(rests)

    def test_children_and_written_bytes_are_read(self):
        subprocess.run(["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"], check=True)
        self.assertGreater(machine.children_seconds(os.getpid()), 0)
        self.assertGreaterEqual(machine.written_bytes(os.getpid()), 0)


class LatencyTests(unittest.TestCase):
    def round(self, p99, sync, skipped=0):
        return {"rate": 1000, "p50_ms": 1, "p99_ms": p99, "p999_ms": p99, "memory_p99_ms": p99 / 4,
                "skipped": skipped, "disk": {"p50_ms": sync, "p99_ms": sync}}

    def table(self, *rounds):
        return latency.PART.table({"rounds": rounds, "about": {"file_system": "ext4"}, "quiet": ""},
                             types.SimpleNamespace(connections=1, posts=1))

    def test_the_rate_is_half_of_the_capacity(self):
        self.assertEqual(latency.rate_of(2_500_000), 1_250_000)
        self.assertEqual(latency.rate_of(700), 1000)

    def test_each_round_is_held_against_its_own_disk(self):
        self.assertEqual(latency.limit(4), 22)
        self.assertIn(": met", self.table(self.round(6, 1)).rows[0][-1])
        # Two of three rounds are over what their disk allowed; the medians of both are not.
        rounds = [self.round(9, 1), self.round(70, 10), self.round(9, 10)]
        self.assertIn("missed", self.table(*rounds).rows[0][-1])

    def test_says_when_votes_were_not_sent(self):
        self.assertEqual(len(self.table(self.round(6, 1)).notes), 1)
        self.assertIn("5 votes", self.table(self.round(6, 1, skipped=5)).notes[1])


class RestartTests(unittest.TestCase):
    def restarted(self, last_post_id):
        imported = [Sample({"seconds": 1, "votes": 0, "client_seconds": 0, "server_seconds": 1,
                            "last_post_id": last}) for last in (100, last_post_id)]
        service = mock.MagicMock()
        service.__enter__.return_value = service
        with mock.patch.object(servers, "Service", return_value=service), \
                mock.patch.object(restart.clients, "import_posts", side_effect=imported), \
                mock.patch.object(restart.clients, "read_orders"):
            result = restart.restart(None, "directory", 100)
        service.kill.assert_called_once()
        return result

    def test_the_posts_must_be_there_again(self):
        self.assertGreaterEqual(self.restarted(101)["seconds"], 0)
        for wrong in (1, 100, 16_777_317):
            with self.assertRaisesRegex(RuntimeError, "the next post was"):
                self.restarted(wrong)


class ServerTests(unittest.TestCase):
    def command(self, make):
        with mock.patch.object(servers.Server, "__init__", side_effect=KeyError) as started:
            with self.assertRaises(KeyError):
                make()
        return " ".join(started.call_args.args[0])

    def test_a_service_is_in_memory_or_synced_and_always_says_which(self):
        tools = types.SimpleNamespace(binaries="bin")
        self.assertIn("--in-memory", self.command(lambda: servers.Service(tools)))
        kept = self.command(lambda: servers.Service(tools, "/d"))
        self.assertIn("--data-dir /d/feed-data --durability fsync", kept)
        self.assertNotIn("--in-memory", kept)

    def test_redis_keeps_its_log_in_the_directory(self):
        kept = self.command(lambda: servers.Redis(None, "/d", "always"))
        self.assertIn("--appendonly yes --appendfsync always --dir /d", kept)
        self.assertIn("--appendonly no", self.command(lambda: servers.Redis(None)))


if __name__ == "__main__":
    unittest.main()
