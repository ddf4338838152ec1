"""A run with slow syncs: what is answered in time passes, and all else fails."""

import types
import unittest

from support import RecordedTestCase

FINE = {"p999_ms": 50, "unfolded": 64 << 20, "limit": 0, "refused": 0}


class LagTests(RecordedTestCase):
    name = "lag"

    def check(self, phase="quick", log="", unanswered=0, **figures):
        """Looks at a run in which all is as it should be but these figures of a phase."""
        piece = {name: {**FINE, "folded": place} for place, name in enumerate(self.module.PHASES)}
        piece[phase].update(figures)
        self.module.check(types.SimpleNamespace(within_ms=50), {**piece, "unanswered": unanswered}, log)

    def test_passes_where_all_is_answered_in_time(self):
        self.check()
        self.check("still", "checkpoints lag", refused=1)

    def test_fails_where_reads_wait(self):
        with self.fails("slow: p99.9 of Ping and reads is 51 ms, over 50"):
            self.check("slow", p999_ms=51)
        probe = self.module.Probe()
        probe.times = {"slow": [0.001] * 999 + [0.2]}
        self.assertEqual(probe.milliseconds("slow", 0.999), 200)

    def test_fails_where_too_much_waits_for_a_checkpoint(self):
        with self.fails(r"quick: \d+ bytes wait for a checkpoint, over the limit"):
            self.check(unfolded=(64 << 20) + 1)
        with self.fails("nothing was checkpointed"):
            self.check(folded=1)

    def test_fails_where_votes_are_not_answered(self):
        with self.fails("3 votes were not answered"):
            self.check(unanswered=3)
        with self.fails("the log says nothing of it"):
            self.check("still", refused=1)


if __name__ == "__main__":
    unittest.main()
