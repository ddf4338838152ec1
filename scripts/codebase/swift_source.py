"""Sources as text: which files there are, and the code of Swift without comments and literals."""

import pathlib
import re
import subprocess
import sys

LITERAL_OR_COMMENT = re.compile(
    r'''//[^\n]*|/\*.*?\*/|\#*"""(?:\\.|.)*?"""\#*|\#"[^\n]*?"\#|"(?:\\.|[^"\\\n])*"''', re.DOTALL)
INTERPOLATION = re.compile(r"\\\#*\(")


def files(*folders):
    """The files below the folders, tracked or new and not ignored, as sorted paths."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders],
        check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted({path for path in listed if pathlib.Path(path).exists()})


def texts(*folders, suffixes=(".swift",)):
    """The files below the folders with their texts, by path."""
    return {path: pathlib.Path(path).read_text() for path in files(*folders) if path.endswith(suffixes)}


def report(faults):
    """Prints the faults, and ends the script with 1 if there are any."""
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


def code(text):
    """The text without comments and literals; lines keep their numbers.

    A literal with an interpolation keeps the code of its interpolations: they name declarations too.
    """
    return LITERAL_OR_COMMENT.sub(_blank, text)


def _blank(match):
    """The replacement of a comment or a literal in the code."""
    found = match.group()
    kept = "" if found.startswith(("//", "/*")) else _interpolations(found)
    return f'" {kept} "' + "\n" * (found.count("\n") - kept.count("\n"))


def _interpolations(literal):
    """The code between the parentheses of each interpolation of a literal."""
    parts = []
    for begin in INTERPOLATION.finditer(literal):
        depth, position = 1, begin.end()
        while position < len(literal) and depth:
            depth += {"(": 1, ")": -1}.get(literal[position], 0)
            position += 1
        parts.append(literal[begin.end():position - 1])
    return " ".join(parts)
