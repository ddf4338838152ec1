"""Lines of Swift in the layout that `swift format lint --strict` accepts."""

import textwrap

WIDTH = 100
HEADER = """\
// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

"""


def call(head, arguments, tail=")", indent=0):
    """A call on one line, or with an argument a line where it is too long for one."""
    line = " " * indent + head + ", ".join(arguments) + tail
    if len(line) <= WIDTH:
        return [line]
    inner = [" " * (indent + 4) + argument + "," for argument in arguments]
    inner[-1] = inner[-1][:-1]
    return [" " * indent + head, *inner, " " * indent + tail]


def assignment(place, value, indent=0):
    """An assignment on one line, or with the value on the next one."""
    line = " " * indent + f"{place} = {value}"
    if len(line) <= WIDTH:
        return [line]
    return [" " * indent + place + " =", " " * (indent + 4) + value]


def array(head, items, indent=0):
    """An array literal on one line, or with as many items a line as fit."""
    line = " " * indent + head + "[" + ", ".join(items) + "]"
    # The formatter counts a comma behind the last item, also where there is none.
    if len(line) < WIDTH:
        return [line]
    margin = " " * (indent + 4)
    inner = textwrap.wrap(", ".join(items) + ",", WIDTH, initial_indent=margin,
                          subsequent_indent=margin, break_long_words=False)
    return [" " * indent + head + "[", *inner, " " * indent + "]"]


def joined(blocks):
    """The text of a file: its blocks with an empty line between them."""
    return HEADER + "\n\n".join("\n".join(block) for block in blocks) + "\n"
