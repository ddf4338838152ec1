"""Checks that docs/UNSAFE.md lists exactly the files with code that the compiler cannot prove safe.

scripts/check.sh runs it. `--rows` prints a row for each such file, with the reason that the page has.
"""

import argparse
import pathlib
import re

import swift_source

PAGE = "docs/UNSAFE.md"
# The words that the table lists, and the code that each stands for.
WORDS = {
    "unsafe": re.compile(r"(?<!nonisolated\()\bunsafe\b|\bUnsafe\w+|\bUnmanaged\b|\bunsafeBitCast\b"),
    "nonisolated(unsafe)": re.compile(r"\bnonisolated\(unsafe\)"),
    "@unchecked": re.compile(r"@unchecked\b|\(unchecked\)"),
    "@safe": re.compile(r"@safe\b"),
}
ROW = re.compile(r"^\| `(?P<path>[^`]+\.swift)` \| (?P<words>[^|]*) \| (?P<why>.*) \|$")


def said(text):
    """The words of WORDS that the code of a Swift file says, in the order of WORDS."""
    code = swift_source.code(text)
    return [word for word, pattern in WORDS.items() if pattern.search(code)]


def rows(page):
    """The rows of the page: {path: (words, why)}, and the paths that it lists twice."""
    listed, twice = {}, []
    for line in page.splitlines():
        if found := ROW.match(line):
            twice += [found["path"]] if found["path"] in listed else []
            listed[found["path"]] = (re.findall(r"`([^`]+)`", found["words"]), found["why"].strip())
    return listed, twice


def faults(page, texts):
    """Sentences on files that the page does not list as they are; `texts` maps paths to texts."""
    listed, twice = rows(page)
    found = [f"{PAGE} lists {path} twice" for path in twice]
    for path, text in texts.items():
        words = said(text)
        allowed, why = listed.pop(path, ([], ""))
        found += [f"{path} says {word}, which {PAGE} does not list for it"
                  for word in words if word not in allowed]
        found += [f"{PAGE} lists {word} for {path}, which does not say it"
                  for word in allowed if word not in words]
        if allowed and not why:
            found.append(f"{PAGE} gives no reason for {path}")
    return found + [f"{PAGE} lists {path}, which does not exist" for path in listed]


def main():
    parser = argparse.ArgumentParser(prog="scripts/codebase/unsafe.py", description=__doc__)
    parser.add_argument("--rows", action="store_true", help="print the table's rows as they should be")
    options = parser.parse_args()
    page, texts = pathlib.Path(PAGE).read_text(), swift_source.texts("Sources")
    if not options.rows:
        swift_source.report(faults(page, texts))
    listed, _ = rows(page)
    for path, text in texts.items():
        if words := said(text):
            why = listed.get(path, ([], ""))[1]
            print(f"| `{path}` | {', '.join(f'`{word}`' for word in words)} | {why} |")


if __name__ == "__main__":
    main()
