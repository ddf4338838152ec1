"""Attacks of many hosts: what was recorded is judged. A service that answers the healthy client in time, says what
is wrong and that it is over passes, and no other."""

import unittest

from support import HERE, RecordedTestCase

RULES = HERE.parents[1] / "monitoring" / "feed-service.rules.yaml"
STALL = "A commit has stood still for 5 s: calls are refused."


class AttackerTests(RecordedTestCase):
    name = "attackers"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import judge
        cls.judge = judge
        cls.times = judge.Times(idle=0, begin=100, end=200, over=200)

    def calls(self, idle=0.01, beside=0.04, count=100, **changes):
        """Calls of each kind, one a second; the first one beside the attack of the votes is changed so."""
        calls = [self.judge.Call(kind, second, idle if second < 100 else beside, "", "")
                 for kind in self.judge.KINDS for second in range(200)]
        place = next(place for place, call in enumerate(calls) if call.sent == 100)
        calls[place] = calls[place]._replace(**changes)
        return calls

    def samples(self, says_at=101, over_at=201, ready=(200, "ready"), name='feed_sign_ins_refused_total',
                steps=True, values=None):
        """What is scraped each second: a counter that rises within these times, and RATE_LIMITED beside it."""
        samples, count = [], 0
        for second in range(215):
            wrong = says_at <= second < over_at
            count += 100 * wrong
            told = {name: count, 'feed_errors_total{reason="RATE_LIMITED"}': count}
            if values:
                told = {key: value * wrong for key, value in values.items()}
            status, text = ready if wrong else (200, "ready")
            samples.append(self.judge.Sample(second, status, text, told))
        return samples

    def failures(self, attack="signins", calls=None, samples=None, lines=None, memory=1):
        if lines is None:
            lines = [(102, "warning: refused sign_in from 127.0.0.2: RATE_LIMITED")]
        piece = self.module.judge(
            self.module.ATTACKS[attack], self.calls() if calls is None else calls,
            self.samples() if samples is None else samples, lines, self.times, memory, 5)
        return piece["failures"]

    def test_passes_where_others_are_answered_and_all_is_said(self):
        self.assertEqual(self.failures(), [])

    def test_fails_where_others_wait(self):
        self.assertEqual(self.failures(calls=self.calls(beside=0.051)), [
            f"the p99 of {kind} is 5.1 times as long, over 5" for kind in self.judge.KINDS])
        # The first turns of new hosts.
        self.assertEqual(self.failures(calls=self.calls(took=9)), [])
        late = [call._replace(took=9) if call.sent == 150 else call for call in self.calls()]
        self.assertEqual(len(self.failures(calls=late)), 3)

    def test_fails_where_others_are_refused_or_not_answered(self):
        self.assertEqual(self.failures(calls=self.calls(reason="OVERLOADED")),
                         ["1 votes were refused with OVERLOADED"])
        self.assertEqual(self.failures(calls=self.calls(took=None)), ["1 votes had no answer"])
        self.assertEqual(self.failures(calls=[])[0], "there are no votes to compare")

    def test_fails_where_memory_grows(self):
        self.assertEqual(self.failures(memory=71),
                         ["71 MiB more are in memory, over 70: two passwords of 19 MiB are hashed"])

    def test_fails_where_it_is_not_said_in_time(self):
        found = self.failures(samples=self.samples(says_at=107), lines=[(107, "refused sign_in from 127.0.0.2")])
        self.assertEqual([text[:9] for text in found], ["the metri", "the alert", "the log d"])
        self.assertEqual(self.failures(lines=[(99, "refused sign_in from 127.0.0.2")]),
                         ["the log does not say within 5 s that it is wrong: None"])
        self.assertEqual(self.failures(samples=self.samples(over_at=214)), [
            f"the {what} does not say within 5 s that it is over: None" for what in ("metric", "alert")])
        self.assertEqual(self.failures(samples=self.samples(says_at=90)), [
            f"the {what} says that something is wrong before the attack" for what in ("metric", "alert")])
        self.assertEqual(self.failures(samples=self.samples(ready=(503, "draining"))), ["/ready was not 200"])

    def hang(self, calls, says_at=105, ready=(503, "a commit has stood still for 5 s")):
        lines = [(102, "a commit has stood still for 2.0 s"), (200.1, "commits go on")]
        samples = self.samples(says_at, ready=ready, values={"feed_oldest_held_seconds": 6})
        return self.failures("hang", calls, samples, lines)

    def hung_calls(self, **changes):
        """The votes of the first five seconds are executed and answered at the end; all else is refused."""
        calls = []
        for call in self.calls(idle=0.01, beside=0.01):
            if call.sent >= 100:
                held = call.kind == "votes" and call.sent < 105
                call = call._replace(took=200.1 - call.sent) if held else call._replace(
                    took=max(0.01, 105 - call.sent), reason="OVERLOADED", message=STALL)
                if call.sent == 150 and call.kind == "votes":
                    call = call._replace(**changes)
            calls.append(call)
        return calls + [self.judge.Call(kind, 205, 0.01, "", "") for kind in self.judge.KINDS]

    def test_passes_where_a_hung_sync_refuses_in_time(self):
        self.assertEqual(self.hang(self.hung_calls()), [])

    def test_fails_where_a_hung_sync_lets_others_wait(self):
        self.assertEqual(self.hang(self.hung_calls(took=50)), ["1 votes were not refused within 5 s"])
        self.assertEqual(self.hang(self.hung_calls(took=None)), ["1 votes were not refused within 5 s"])
        self.assertEqual(self.hang(self.hung_calls(reason="RATE_LIMITED", message="Wait.")),
                         ["votes were refused with RATE_LIMITED: Wait."])
        self.assertEqual(self.hang(self.hung_calls()[:-1]), ["signins are not answered again: none was sent"])

    def test_fails_where_a_hung_sync_goes_unnoticed(self):
        self.assertEqual(self.hang(self.hung_calls(), ready=(200, "ready")),
                         ["the ready does not say within 5 s that it is wrong: None"])

    def test_alerts_are_those_of_the_rules(self):
        rules = RULES.read_text()
        for text in ('rate(feed_errors_total{reason=~"RATE_LIMITED|NO_ROOM_FOR_POSTS|TOO_MANY_.*"}[1m])) > 1',
                     'rate(feed_errors_total{reason="OVERLOADED"}[5m]) > 1',
                     'rate(feed_connections_closed_total{reason="handshake"}[1m]) > 10',
                     "feed_oldest_held_seconds > 5 or feed_loop_stalled_seconds > 5",
                     "feed_log_waiting_seconds > 2\n",
                     'feed_memory_bytes{kind="posts"} > on (instance) 0.8 * feed_post_limit_bytes'):
            self.assertIn(text, rules)

    def test_a_name_counts_all_of_its_labels(self):
        values = {'a_total{reason="X"}': 1, 'a_total{reason="Y"}': 2, "a_total_more": 4}
        self.assertEqual(self.judge.total(values, "a_total"), 3)
        self.assertEqual(self.judge.total(values, 'a_total{reason="X'), 1)


if __name__ == "__main__":
    unittest.main()
