"""Type-checks the client libraries for iOS 18, without Apple's SDK. scripts/apple.sh runs it.

The standard library is built from its interface, which has Apple's availability on Linux too. Darwin,
Foundation, DequeModule and FeedClientNIO are stubs with what the libraries name, so a name that they lack is
an error here: add it as Apple declares it. FeedClientNIO and FeedClientObservation themselves are not checked.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.append("scripts/codebase")
import package  # noqa: E402
import portable  # noqa: E402

TARGET = "x86_64-apple-ios18.0-simulator"  # an Intel processor's, as the interface of Linux has Float80
STUBS = pathlib.Path("scripts/apple/stubs")
OUTPUT = pathlib.Path(".build/apple")
STANDARD = ["Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing", "_Builtin_float"]
SETTINGS = ["-swift-version", "6", "-strict-memory-safety", "-enable-experimental-feature", "Lifetimes",
            "-D", "FEED_TRANSPORT_NIO", "-package-name", "feed", "-parse-as-library",
            *(flag for name in ("ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility")
              for flag in ("-enable-upcoming-feature", name))]


def compile_module(name, *arguments):
    """Compiles a module; returns the errors."""
    folder = OUTPUT / f"{name}.swiftmodule"
    folder.mkdir(parents=True, exist_ok=True)
    finished = subprocess.run(
        ["swiftc", "-frontend", "-module-name", name, "-target", TARGET, "-resource-dir", OUTPUT / "resources",
         "-I", OUTPUT, "-I", STUBS / "Darwin", "-module-cache-path", OUTPUT / "cache",
         "-o", folder / "x86_64-apple-ios-simulator.swiftmodule", *arguments], capture_output=True, text=True)
    return [] if finished.returncode == 0 else \
        [line for line in finished.stderr.splitlines() if re.match(r"\S.*error: ", line)] or [finished.stderr[-2000:]]


def standard(resources, name):
    """Builds a module of the standard library from its interface for Linux."""
    text = (resources / f"linux/{name}.swiftmodule/x86_64-unknown-linux-gnu.swiftinterface").read_text()
    text = re.sub(r"@backDeployed\([^)]*\)", "", text)
    text = text.replace("x86_64-unknown-linux-gnu", TARGET).replace("import Glibc", "import Darwin")
    interface = OUTPUT / f"{name}.swiftinterface"
    interface.write_text(text)
    flag = "-parse-stdlib" if name == "Swift" else "-disable-availability-checking"
    if faults := compile_module(name, "-compile-module-from-interface", flag, interface):
        sys.exit(f"{name}: the interface of this toolchain is not what was expected: {faults[0]}")


def module(name, folder):
    files = sorted(pathlib.Path(folder).rglob("*.swift"))
    maps = [flag for name in ("CPrefetch", "CSQLite")
            for flag in ("-Xcc", f"-fmodule-map-file=Sources/{name}/module.modulemap")]
    return compile_module(name, "-emit-module", "-disable-objc-interop", "-Xcc", f"-I{OUTPUT}", *maps, *SETTINGS, *files)


def prepare():
    """Builds the standard library, once for a toolchain and the stubs, and the stubs."""
    resources = pathlib.Path(json.loads(subprocess.run(
        ["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout)["paths"]["runtimeResourcePath"])
    version = subprocess.run(["swiftc", "--version"], check=True, capture_output=True, text=True).stdout
    version += "".join(path.read_text() for path in sorted(STUBS.rglob("*.*")))
    known = OUTPUT / "version"
    if not known.exists() or known.read_text() != version:
        shutil.rmtree(OUTPUT, ignore_errors=True)
        (OUTPUT / "resources").mkdir(parents=True)
        for name in ("shims", "clang", "apinotes"):
            (OUTPUT / "resources" / name).symlink_to(resources / name)
        shutil.copy("/usr/include/sqlite3.h", OUTPUT)
        for name in STANDARD:
            standard(resources, name)
        if faults := module("Darwin", STUBS / "Darwin"):
            sys.exit("\n".join(faults))
        standard(resources, "Synchronization")
        known.write_text(version)


def main():
    prepare()
    targets = package.read()
    folders, _ = portable.modules(portable.manifest())
    names = {pathlib.Path(folder).name for folder in folders} - {"FeedClientNIO", "FeedClientObservation"}
    waiting = [name for name in names if name.startswith("Feed")]
    faults = [fault for stub in ("Foundation", "DequeModule") for fault in module(stub, STUBS / stub)]
    checked = set()
    while waiting and not faults:
        name = next(each for each in sorted(waiting) if not (targets[each].uses & set(waiting)))
        waiting.remove(name)
        faults += module(name, targets[name].folder)
        checked.add(name)
        if name == "FeedNetwork":
            faults += module("FeedClientNIO", STUBS / "FeedClientNIO")
    print("\n".join(faults) if faults else f"{len(checked)} modules are right for iOS 18, without Apple's SDK.")
    sys.exit(1 if faults else 0)


main()
