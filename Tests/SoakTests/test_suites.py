"""Runs of the test suites add up, each piece has seeds of its own, and a failure is one."""

import tempfile
import unittest

from support import SoakTestCase


class SuiteTests(SoakTestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.output = directory.name
        self.log = directory.name + "/log"

    def soak(self, *flags, **environment):
        return self.run_soak(*flags, "--output", self.output, FAKE_SWIFT_LOG=self.log,
                             FEED_SEED="7", **environment)

    def asked(self):
        with open(self.log) as file:
            return [line.split() for line in file]

    def test_pieces_add_up_to_the_count_and_share_no_seed(self):
        first = self.soak("power", "--count", "5000")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertRegex(first.stdout, r"^power: 5,000 power cuts in each of 2 suites, 0 failures, "
                         r"\d+ s: done$")
        self.assertEqual(self.asked(), [["1", "2000", r"\.\w*PowerCut\w*Tests/", "None"],
                                        ["1000001", "2000", r"\.\w*PowerCut\w*Tests/", "None"],
                                        ["2000001", "1000", r"\.\w*PowerCut\w*Tests/", "None"]])
        more = self.soak("power", "--count", "6000")
        self.assertIn("power: 6,000 power cuts", more.stdout)
        self.assertEqual(self.asked()[3:], [["3000001", "1000", r"\.\w*PowerCut\w*Tests/", "None"]])

    def test_flips_are_counted_apart(self):
        self.assertIn("flips: 10,000 bit flips in each of 2 suites", self.soak("flips").stdout)
        self.assertEqual(len(self.asked()), 10)

    def test_each_codec_is_combined_with_each_transport_in_a_build_of_its_own(self):
        finished = self.soak("combinations", FEED_TRANSPORT="nio")
        self.assertIn("combinations: 4 combinations of codec and transport", finished.stdout)
        self.assertEqual(self.asked()[1::2], [
            ["None", "None"], ["swift", "None", ".build/swift"], ["None", "nio", ".build/nio"],
            ["swift", "nio", ".build/swift-nio"]])

    def test_an_outbox_is_killed_over_the_transport_of_the_environment(self):
        finished = self.soak("outbox", "--count", "100", FEED_TRANSPORT="nio", FEED_COMBINATION="1")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertEqual(self.asked()[1], ["None", "nio", ".build/nio"])

    def test_a_failure_ends_it_and_is_not_forgotten(self):
        for _ in range(2):
            finished = self.soak("power", "--count", "9000", FAKE_BAD_SEED="1000001")
            self.assertEqual(finished.returncode, 1)
            self.assertIn("1 failures", finished.stdout)
            self.assertEqual(len(self.asked()), 2)

    def test_no_suite_at_all_is_a_failure(self):
        self.assertEqual(self.soak("flips", FAKE_SUITES="0").returncode, 1)

    def test_stops_when_the_minutes_are_over(self):
        finished = self.soak("flips", "--minutes", "1e-9")
        self.assertEqual(finished.returncode, 0)
        self.assertIn("flips: 1,000 bit flips", finished.stdout)
        self.assertIn("not all of it yet", finished.stdout)

    def test_a_torn_piece_is_made_again(self):
        self.soak("flips", "--count", "2000")
        with open(self.output + "/flips.jsonl", "a") as file:
            file.write('{"count": 10')
        self.assertIn("flips: 3,000 bit flips", self.soak("flips", "--count", "3000").stdout)
        self.assertIn("flips: 3,000 bit flips", self.soak("flips", "--count", "3000").stdout)

    def test_a_wrong_flag_is_named(self):
        for flags in (["kill", "--cycles", "0"], ["power", "--count", "x"], ["dataset"],
                      ["dataset", "a.csv", "--kill-at", "1"], ["flips", "--minutes", "0"],
                      ["kill", "--longest", "0"], ["nonsense"]):
            with self.subTest(flags=flags):
                self.assertEqual(self.run_soak(*flags).returncode, 2)


if __name__ == "__main__":
    unittest.main()
