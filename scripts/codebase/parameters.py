"""Checks that few functions of Sources take four or more parameters without a label.

scripts/check.sh runs it. A call such as `start(segment, files, settings, 17)` does not say what 17 is.
"""

import re

import swift_source

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


if __name__ == "__main__":
    found = [each for path, text in swift_source.texts("Sources").items() if "/Generated/" not in path
             for each in long_lists(path, text)]
    swift_source.report([*found, f"{len(found)} functions, the limit is {LIMIT}"] if len(found) > LIMIT else [])
