"""The kills find what a service loses, doubles or forgets, and nothing in one that does neither."""

import json
import tempfile
import unittest

from support import SoakTestCase


class KillTests(SoakTestCase):
    def soak(self, output, *flags, **environment):
        return self.run_soak(
            "kill", "--output", output, "--longest", "0.4", "--directory-cycles", "4", *flags,
            **environment)

    def failing(self, fault, said, **environment):
        """Runs cycles until the fault of a service is found, which must be named."""
        with tempfile.TemporaryDirectory() as output:
            finished = self.soak(output, "--cycles", "1000", "--votes", "1", "--seed", "3",
                                 FAKE_FAULT=fault, **environment)
            self.assertEqual(finished.returncode, 1, finished.stdout + finished.stderr)
            self.assertRegex(finished.stderr, said)
            self.assertIn("1 failures", finished.stdout)
            self.assertIn("FAILED", finished.stdout)
            # A failure is not forgotten by the next run.
            again = self.soak(output, "--cycles", "1", "--votes", "1")
            self.assertEqual(again.returncode, 1)

    def test_a_service_that_keeps_its_word_passes_and_runs_add_up(self):
        with tempfile.TemporaryDirectory() as output:
            first = self.soak(output, "--cycles", "3", "--votes", "0", "--seed", "5")
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertRegex(first.stdout, r"^kill: 3 cycles, [\d,]+ acknowledged votes, [\d,]+ ")
            self.assertIn(" 0 failures, ", first.stdout)
            self.assertIn(": done", first.stdout)
            # Goes on until a vote: a busy machine takes a second to start the load generator.
            second = self.soak(output, "--cycles", "5", "--votes", "1", "--seed", "5",
                               "--longest", "3")
            self.assertRegex(second.stdout, r"^kill: \d+ cycles, ")
            with open(output + "/kill.jsonl") as file:
                pieces = [json.loads(line) for line in file]
            self.assertGreaterEqual(len(pieces), 5)
            self.assertIn(f"kill: {len(pieces)} cycles", second.stdout)
            self.assertGreater(sum(piece["votes"] for piece in pieces), 0)
            self.assertGreater(sum(piece["changes"] for piece in pieces), 0)
            self.assertEqual(len({piece["delay"] for piece in pieces}), len(pieces))

    def test_a_service_that_refuses_changes_for_now_passes(self):
        with tempfile.TemporaryDirectory() as output:
            finished = self.soak(output, "--cycles", "3", "--votes", "0", "--seed", "7",
                                 "--longest", "3", FAKE_FAULT="busy")
            self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
            with open(output + "/kill.jsonl") as file:
                self.assertGreater(sum(json.loads(line)["changes"] for line in file), 0)

    def test_stops_when_the_minutes_are_over(self):
        with tempfile.TemporaryDirectory() as output:
            finished = self.soak(output, "--minutes", "1e-9")
            self.assertEqual(finished.returncode, 0, finished.stderr)
            self.assertIn("kill: 1 cycles", finished.stdout)
            self.assertIn("not all of it yet", finished.stdout)

    def test_moments_are_those_of_the_seed(self):
        delays = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as output:
                self.soak(output, "--cycles", "2", "--votes", "0", "--seed", "11")
                with open(output + "/kill.jsonl") as file:
                    delays.append([json.loads(line)["delay"] for line in file])
        self.assertEqual(*delays)

    def test_finds_what_is_acknowledged_before_it_is_written(self):
        self.failing("lose", "(audit|verify) .*ended with|of client c|has forgotten client|FEED")

    def test_finds_what_is_executed_twice(self):
        self.failing("twice", "was created again")

    def test_finds_a_forgotten_client(self):
        self.failing("forget", "has forgotten client")

    def test_finds_ballots_of_users_that_are_taken_for_the_devices(self):
        self.failing("merge", "of client c")

    def test_finds_marks_that_are_lost(self):
        self.failing("unmark", "of client c")

    def test_finds_sessions_that_are_open_again(self):
        self.failing("reopen", "was ended and is open after the restart")

    def test_finds_a_list_without_a_post(self):
        self.failing("skip", "CONTROVERSIAL of mixed, LIVE misses posts")

    def test_finds_a_window_without_a_post(self):
        self.failing("shut", "TOP of mixed in DAY, LIVE misses posts")

    def test_finds_ids_that_go_back(self):
        self.failing("reuse", "was created behind post|of client c")

    def test_finds_a_state_that_is_not_the_verified_one(self):
        self.failing("drift", "verify said")

    def test_finds_a_journal_that_replays_to_another_state(self):
        self.failing("replay", "replaying the whole journal gives")

    def test_finds_a_service_that_does_not_start_again(self):
        self.failing("refuse", "did not start")

    def test_finds_a_state_that_was_not_the_last_one_served(self):
        self.failing("last", "stopped with state hash")

    def test_finds_a_bad_end(self):
        self.failing("status", "stopped with 3")

    def test_finds_a_service_that_ends_by_itself(self):
        self.failing("crash", "ended by itself, with 134")

    def test_finds_a_load_generator_that_fails_otherwise(self):
        self.failing("", "loadgen lost its service and ended with 2", FAKE_LOADGEN_STATUS="2")


if __name__ == "__main__":
    unittest.main()
