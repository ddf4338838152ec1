"""Names and lines of Swift: what declarations are called, in the layout that `swift format lint --strict` accepts."""

import textwrap

WIDTH = 100
HEADER = """\
// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

"""

# Words that Swift spells out, where they are not the first word of a name.
INITIALS = {"id": "ID", "ids": "IDs", "url": "URL"}
FULL = {"max": "maximum", "min": "minimum", "ms": "milliseconds", "us": "microseconds"}
KEYWORDS = {"default", "extension", "false", "in", "init", "internal", "is", "nil", "operator",
            "public", "repeat", "self", "true", "where"}


def camel(words):
    """The words as one name: the first in small letters, each other with a capital."""
    return words[0] + "".join(INITIALS.get(word, word.capitalize()) for word in words[1:])


def capitalized(name):
    """The name of a type: a name with a capital."""
    return name[0].upper() + name[1:]


def escaped(name):
    """A name where Swift would otherwise read a keyword."""
    return f"`{name}`" if name in KEYWORDS else name


def property_name(name, is_bool=False, is_count=False):
    """A field's name: units and shortened words are spelled out, and a count says so."""
    words = name.split("_")
    if words[0] == "num":
        words = words[1:]
    words = [FULL.get(word, word) for word in words]
    last = words[-1]
    if last == "bytes":
        words[-1:] = ["byte", "count"]
    elif is_count and last.endswith("s") and last not in FULL.values():
        words[-1:] = [last[:-1], "count"]
    if is_bool:
        words.insert(0, "is")
    return camel(words)


def value_name(name):
    """The name of an enum's value."""
    words = name.lower().split("_")
    return "unspecified" if words[-1] == "unspecified" else camel(words)


def snake(name):
    """A message's name in small letters, as protoc-c writes it."""
    return "".join(
        "_" + letter.lower() if letter.isupper() and index and not name[index - 1].isupper()
        else letter.lower() for index, letter in enumerate(name))


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


def function(head, parameters, body, effects="", comment=""):
    """A function of an extension; more than one parameter stand on a line each."""
    lines = [f"    /// {comment}"] if comment else []
    if len(parameters) == 1:
        lines.append(f"    {head}({parameters[0]}) {effects}{{")
    else:
        inner = ",\n".join(f"        {parameter}" for parameter in parameters)
        lines += [f"    {head}(", *inner.split("\n"), f"    ) {effects}{{"]
    return [*lines, *body, "    }"]


def block(head, *functions):
    """A type or an extension with an empty line between its functions."""
    body = "\n\n".join("\n".join(lines) for lines in functions)
    return [f"{head} {{", body, "}"]


def extension(head, *functions):
    return block(f"extension {head}", *functions)


def switch(subject, cases, other=None, otherwise=""):
    """A switch over pairs of a pattern and lines, with what is left at its end."""
    lines = [f"        switch {subject} {{"]
    for pattern, body in cases:
        lines += [f"        case {pattern}:", *body]
    if other:
        lines += [f"        {other}:", f"            {otherwise}"]
    return [*lines, "        }"]


def joined(blocks):
    """The text of a file: its blocks with an empty line between them."""
    return HEADER + "\n\n".join("\n".join(block) for block in blocks) + "\n"
