"""A host that votes at ten times its limit, beside the votes of another host.

The service refuses what is over the limit (RATE_LIMITED), and executes the rest. The other host is within
its limit: none of its votes is refused, all of them count, and they take no longer than without the greedy host.
"""

import beside
import tally
from feedclient import feed, framed
from process import Failure
from service import Connection, Service

HOST = "127.0.0.2"
CONNECTIONS = 4
OTHERS_SHARE = 0.5  # of the limit, which is also theirs
SLACK = 1.2  # clocks of the service and of this script
COUNTS = [("runs", ""), ("votes refused", "refused"), ("votes counted", "counted")]  # of the summary


def add_flags(parser):
    parser.add_argument("--limit", type=tally.count, default=2000, help="votes a second of a host")
    parser.add_argument("--times", type=tally.count, default=10, help="the greedy host's votes, in limits")
    beside.add_flags(parser, rounds=5, factor=1.1, whose="the others' votes")


class Greedy(beside.Calls):
    """Votes at a rate from a host of its own, on one post."""

    def __init__(self, options, post):
        rate = options.limit * options.times
        vote = feed.CastVoteRequest(post_id=post, direction=feed.UP)
        frames = [framed(number + 1, cast_vote=vote)
                  for number in range(self.count(options, rate, CONNECTIONS))]
        super().__init__("the votes of the greedy host", rate, [frames] * CONNECTIONS, HOST)
        self.limit = options.limit

    def check(self, status):
        if status.reason == "RATE_LIMITED" and not (status.not_executed and status.retry_after_ms):
            raise Failure(f"a vote was refused without a time to come back: {status}")

    def answers(self):
        """How many votes counted, and how many did not. Raises Failure."""
        reasons = self.statuses()
        if set(reasons) - {"", "RATE_LIMITED"}:
            raise Failure(f"votes were answered with {dict(reasons)}")
        if reasons[""] > SLACK * self.limit * (self.answered_seconds + 1):
            raise Failure(f"{reasons['']} votes of the greedy host counted in {self.answered_seconds:.1f} s")
        if reasons["RATE_LIMITED"] == 0:
            raise Failure("the greedy host was never refused")
        return {"counted": reasons[""], "refused": reasons["RATE_LIMITED"]}


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    limits = ["--limit-loopback", "--max-votes-per-second", str(options.limit)]
    with Service(options.binaries, directory + "/data", limits) as service:
        with Connection(service.port) as connection:
            post = connection.create_post(feed.Post(title="greedy")).id
        found = beside.compared(
            options, service.port, "the greedy host", lambda: Greedy(options, post), say,
            "--rate", int(options.limit * OTHERS_SHARE))
        answers = found.pop("answers")
        with Connection(service.port) as connection:
            score = connection.get_post(post).upvote_count
        if score != answers["counted"]:
            raise Failure(f"{answers['counted']} votes were answered as counted, and the post has {score}")
        service.stop()
    beside.check(options, "beside the greedy host", found["ratios"], ["votes"])
    return {**found, **answers}
