"""Checks that locks, threads, sleeps and clocks are those of FeedConcurrency, and that no test sleeps.

scripts/check.sh runs it.
"""

import re

import swift_source

MODULE = "Sources/FeedConcurrency/"
# What a file names, and what FeedConcurrency has for it.
KINDS = {
    "a lock": (re.compile(
        r"\bMutex\b|\bpthread_(?:mutex|rwlock|spin|cond|barrier|once)\w*|\bNS\w*Lock\b|\bNSCondition\b|"
        r"\buv_(?:mutex|rwlock|cond|barrier|once)\w*|\bOSAllocatedUnfairLock\b|"
        r"\b(?:struct|class)\s+\w*(?:Lock|Mutex)\b"), "Lock"),
    "a semaphore": (re.compile(
        r"\bDispatchSemaphore\b|\bDispatchGroup\b|\bsem_\w+|\buv_sem\w*"), "Semaphore"),
    "a thread": (re.compile(
        r"\bThread\s*(?:\(|\{|\.)|\bpthread\b|\bpthread_(?:t\b|create|join|detach|attr|setname)\w*|"
        r"\buv_thread_(?!self\b)\w+|\bDispatch(?:Queue|WorkItem|Source)\b|\bOperationQueue\b|"
        r"\bimport\s+Dispatch\b"), "NamedThread"),
    "a sleep": (re.compile(
        r"(?<![\w.])u?sleep\s*\(|\b(?:clock_)?nanosleep\b|\buv_sleep\b"), "SystemClock.sleep"),
    "a clock": (re.compile(
        r"\bclock_gettime\b|\bgettimeofday\b|\buv_hrtime\b|\bDate\s*\(\s*\)|\bDate\.now\b|"
        r"\b[dD]ate\b\s*[:=]\s*\.now\b|\bSuspendingClock\b|(?<![\w.])time\s*\(nil\)"),
        "SystemClock"),
}
TEST_SLEEP = re.compile(r"\b(?:SystemClock|Task|Thread)\s*\.\s*sleep\b|" + KINDS["a sleep"][0].pattern)
# The files that may name a kind all the same, with the reason.
EXCEPTIONS = {
    ("Sources/CThread/shim.h", "a thread"): "the part of NamedThread that is C",
}


def named(text):
    """The kinds that the code of a file names, in the order of KINDS."""
    code = swift_source.code(text)
    return [kind for kind, (pattern, _) in KINDS.items() if pattern.search(code)]


def faults(texts, exceptions=None):
    """Sentences on files that name what FeedConcurrency has; `texts` maps paths to texts."""
    unused = dict(EXCEPTIONS if exceptions is None else exceptions)
    found = []
    for path, text in texts.items():
        if path.startswith(MODULE):
            continue
        for kind in named(text):
            if unused.pop((path, kind), None) is None:
                found.append(f"{path} names {kind} of its own: use {KINDS[kind][1]} of FeedConcurrency")
    return found + [f"{path} names no {kind[2:]}: it needs no exception" for path, kind in unused]


def test_faults(texts):
    """Sentences on tests that sleep."""
    return [f"{path} sleeps: a test waits for what is to happen" for path, text in texts.items()
            if TEST_SLEEP.search(swift_source.code(text))]


if __name__ == "__main__":
    swift_source.report(faults(swift_source.texts("Sources", suffixes=(".swift", ".h", ".c")))
                        + test_faults(swift_source.texts("Tests")))
