"""The tables of metrics in docs/OPERATIONS.md, made of the entries of ServiceMetrics.swift.

    python3 scripts/codebase/metrics.py          checks that the page has them; scripts/check.sh runs it
    python3 scripts/codebase/metrics.py --write  puts them into the page
"""

import pathlib
import re
import sys

SOURCE = pathlib.Path("Sources/FeedService/Metrics/ServiceMetrics.swift")
PAGE = pathlib.Path("docs/OPERATIONS.md")
ENTRY = re.compile(r'^ *// Normal: (.*)\n *(?:\.(\w+)|MetricFamily)\(\s*"(\w+)"', re.MULTILINE)
NAME = re.compile(r'"(feed_\w+|process_\w+)"')
TABLES = re.compile(r"\| Counter: normal \|\n.*?\n(?=\n### )", re.DOTALL)


def tables(source):
    """The tables of some entries: counters first, as their names get an ending."""
    found = ENTRY.findall(source)
    counters = [f"| `{name}`: {normal} |" for normal, kind, name in found if kind == "counter"]
    others = [f"| `{name}`: {normal} |" for normal, kind, name in found if kind != "counter"]
    return "\n".join(["| Counter: normal |", "| --- |", *counters, "",
                      "| Other: normal |", "| --- |", *others, ""])


def main():
    """Checks the page, or writes it."""
    page, source = PAGE.read_text(), SOURCE.read_text()
    if bare := set(NAME.findall(source)) - {name for _, _, name in ENTRY.findall(source)}:
        sys.exit(f"{SOURCE}: no comment `// Normal: …` above {', '.join(sorted(bare))}")
    right, count = TABLES.subn(lambda _: tables(source), page)
    if count != 1:
        sys.exit(f"{PAGE} has {count} places for the tables of metrics, and not one")
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(right)
    elif page != right:
        sys.exit(f"{PAGE} has other metrics than {SOURCE}: run python3 {sys.argv[0]} --write")


if __name__ == "__main__":
    main()
