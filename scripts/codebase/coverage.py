"""Prints the coverage of each module as a Markdown table. scripts/coverage.sh runs it; see there."""

import argparse
import collections
import json
import pathlib

KINDS = ("lines", "functions", "regions")


def table(exported, root, modules):
    """The rows of the modules, out of what `llvm-cov export` wrote: a list of lines."""
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
    """Reads the export that the first argument names, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", type=pathlib.Path, help="what llvm-cov export wrote, in JSON")
    parser.add_argument("modules", nargs="*", help="the modules to show: all without one")
    options = parser.parse_args()
    root, exported = pathlib.Path.cwd(), json.loads(options.export.read_text())
    print(*table(exported, root, options.modules), sep="\n")
    print("\nThe files with the most lines that no test of this run reaches:\n")
    for missed, path in worst_files(exported, root, options.modules, 10):
        print(f"{missed:5} {path}")


if __name__ == "__main__":
    main()
