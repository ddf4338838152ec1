"""The minimal client counts what was answered, and only answers that are right."""

import collections
import json
import subprocess
import tempfile
import unittest

from fake_server import FakeServer, framed

from support import ROOT

import frames
import servers
from frames import fields_of, varint

POST = varint(1 << 3 | 2) + varint(4) + b"\x08\x05\x48\x01"

# A vote's counts in the answer to a batch.
RESULT = varint(1 << 3 | 2) + varint(4) + b"\x12\x02\x08\x05"


def good(frame_id, call):
    return framed(call, POST * 20 if call == 33 else b"\x08\x05", frame_id)


class PumpTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        subprocess.run([str(ROOT / "Benchmarks/Floor/build.sh"), cls.directory.name], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def pump(self, server, *flags):
        defaults = ["--connections", "3", "--in-flight", "5", "--posts", "100",
                    "--warmup", "0.05", "--seconds", "0.3", "--check-every", "1"]
        return subprocess.run(
            [self.directory.name + "/pump", "--port", str(server.port), *defaults, *flags],
            capture_output=True, text=True, timeout=600)

    def result(self, server, *flags, enough=lambda result: result["checked"] > 0):
        """The figures of a run in which there was enough: on a busy machine it takes longer."""
        for seconds in ("0.3", "3", "30"):
            server.forget()
            finished = self.pump(server, "--seconds", seconds, *flags)
            self.assertEqual(finished.returncode, 0, finished.stderr + finished.stdout)
            result = json.loads(finished.stdout)
            if enough(result):
                return result
        raise AssertionError(f"too little in {seconds} s: {result}")

    def refused(self, server, *flags):
        finished = self.pump(server, *flags)
        self.assertEqual(finished.returncode, 1, finished.stdout)
        return finished.stderr

    def test_counts_answers_however_they_are_cut(self):
        with FakeServer(good, cut=True) as server:
            result = self.result(server)
            self.assertGreater(result["votes"], 0)
            self.assertLessEqual(result["votes"], len(server.posts))
            self.assertEqual(result["refused"], 0)
            self.assertGreater(result["checked"], 0)

    def test_mixes_pages_into_the_votes_of_users(self):
        asked, calls = {1: b"news", 2: 4, 3: 5, 4: 20}, []

        def answer(frame_id, call):
            calls.append(call)
            return good(frame_id, call)
        with FakeServer(answer) as server:
            result = self.result(
                server, "--page-share", "70", "--voters", "9", "--feed", "news", "--order", "4",
                "--window", "5", enough=lambda result: result["votes"] > 500)
            self.assertAlmostEqual(result["pages"] / (result["votes"] + result["pages"]), 0.7, delta=0.05)
            self.assertLessEqual(result["votes"], calls.count(40))
            self.assertLessEqual(result["pages"], calls.count(33))
            pages = [fields_of(body) for body in server.bodies if fields_of(body).get(4)]
            self.assertTrue(all(page == asked for page in pages))
            self.assertEqual(server.page_users, {1 << 63 | number for number in range(9)})

    def test_further_pages_are_behind_the_first_one_or_the_one_before(self):
        def answer(frame_id, call):
            return framed(call, POST * 20 + b"\x12\x09token%04d" % (frame_id % 10000), frame_id)
        with FakeServer(answer) as server:
            self.result(
                server, "--page-share", "100", "--further", "--connections", "1", "--in-flight", "1",
                enough=lambda _: len(server.bodies) > 100)
            tokens = [fields_of(body).get(5) for body in server.bodies]
            self.assertIsNone(tokens[0])
            for before, token in enumerate(tokens[1:], 1):
                self.assertIn(token, (b"token0001", b"token%04d" % (before % 10000)))
            self.assertIn(b"token0001", tokens[2:])
            self.assertIn(b"token0050", tokens)

    def test_the_floor_of_pages_answers_as_the_service_did(self):
        tools = collections.namedtuple("Tools", "floor")(self.directory.name)
        for calls, share in (((33, 40), "50"), ((33,), "100")):
            with tempfile.NamedTemporaryFile() as file:
                answers = [good(300, call) for call in calls]
                file.write(b"".join(answers))
                file.flush()
                with servers.Floor(tools, answers=file.name) as floor:
                    floor.forget = lambda: None
                    result = self.result(floor, "--page-share", share, "--in-flight", "64")
                    self.assertEqual(result["refused"], 0)
                    self.assertGreater(result["pages"], 0)
                    self.assertEqual(result["votes"] > 0, share == "50")
                    if share == "100":  # a request that was not recorded ends the connection
                        self.refused(floor, "--page-share", "50")

    def test_the_floor_of_pages_waits_for_the_rest_of_a_request(self):
        tools = collections.namedtuple("Tools", "floor")(self.directory.name)
        request = [frames.framed(number, 40, b"\x08\x05", 1 << 63) for number in (300, 301)]
        with tempfile.NamedTemporaryFile() as file:
            file.write(good(1, 40))
            file.flush()
            with servers.Floor(tools, answers=file.name) as floor, frames.Connection(floor) as connection:
                connection.socket.sendall(request[0] + request[1][:9])
                self.assertEqual(connection.read(), good(300, 40)[4:])
                connection.socket.sendall(request[1][9:])
                self.assertEqual(connection.read(), good(301, 40)[4:])

    def test_takes_its_own_votes_back_from_the_echo(self):
        tools = collections.namedtuple("Tools", "floor")(self.directory.name)
        with servers.Floor(tools) as echo:
            echo.forget = lambda: None
            result = self.result(echo, "--in-flight", "64")
            self.assertEqual(result["refused"], 0)

    def test_keeps_as_many_in_flight_as_asked(self):
        with FakeServer(lambda frame_id, call: b"") as server:
            self.refused(server)
            self.assertEqual([len(ids) for ids in server.ids], [5, 5, 5])

    def test_ids_rise_by_one_and_posts_are_those_asked_for(self):
        with FakeServer(good) as server:
            self.result(server)
            for ids in server.ids:
                self.assertEqual(ids, list(range(1, len(ids) + 1)))
            self.assertEqual(set(server.posts) - set(range(1, 101)), set())

    def test_a_user_belongs_to_one_connection_and_changes_ballots(self):
        with FakeServer(good) as server:
            self.result(server, "--voters", "50", enough=lambda _: len(server.ballots) > 2000)
            connections = collections.defaultdict(set)
            for connection, user, _ in server.ballots:
                connections[user].add(connection)
            self.assertEqual(set(connections), {1 << 63 | number for number in range(50)})
            self.assertEqual({len(used) for used in connections.values()}, {1})
            shares = collections.Counter(direction for _, _, direction in server.ballots)
            for direction, share in ((1, 10 / 16), (2, 4 / 16), (3, 2 / 16)):
                self.assertAlmostEqual(shares[direction] / len(server.ballots), share, delta=0.05)

    def test_a_ballot_of_redis_is_a_call_of_the_script(self):
        seen = []

        def answer(_, texts):
            seen.append(texts)
            return b"$1\r\n7\r\n"
        script = "a" * 40
        with FakeServer(answer, resp=True, cut=True, texts=8) as server:
            self.result(server, "--protocol", "resp", "--voters", "3", "--script", script)
        for texts in seen:
            call, sha, count, ballots, posts, voter, member, score = [text.decode() for text in texts]
            self.assertEqual((call, sha, count, posts), ("EVALSHA", script, "2", "posts"))
            self.assertEqual(ballots[1:], member[1:])
            self.assertIn(int(voter), range(3))
            self.assertIn(score, ("1", "-1", "0"))

    def test_zipf_gives_the_hottest_post_its_share(self):
        with FakeServer(good) as server:
            self.result(server, "--zipf", "1", enough=lambda _: len(server.posts) > 2000)
            (_, most), = collections.Counter(server.posts).most_common(1)
            harmonic = sum(1 / rank for rank in range(1, 101))
            self.assertAlmostEqual(most / len(server.posts), 1 / harmonic, delta=0.03)

    def test_refuses_an_answer_to_another_request(self):
        with FakeServer(lambda frame_id, call: good(frame_id + (frame_id == 7), call)) as server:
            self.assertIn("to request 8, where 7 is due", self.refused(server))

    def test_refuses_a_status(self):
        with FakeServer(lambda frame_id, _: framed(3, b"\x08\x05", frame_id)) as server:
            self.assertIn("a wrong answer", self.refused(server))

    def test_counts_the_votes_of_batches(self):
        with FakeServer(lambda frame_id, call: framed(call, RESULT * 9, frame_id)) as server:
            result = self.result(server, "--batch", "9")
            self.assertEqual(result["votes"] % 9, 0)
            self.assertGreater(result["votes"], 0)
            self.assertLessEqual(result["votes"], 9 * len(server.batches))
            self.assertEqual(result["checked"] > 0, True)

    def test_refuses_a_batch_that_is_not_full_or_has_a_status(self):
        status = varint(1 << 3 | 2) + varint(4) + b"\x0a\x02\x08\x05"
        for results in (RESULT * 8, RESULT * 10, RESULT * 8 + status):
            with FakeServer(lambda frame_id, call: framed(call, results, frame_id)) as server:
                self.assertIn("a wrong answer", self.refused(server, "--batch", "9"))

    def test_refuses_a_page_that_is_not_full(self):
        pages = ["--connections", "1", "--page-share", "100"]
        with FakeServer(good) as server:
            self.assertGreater(self.result(server, *pages)["pages"], 0)
        with FakeServer(lambda frame_id, _: framed(33, POST * 19, frame_id)) as server:
            self.assertIn("a wrong answer", self.refused(server, *pages))

    def test_counts_nested_answers_of_redis_however_they_are_cut(self):
        page = b"*2\r\n*3\r\n$1\r\na\r\n:7\r\n*2\r\n$-1\r\n$0\r\n\r\n$4\r\n\r\n+x\r\n"
        asked = ["--protocol", "resp", "--connections", "1", "--page-share", "100", "--script", "0" * 40]
        with FakeServer(lambda *_: page, resp=True, cut=True) as server:
            result = self.result(server, *asked)
            self.assertGreater(result["pages"], 0)
            self.assertLessEqual(abs(len(server.ids[0]) - result["checked"]), 16)

    def test_refuses_an_error_of_redis(self):
        with FakeServer(lambda *_: b"-ERR no\r\n", resp=True) as server:
            self.assertIn("-ERR no", self.refused(server, "--protocol", "resp"))

    def test_an_open_loop_sends_bursts_in_turn_at_its_rate(self):
        with FakeServer(good) as server:
            result = self.result(server, "--vote-rate", "5000", "--burst", "7",
                                 enough=lambda _: all(server.ids) and len(server.ids) == 3)
            # The end of the client cuts the last burst if the server has not read it.
            for count in server.firsts:
                self.assertEqual(count % 7, 0)
            due = 5000 * (result["seconds"] + 1)
            self.assertLessEqual(sum(len(ids) for ids in server.ids), due)
            self.assertLessEqual(result["latencies"], due)
            self.assertLessEqual(result["p50_ms"], result["p99_ms"])

    def test_an_open_loop_of_batches_has_its_rate_in_votes(self):
        with FakeServer(lambda frame_id, call: framed(call, RESULT * 9, frame_id)) as server:
            result = self.result(server, "--batch", "9", "--vote-rate", "9000", "--burst", "1")
            self.assertEqual(result["votes"] % 9, 0)
            self.assertGreater(result["votes"], 0)
            # 1,000 a second are due; as many as votes would be 9,000.
            self.assertLess(len(server.batches), 1000 * (result["seconds"] + 1))

    def test_a_latency_runs_from_when_the_vote_was_due(self):
        # Votes on a connection are due every 6 ms, and each burst is answered with the next one.
        held = []

        def late(frame_id, call):
            answers = b""
            if frame_id % 6 == 1:
                answers = b"".join(held)
                held.clear()
            held.append(good(frame_id, call))
            return answers
        with FakeServer(late) as server:
            result = self.result(
                server, "--connections", "1", "--vote-rate", "1000", "--burst", "6")
            self.assertGreaterEqual(result["p50_ms"], 5)

    def test_what_was_never_answered_has_a_latency_too(self):
        def first_ten(frame_id, call):
            return good(frame_id, call) if frame_id <= 10 else b""
        with FakeServer(first_ten) as server:
            result = self.result(
                server, "--connections", "1", "--vote-rate", "1000", "--burst", "5",
                "--warmup", "0",
                enough=lambda result: result["latencies"] > 100 and result["p50_ms"] > 50)
            # Those that were answered took less.
            self.assertGreater(result["p50_ms"], 50)

    def test_latencies_are_of_the_measured_time(self):
        with FakeServer(good) as server:
            result = self.result(server, "--vote-rate", "1000", "--burst", "5", "--warmup", "1")
            self.assertGreater(result["latencies"], 0)
            self.assertLess(result["latencies"], 0.7 * sum(len(ids) for ids in server.ids))

    def test_a_burst_needs_a_rate(self):
        with FakeServer(good) as server:
            self.assertEqual(self.pump(server, "--burst", "5").returncode, 2)

    def test_fails_where_the_server_closes(self):
        def answer(frame_id, call):
            raise OSError
        with FakeServer(answer) as server:
            self.refused(server, "--seconds", "5")


if __name__ == "__main__":
    unittest.main()
