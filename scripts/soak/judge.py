"""What a run of `attackers` has to have shown; recorded numbers go in, and no clock or socket is asked."""

import collections
import math
import statistics

SOON_SECONDS = 5
# The service looks after stalls each quarter of a second, and this soak after the service.
LOOKS_SECONDS = 1
RISE_SECONDS = 2  # over which a counter rises, in place of the minutes of alerts
# Hosts that have asked for nothing lately all have a turn before one of them has a second: in that round of
# theirs, twenty new hosts with passwords are no flood yet.
ROUND_SECONDS = 3
KINDS = ("votes", "pages", "signins")

# A call of the healthy client: when it was sent, how long it took, None while it has no answer, and the
# reason of its refusal, "" where it was executed.
Call = collections.namedtuple("Call", "kind sent took reason message")
# What the operator's address said: the status and text of /ready, and the values of /metrics.
Sample = collections.namedtuple("Sample", "time status text values")
# When the client was alone, when the attack began and ended, and from when on its end may be looked for.
Times = collections.namedtuple("Times", "idle begin end over")


def p99(times):
    ordered = sorted(times)
    return ordered[max(0, math.ceil(0.99 * len(ordered)) - 1)]


class Reading:
    """The values of one moment, and how far counters have come in the last seconds."""

    def __init__(self, samples, place):
        self.now = samples[place].values
        earlier = [one for one in samples[:place] if one.time <= samples[place].time - RISE_SECONDS]
        self.before = (earlier or samples)[-1 if earlier else 0].values

    def value(self, name):
        """The sum of a metric's values; a name may end in the middle of its labels."""
        return total(self.now, name)

    def rise(self, *names):
        return sum(total(self.now, name) - total(self.before, name) for name in names)


def total(values, name):
    return sum(value for key, value in values.items()
               if key == name or key.startswith(name if "{" in name else name + "{"))


def first(pairs, begin):
    """The seconds from `begin` to the first time from then on whose mark is true; None where there is none."""
    return next((time - begin for time, mark in pairs if mark and time >= begin), None)


def latencies(calls, times, factor, found):
    """The p99 of each kind, alone and beside the attack; what was refused or had no answer is a fault."""
    figures = {}
    for kind in KINDS:
        idle = [call.took for call in calls if call.kind == kind and times.idle <= call.sent < times.begin]
        beside = [call for call in calls if call.kind == kind and times.begin <= call.sent < times.end]
        settled = [call for call in beside if call.sent >= times.begin + ROUND_SECONDS]
        reasons = collections.Counter(call.reason for call in beside if call.took is not None and call.reason)
        found += [f"{count} {kind} were refused with {reason}" for reason, count in reasons.items()]
        missing = sum(call.took is None for call in beside)
        if missing:
            found.append(f"{missing} {kind} had no answer")
        took = [call.took for call in settled if call.took is not None]
        if not took or not idle or None in idle:
            found.append(f"there are no {kind} to compare")
            continue
        ratio = p99(took) / p99(idle)
        figures[kind] = {"idle_median_ms": round(1e3 * statistics.median(idle), 2),
                         "median_ms": round(1e3 * statistics.median(took), 2),
                         "idle_p99_ms": round(1e3 * p99(idle), 2), "p99_ms": round(1e3 * p99(took), 2),
                         "ratio": round(ratio, 2), "count": len(took), "longest_ms": round(1e3 * max(took), 2),
                         "longest_at_s": round(max((call.took, call.sent - times.begin) for call in settled
                                                   if call.took is not None)[1], 1)}
        if ratio > factor:
            found.append(f"the p99 of {kind} is {ratio:.1f} times as long, over {factor:g}")
    return figures


def refusals(calls, times, found):
    """While a sync hangs, a call is answered or refused in time, or executed and answered once it goes on."""
    figures, longest = {}, SOON_SECONDS + LOOKS_SECONDS
    for kind in KINDS:
        beside = [call for call in calls if call.kind == kind and times.begin <= call.sent < times.end]
        held = [call for call in beside if call.took is None or call.took > longest]
        refused = [call for call in beside if call.reason and call not in held]
        figures[kind] = {"count": len(beside), "refused": len(refused), "held": len(held),
                         "longest_refusal_s": round(max((call.took for call in refused), default=0), 2)}
        wrong = [call for call in held if kind == "pages" or call.sent > times.begin + longest
                 or call.took is None or call.reason]
        if wrong:
            found.append(f"{len(wrong)} {kind} were not refused within {SOON_SECONDS} s")
        causes = {(call.reason, call.message) for call in refused}
        found += [f"{kind} were refused with {reason}: {message}" for reason, message in causes
                  if reason != "OVERLOADED" or "stood still" not in message]
        if not refused:
            found.append(f"no {kind} were refused")
        later = [call for call in calls if call.kind == kind and call.sent >= times.over + LOOKS_SECONDS]
        wrong = collections.Counter(call.reason or "no answer" for call in later if call.reason or call.took is None)
        if wrong or not later:
            found.append(f"{kind} are not answered again: {dict(wrong) or 'none was sent'}")
    return figures


def signals(says, samples, lines, times, found):
    """How soon /ready, the log, the metric and the alert say what is wrong, and that it is over."""
    readings = [(sample.time, Reading(samples, place)) for place, sample in enumerate(samples)]
    begins = {"metric": [(time, says.metric(reading)) for time, reading in readings],
              "alert": [(time, says.alert(reading)) for time, reading in readings]}
    ends = {name: [(time, not mark) for time, mark in pairs] for name, pairs in begins.items()}
    if says.ready:
        begins["ready"] = [(one.time, one.status == 503 and says.ready in one.text) for one in samples]
        ends["ready"] = [(one.time, one.status == 200) for one in samples]
    elif any(one.status != 200 for one in samples):
        found.append("/ready was not 200")
    if says.line:
        begins["log"] = [(time, says.line in line) for time, line in lines]
    if says.over_line:
        ends["log"] = [(time, says.over_line in line) for time, line in lines]
    figures = {}
    for what, pairs, begin in (("says", begins, times.begin), ("over", ends, times.over)):
        figures[what] = {name: first(marks, begin) for name, marks in pairs.items()}
        for name, seconds in figures[what].items():
            if seconds is None or seconds > SOON_SECONDS + LOOKS_SECONDS:
                found.append(f"the {name} does not say within {SOON_SECONDS} s that it is "
                             f"{'wrong' if what == 'says' else 'over'}: {seconds}")
            else:
                figures[what][name] = round(seconds, 1)
    for name in ("metric", "alert"):
        if any(mark for time, mark in begins[name] if times.idle + SOON_SECONDS <= time < times.begin):
            found.append(f"the {name} says that something is wrong before the attack")
    return figures


def judge(attack, calls, samples, lines, times, memory_mib, factor):
    """The figures of a run, with what did not hold as `failures`."""
    found = []
    piece = {"memory_mib": memory_mib, "bound_mib": attack.bound_mib}
    if attack.hangs:
        piece["calls"] = refusals(calls, times, found)
    else:
        piece["calls"] = latencies(calls, times, factor, found)
    if memory_mib > attack.bound_mib:
        found.append(f"{memory_mib} MiB more are in memory, over {attack.bound_mib}: {attack.bound}")
    piece.update(signals(attack.says, samples, lines, times, found))
    if any(call.kind == "watches" and call.reason for call in calls if call.sent < times.end):
        if not attack.hangs:
            found.append("the healthy client got no watch")
    piece["failures"] = found
    return piece
