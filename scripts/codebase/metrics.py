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
    page = PAGE.read_text()
    right = TABLES.sub(lambda _: tables(SOURCE.read_text()), page)
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(right)
    elif page != right:
        sys.exit(f"{PAGE} has other metrics than {SOURCE}: run python3 {sys.argv[0]} --write")


if __name__ == "__main__":
    main()
