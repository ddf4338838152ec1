"""Sign-ins at 1,000 a second, on one account and on many, beside votes and pages.

Passwords are hashed at niceness 19, in a flood on a thread of SCHED_IDLE, and most sign-ins are refused without a hash.
So votes and pages at a quarter of the service's capacity take no longer than without the sign-ins.
"""

import random

import beside
import tally
from feedclient import feed, framed
from process import Failure
from service import Service

CONNECTIONS = 16
PIPELINE = ["--pipeline", "16"]
FLOODS = ("one", "many")
# Of sign-ins with wrong passwords; any other answer is a fault.
REASONS = {"BAD_CREDENTIALS", "RATE_LIMITED", "OVERLOADED", "DEADLINE_EXCEEDED"}
COUNTS = [("runs", ""), ("sign-ins", "signins")]  # of the summary


def add_flags(parser):
    parser.add_argument("--rate", type=tally.count, default=1000, help="sign-ins a second")
    parser.add_argument("--accounts", type=tally.count, default=100_000, help="of many accounts")
    beside.add_flags(parser, rounds=3, factor=1.5, whose="votes and pages")


class SignIns(beside.Calls):
    """Sign-ins with wrong passwords, each on one of so many accounts."""

    def __init__(self, options, accounts):
        chosen = random.Random(accounts)
        count = self.count(options, options.rate, CONNECTIONS)
        super().__init__("the sign-ins", options.rate, [
            [framed(number + 1, sign_in=feed.SignInRequest(
                email=f"account-{chosen.randrange(accounts)}@example.org", password="not the password"))
             for number in range(count)]
            for _ in range(CONNECTIONS)])

    def answers(self):
        """How often each reason was answered, once it has ended. Raises Failure."""
        reasons = self.statuses()
        if "" in reasons:
            raise Failure("a sign-in with a wrong password succeeded")
        if not REASONS.issuperset(reasons):
            raise Failure(f"sign-ins were answered with {dict(reasons)}")
        return reasons


def live_through(options, directory, say):
    """Makes one run, and returns its results. Raises Failure."""
    with Service(options.binaries, directory + "/data") as service:
        rate = beside.share_of_capacity(options, service.port, 0.25, *PIPELINE)
        piece = {"rate": rate, "signins": 0}
        for name, accounts in zip(FLOODS, (1, options.accounts)):
            piece[name] = beside.compared(
                options, service.port, f"sign-ins on {name}", lambda accounts=accounts: SignIns(options, accounts),
                say, *PIPELINE, "--rate", rate)
            piece["signins"] += piece[name]["answers"].total()
        service.stop()
    for name in FLOODS:
        what = f"sign-ins on {name} account{'s' * (name == 'many')}"
        beside.check(options, what, piece[name]["ratios"])
    return piece
