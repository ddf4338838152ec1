"""The report of a run as a page in a real browser, and its histograms in HdrHistogram's own tool."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from support import BUILT, PATIENCE_SECONDS, ServiceCase

CHARTS = ["throughput", "latency", "heat", "processors", "outcomes", "spectrum", "spread", "decomposition"]
LARGEST_PAGE = 300_000
HDR_HISTOGRAM = "/usr/share/java/hdrhistogram.jar"


class ReportTests(ServiceCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        seconds = os.environ.get("FEED_SCREENSHOT_SECONDS", "4")
        cls.run_load("open", "--rate", "2000", "--duration", f"{seconds}s", "--slo", "p99<50ms")
        cls.run_load("closed", "--duration", "2s")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def run_load(cls, name, *flags):
        finished = subprocess.run(
            [os.path.join(BUILT, "loadgen"), "--target", cls.service.address, "--clients", "200",
             "--warmup", "1s", "--mix", "vote=90,create=1,list=9", "--posts", "500",
             "--json", cls.path(name + ".json"), "--html", cls.path(name + ".html"),
             "--hdr", cls.path(name), *flags],
            capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert finished.returncode in (0, 99), finished.stdout + finished.stderr

    def report(self, *arguments):
        finished = subprocess.run([os.path.join(BUILT, "loadgen"), "report", *arguments],
                                  capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        return finished.stdout

    def chromium(self, page, *flags):
        """What Chromium prints of a page; the test fails where the page writes to the console."""
        chromium = self.program("chromium")
        with tempfile.TemporaryDirectory() as profile:
            finished = subprocess.run(
                [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 f"--user-data-dir={profile}", "--enable-logging=stderr", "--virtual-time-budget=3000",
                 *flags, "file://" + page],
                capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertEqual([line for line in finished.stderr.splitlines() if ":CONSOLE:" in line], [])
        return finished.stdout

    def assert_drawn(self, page, width=1180):
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertLess(len(text.encode()), LARGEST_PAGE)
        self.assertEqual(set(re.findall(r"https?://[^\"'\s]+", text.split('id="data">')[0])), set())
        drawn = self.chromium(page, "--dump-dom", f"--window-size={width},900")
        self.assertRegex(drawn, r'<body data-errors="0" data-state="ready">')
        charts = dict(re.findall(r'<figure class="[^"]*" id="(\w+)" data-drawn="(\d+)"', drawn))
        self.assertEqual(sorted(charts), sorted(CHARTS))
        self.assertEqual([name for name, marks in charts.items() if int(marks) < 1], [])
        return drawn

    def test_every_chart_is_drawn_and_no_script_fails(self):
        drawn = self.assert_drawn(self.path("open.html"))
        self.assertRegex(drawn, "(?i)>(valid|lower bound|not comparable)")
        self.assertRegex(drawn, r"<span>Audit</span><b class=\"good\">exact</b>")
        self.assertIn("p99&lt;50ms", drawn)
        self.assert_drawn(self.path("closed.html"), width=390)
        picture = os.environ.get("FEED_SCREENSHOT") or self.path("open.png")
        self.chromium(self.path("open.html"), "--window-size=1180,1440", f"--screenshot={picture}")
        self.assertGreater(os.path.getsize(picture), 20_000)

    def test_a_report_is_shown_again_as_it_was(self):
        again = self.path("again.html")
        text = self.report(self.path("open.json"), "--html", again)
        self.assert_drawn(again)
        with open(self.path("open.json"), encoding="utf-8") as file:
            result = json.load(file)
        self.assertIn(f"sent {result['outcomes']['sent']:,} = ok {result['outcomes']['ok']:,}", text)
        self.assertIn("Audit        PASS", text)

    def test_runs_are_drawn_over_each_other(self):
        page = self.path("both.html")
        text = self.report(self.path("open.json"), self.path("closed.json"), "--html", page)
        self.assertEqual([line.split()[0] for line in text.splitlines()], ["run", "open", "closed"])
        drawn = self.assert_drawn(page)
        self.assertIn("2 runs", drawn)

    def test_hdr_histogram_reads_the_log_and_finds_the_table(self):
        java = self.program("java")
        if not os.path.exists(HDR_HISTOGRAM):
            self.skipTest("HdrHistogram is not installed (Debian: apt-get install libhdrhistogram-java)")
        with open(self.path("open.json"), encoding="utf-8") as file:
            operations = json.load(file)["ops"]
        for operation, figures in operations.items():
            finished = subprocess.run(
                [java, "-cp", HDR_HISTOGRAM, "org.HdrHistogram.HistogramLogProcessor",
                 "-i", self.path("open.hlog"), "-tag", operation, "-outputValueUnitRatio", "1000000"],
                capture_output=True, text=True, timeout=PATIENCE_SECONDS)
            self.assertEqual(finished.returncode, 0, finished.stderr)
            with open(self.path(f"open.{operation}.hgrm"), encoding="utf-8") as file:
                table = file.read()
            form = r"#\[(Max|Mean) +=\s+([\d.]+), (Total count|StdDeviation) +=\s+([\d.]+)\]"
            ours, theirs = re.findall(form, table), re.findall(form, finished.stdout)
            self.assertEqual(len(ours), 2)
            self.assertEqual([row[1] for row in ours], [row[1] for row in theirs])
            self.assertEqual(int(ours[1][3]), figures["response_ms"]["count"])
            self.assertEqual(ours[1][3], theirs[1][3])
        with open(self.path("open.hlog"), encoding="utf-8") as file:
            self.assertGreaterEqual(len(re.findall(r"^Tag=vote,", file.read(), re.MULTILINE)), 4)


if __name__ == "__main__":
    unittest.main()
