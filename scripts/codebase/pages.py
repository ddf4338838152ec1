"""Checks that the links of the documents lead somewhere, and that docs/SECURITY.md names real tests.

scripts/check.sh runs it. A link within the repository has to lead to a file, and to a heading where
it names one. A row of the threats names files below Tests or of replica/, and functions in them. A test or a
comment that names a row has to name one that is there.
"""

import pathlib
import posixpath
import re

import swift_source

THREATS = "docs/SECURITY.md"
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ROW = re.compile(r"^\| (T-[A-Z]+-\d+) \|", re.MULTILINE)
ROW_NAME = re.compile(r"\bT-[A-Z]+-\d+\b")
# A file, and behind it the functions that the row names in it, each perhaps with a remark.
TESTS = re.compile(r"`([\w/]+\.(?:swift|go))`((?: `\w+`(?: \([^)]*\))?,?)*)")


def anchors(text):
    """The anchors of the headings of a page, as GitHub makes them."""
    found = set()
    for heading in HEADING.findall(FENCED.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def link_faults(pages, paths):
    """Sentences on links that lead nowhere; `pages` maps paths to texts, `paths` are all files."""
    folders = {str(folder) for path in paths for folder in pathlib.PurePosixPath(path).parents}
    found = []
    for page, text in pages.items():
        for link in LINK.findall(FENCED.sub("", text)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
            if target not in paths and target not in folders:
                found.append(f"{page}: the link {link} leads to no file")
            elif anchor and anchor not in anchors(pages.get(target, "")):
                found.append(f"{page}: the link {link} leads to no heading")
    return found


def threat_faults(page, sources):
    """Sentences on tests that the page of threats names, and on its rows that sources name."""
    found = []
    for path, functions in TESTS.findall(page):
        path = path if path.startswith("replica/") else f"Tests/{path}"
        source = sources.get(path)
        if source is None:
            found.append(f"{THREATS} names {path}, which does not exist")
            continue
        found += [f"{THREATS} names {name} of {path}, which has no such function"
                  for name in re.findall(r"`(\w+)`", functions)
                  if not re.search(rf"\bfunc {name}\b", source)]
    rows = ROW.findall(page)
    found += [f"{THREATS} has the row {row} twice" for row in sorted({each for each in rows
                                                                      if rows.count(each) > 1})]
    return found + [f"{path} names {row}, which {THREATS} does not have"
                    for path, source in sources.items()
                    for row in sorted(set(ROW_NAME.findall(source)) - set(rows))]


def main():
    pages = swift_source.texts(suffixes=(".md",))
    sources = swift_source.texts("Sources", "Tests", "replica", suffixes=(".swift", ".go"))
    swift_source.report(link_faults(pages, swift_source.files()) + threat_faults(pages[THREATS], sources))


if __name__ == "__main__":
    main()
