"""Checks that what apps link names nothing that only Linux has, outside `#if`, and fetches no other packages.

It reads each file of the library products as Apple's compiler does, for iOS 18 and macOS 15: only the
branches that it takes. scripts/check.sh runs it.
"""

import json
import os
import re
import subprocess

import package
import swift_source

# What a condition is on Apple's systems; any other name, as FEED_CODEC_SWIFT, is not set.
TRUE = {"canImport(Darwin)", "canImport(Foundation)", "canImport(Network)", "canImport(Security)",
        "os(iOS)", "os(macOS)", "FEED_TRANSPORT_NIO"}
DIRECTIVE = re.compile(r"^\s*#(if|elseif|else|endif)\b(.*)")
TERM = re.compile(r"\w+\s*\([^)]*\)|\w+")
SYMBOLS = re.compile(
    r"\bGlibc\.\w+|\b(?:timerfd|epoll|eventfd|signalfd|memfd|inotify|sched|cthread|prctl)_\w+|"
    r"\b(?:pipe2|accept4|dup3|ppoll|statx|renameat2|fdatasync|gettid|getrandom|explicit_bzero|"
    r"pthread_condattr_setclock|eventfd|SOCK_CLOEXEC|SOCK_NONBLOCK|MSG_NOSIGNAL|O_TMPFILE|O_PATH|"
    r"O_DIRECT|CLOCK_BOOTTIME|TCP_USER_TIMEOUT|TCP_KEEPIDLE|MADV_HUGEPAGE|MADV_DONTNEED)\b")
# Of the standard library, on Apple's systems from 26 on; FeedSpans has the spans of arrays.
LATER = re.compile(r"\bUTF8Span\b|\bInlineArray\b|\[\s*\d+ of |\butf8\.span\b|\baddImmediateTask\b|"
                   r"\bTask\s*\.\s*immediate\b")
AVAILABLE = re.compile(r"[#@]available\(iOS 26, macOS 26, \*\)")
# What SwiftPM fetches for an app that asks for no trait.
FETCHED = {"swift-collections", "swift-nio", "swift-nio-ssl"}
# How many lines above a symbol its `available` stands at most: over the parameters of a function.
REACH = 30


def holds(condition):
    """Whether Apple's compiler takes a branch."""
    terms = TERM.sub(lambda found: str(re.sub(r"\s", "", found[0]) in TRUE), condition)
    return bool(eval(terms.replace("&&", " and ").replace("||", " or ").replace("!", " not "), {}))


def lines(text):
    """The lines of the branches that Apple's compiler takes, with their numbers."""
    taken = []  # Whether each open branch is taken, and whether one before it was.
    for number, line in enumerate(swift_source.code(text).splitlines(), start=1):
        if not (found := DIRECTIVE.match(line)):
            if all(now for now, _ in taken):
                yield number, line
        elif found[1] == "if":
            now = holds(found[2])
            taken.append((now, now))
        elif found[1] == "endif":
            taken.pop()
        else:
            before = taken.pop()[1]
            now = not before and (found[1] == "else" or holds(found[2]))
            taken.append((now, now or before))


def faults(texts, foreign):
    """Sentences on what only Linux has; `foreign` are the modules that only Linux has."""
    found = []
    for path, text in texts.items():
        available = -REACH
        for number, line in lines(text):
            if AVAILABLE.search(line):
                available = number
            names = [module for module in package.imports(line) if module in foreign]
            names += SYMBOLS.findall(line)
            found += [f"{path}:{number}: only Linux has {name}" for name in names]
            if number - available > REACH:
                found += [f"{path}:{number}: Apple's systems have {name.strip()} from 26 on"
                          for name in LATER.findall(line)]
    return found


def manifest():
    """The package as Apple's systems have it, but for NIOTransportServices."""
    return json.loads(subprocess.run(
        ["swift", "package", "--ignore-lock", "dump-package"], check=True, capture_output=True, text=True,
        env=dict(os.environ, FEED_TRANSPORT="nio")).stdout)


def fetch_faults(described):
    """Sentences on products of packages that apps need not fetch, and that hang on no trait."""
    return [f"Package.swift: {target['name']} needs a trait for {product[0]}, or apps fetch {product[1]}"
            for target in described["targets"]
            for product in (dependency["product"] for dependency in target["dependencies"] if "product" in dependency)
            if product[1] not in FETCHED and not (product[3] or {}).get("traits")]


def modules(described):
    """The folders of the modules of the library products on Apple's systems, and all other modules."""
    targets = {each["name"]: each for each in described["targets"]}
    waiting = [name for product in described["products"] if "library" in product["type"]
               for name in product["targets"]]
    reached = set()
    while waiting:
        if (name := waiting.pop()) in reached:
            continue
        reached.add(name)
        for dependency in targets[name]["dependencies"]:
            (other, *_, condition), = dependency.values()
            if other in targets and (condition or {}).get("platformNames") != ["linux"]:
                waiting.append(other)
    foreign = targets.keys() - reached | {"Glibc", "FoundationEssentials", "NIOPosix"}
    return [package.Target(targets[name]).folder for name in sorted(reached)], foreign


if __name__ == "__main__":
    package_of_apps = manifest()
    folders, others = modules(package_of_apps)
    swift_source.report(fetch_faults(package_of_apps) + faults(swift_source.texts(*folders), others))
