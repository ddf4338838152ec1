"""Checks that the lines of Swift comments are not too long, which swift format does not look at.

scripts/check.sh runs it.
"""

import pathlib
import subprocess
import sys

# Somewhat more than the columns of code: a long word or a link may pass those.
LIMIT = 110


def faults(texts):
    """Sentences on comment lines over the limit; `texts` maps paths to texts."""
    return [f"{path}:{number}: a comment line of {len(line)} columns, the limit is {LIMIT}"
            for path, text in texts.items()
            for number, line in enumerate(text.split("\n"), 1)
            if len(line) > LIMIT and line.lstrip().startswith("//")]


def main():
    """Prints what is wrong, and ends with 1 if anything is."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.swift"],
        check=True, capture_output=True, text=True).stdout.split("\n")
    paths = [path for path in listed if path and pathlib.Path(path).exists()]
    found = faults({path: pathlib.Path(path).read_text() for path in paths})
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
