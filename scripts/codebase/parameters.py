"""Checks that few functions of Sources take four or more parameters without a label.

scripts/check.sh runs it. A call such as `start(segment, files, settings, 17)` does not say what 17 is.
"""

import pathlib
import re
import sys

LIMIT = 20
HEAD = re.compile(r"\b(?:func\s+(\S+?)|(init)\??)\s*(?:<[^>(]*>)?\(")
UNLABELLED = re.compile(r"\s*(?:@\w+\s+)*_\s+\w+\s*:")


def parameters(text, start):
    """The parameters of a declaration, whose list begins behind `start`."""
    found, depth = [""], 0
    for character in text[start:]:
        if character in ")" and depth == 0:
            return found
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return found


def long_lists(path, text):
    """Sentences on the functions of a file that take four or more parameters without a label."""
    for head in HEAD.finditer(text):
        count = sum(bool(UNLABELLED.match(each)) for each in parameters(text, head.end()))
        if count >= 4:
            line = text.count("\n", 0, head.start()) + 1
            yield f"{path}:{line}: {head[1] or head[2]} takes {count} parameters without a label"


def main():
    """Prints the functions, and ends with 1 if there are too many."""
    found = [each for path in sorted(pathlib.Path("Sources").rglob("*.swift")) if "Generated" not in path.parts
             for each in long_lists(path, path.read_text())]
    if len(found) > LIMIT:
        print("\n".join(found), f"{len(found)} functions, the limit is {LIMIT}", sep="\n", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
