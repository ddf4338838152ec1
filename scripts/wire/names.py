"""The names that declarations of the contract have in Swift."""

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
