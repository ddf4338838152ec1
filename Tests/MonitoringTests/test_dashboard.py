"""The dashboard in a real browser, with a service under load."""

import os
import re
import subprocess
import tempfile
import unittest

from support import PATIENCE_SECONDS, ServiceCase

CHARTS = 9


class DashboardTests(ServiceCase):
    def chromium(self, *flags, query=""):
        """What Chromium prints of the page after some seconds of it."""
        finished = subprocess.run(
            [self.program("chromium"), "--headless", "--no-sandbox", "--disable-gpu",
             "--hide-scrollbars", "--window-size=1280,1100", f"--user-data-dir={self.profile.name}",
             "--enable-logging=stderr", "--virtual-time-budget=4000", *flags,
             self.service.page + "/" + query],
            capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        console = [line for line in finished.stderr.splitlines() if ":CONSOLE:" in line]
        self.assertEqual(console, [])
        return finished.stdout

    def setUp(self):
        self.program("chromium")
        self.profile = tempfile.TemporaryDirectory()
        self.addCleanup(self.profile.cleanup)

    def await_rows(self, count, load):
        # The history has a row a second, and the load a line.
        while self.service.get("/history").count("],[") < count:
            self.assertTrue(load.stderr.readline(), "The history has no rows.")

    def test_every_chart_is_drawn_and_no_script_fails(self):
        seconds = int(os.environ.get("FEED_SCREENSHOT_SECONDS", "5"))
        load = self.service.load(seconds + PATIENCE_SECONDS)
        try:
            self.await_rows(seconds, load)
            page = self.chromium("--dump-dom")
            self.assertRegex(page, r'<body data-errors="0" data-state="ready">')
            drawn = [int(number) for number in re.findall(r'data-drawn="(\d+)"', page)]
            self.assertEqual(len(drawn), CHARTS)
            self.assertTrue(all(number > 1 for number in drawn), drawn)
            votes = re.search(r"<span>Votes a second</span><b>([^<]+)</b>", page).group(1)
            self.assertRegex(votes, r"^[1-9]")
            facts = re.search(r'<p id="facts">([^<]+)</p>', page).group(1)
            self.assertRegex(facts, r"^\S+ · version \S+ · up \d+ (s|min) · durability \w+$")
            self.assertRegex(page, r'data-level="(good|warn|bad)"><span>Vote, 99 %</span>')
            self.assertRegex(page, r'<text [^>]*text-anchor="middle"[^>]*>\d+:\d\d:\d\d')
            picture = os.environ.get("FEED_SCREENSHOT") or os.path.join(self.profile.name, "page.png")
            self.chromium(f"--screenshot={picture}")
            self.assertGreater(os.path.getsize(picture), 20_000)
        finally:
            load.terminate()
            load.communicate()


if __name__ == "__main__":
    unittest.main()
