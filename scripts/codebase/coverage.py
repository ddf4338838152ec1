"""Prints the coverage of each module as a Markdown table. scripts/coverage.sh runs it; see there."""

import argparse
import collections
import json
import pathlib
import subprocess

KINDS = ("lines", "functions", "regions")


def export(build):
    """The output of `llvm-cov export` for the counters that the tests left in a folder of products.

    `swift test` exports nothing where a test fails, and then a figure is wanted all the same.
    """
    target = json.loads(subprocess.run(["swift", "-print-target-info"], check=True,
                                       capture_output=True, text=True).stdout)
    tools = pathlib.Path(target["paths"]["runtimeResourcePath"]).parents[1] / "bin"
    counters = sorted(str(path) for path in (build / "codecov").glob("*.profraw"))
    if not counters:
        raise SystemExit(f"coverage: no counters are in {build / 'codecov'}: did the tests crash?")
    merged = build / "codecov" / "merged.profdata"
    subprocess.run([tools / "llvm-profdata", "merge", "-sparse", "-o", merged, *counters], check=True)
    products = [str(path) for path in build.glob("*.xctest")]
    exported = subprocess.run([tools / "llvm-cov", "export", "--summary-only",
                               f"--instr-profile={merged}", *products],
                              check=True, capture_output=True, text=True).stdout
    return json.loads(exported)


def table(exported, root, modules):
    """The rows of the modules, from the output of `llvm-cov export`: a list of lines."""
    counts = collections.defaultdict(lambda: dict.fromkeys(
        [(kind, field) for kind in KINDS for field in ("count", "covered")], 0))
    for each in exported["data"][0]["files"]:
        path = pathlib.PurePosixPath(each["filename"])
        if not path.is_relative_to(root / "Sources"):
            continue
        module = path.relative_to(root / "Sources").parts[0]
        if path.suffix == ".swift" and (not modules or module in modules):
            for kind, field in counts[module]:
                counts[module][kind, field] += each["summary"][kind][field]
    lines = ["| Module | Lines | Functions | Regions | Lines not reached |",
             "| --- | --- | --- | --- | --- |"]
    for module, count in sorted(counts.items()):
        shares = " | ".join(share(count, kind) for kind in KINDS)
        missed = count["lines", "count"] - count["lines", "covered"]
        lines.append(f"| {module} | {shares} | {missed} of {count['lines', 'count']} |")
    return lines


def share(count, kind):
    """The covered share of a kind in percent."""
    return f"{100 * count[kind, 'covered'] / max(1, count[kind, 'count']):.1f} %"


def worst_files(exported, root, modules, limit):
    """The files with the most lines that no test reached: (lines, path), the worst first."""
    found = []
    for each in exported["data"][0]["files"]:
        path = pathlib.PurePosixPath(each["filename"])
        if path.is_relative_to(root / "Sources") and path.suffix == ".swift":
            relative = path.relative_to(root)
            lines = each["summary"]["lines"]
            if not modules or relative.parts[1] in modules:
                found.append((lines["count"] - lines["covered"], str(relative)))
    return sorted(found, reverse=True)[:limit]


def main():
    """Reads the counters in the folder that the first argument names, and prints the table."""
    parser = argparse.ArgumentParser(prog="scripts/coverage.sh", description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="the folder of the products")
    parser.add_argument("modules", nargs="*", help="the modules to show: all without one")
    options = parser.parse_args()
    root, exported = pathlib.Path.cwd(), export(options.build)
    print(*table(exported, root, options.modules), sep="\n")
    print("\nThe files with the most lines that no test of this run reaches:\n")
    for missed, path in worst_files(exported, root, options.modules, 10):
        print(f"{missed:5} {path}")


if __name__ == "__main__":
    main()
