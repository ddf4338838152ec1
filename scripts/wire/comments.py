"""The comments of the contract: documentation, and annotations behind a declaration, as `// @required @name(x)`.

Annotations say what protobuf has no word for. Custom options would say the same, but they need an import,
and then a client in another language could not compile feed.proto alone.
"""

import re
import textwrap

from swift import WIDTH


class ContractError(Exception):
    """Something in the contract that the generator does not accept; the text names the place."""


ANNOTATION = re.compile(r"@([a-z]+)(?:\(([^()]*)\))?")

# The annotations by the declaration that they may follow; True is one with a value in parentheses.
KNOWN = {
    "message": {"frame": False, "hashable": False, "required": False},
    "field": {"default": True, "name": True, "optional": False, "required": False, "secret": False,
              "type": True},
    "oneof": {"direct": True, "name": True, "named": False},
    "member": {"name": True, "type": True},
    "enum": {"name": True},
    "value": {"name": True},
}


def annotations_of(comment, place, kind):
    """The annotations in the comment behind a declaration, by name."""
    annotations = {}
    rest = ANNOTATION.sub(lambda found: annotations.update([found.groups()]) or "", comment).strip()
    if rest:
        raise ContractError(f"{place}: the comment behind it is no annotation: {rest}")
    for name, value in annotations.items():
        if name not in KNOWN[kind]:
            raise ContractError(f"{place}: @{name} has no meaning on a {kind}")
        if KNOWN[kind][name] != bool(value):
            raise ContractError(f"{place}: @{name} {'lacks its' if not value else 'takes no'} value")
    return annotations


def group_of(comment, place):
    """The name, the type and the documentation of a group that a comment begins; None for others."""
    comment = " ".join(comment.split())
    found = ANNOTATION.match(comment)
    if not found or found[1] != "group":
        return None
    name, separator, type_name = (found[2] or "").partition(": ")
    documentation = comment[found.end():].strip()
    if not separator or not documentation:
        raise ContractError(f"{place}: a group reads @group(name: Type) and a sentence")
    return name, type_name, documentation


# ---- Documentation comments of Swift

# The call's answer at the end of a message's comment.
ANSWER = re.compile(r"\s*-> (\w+)$")
# The space between two sentences; none is where a period follows another one.
SENTENCE_END = re.compile(r"(?<=[\w)`]\.) ")
FIELD = re.compile(r"\b(?:([A-Za-z]+\.))?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b")


def paragraphs(comment):
    """The comment's paragraphs, each on one line; each item of a list is one."""
    blocks = [[]]
    for line in comment.splitlines():
        line = line.strip()
        if not line:
            blocks.append([])
        elif line.startswith("- "):
            blocks.append([line])
        else:
            blocks[-1].append(line)
    return [" ".join(block) for block in blocks if block]


def in_swift(text, field_names):
    """The text with the names that the fields have in Swift, as code."""
    parts = text.split("`")
    for index, part in enumerate(parts):
        quote = "`" if index % 2 == 0 else ""

        def replace(found):
            name = field_names.get(found[2])
            return f"{quote}{found[1] or ''}{name}{quote}" if name else found[0]
        parts[index] = FIELD.sub(replace, part)
    return "`".join(parts)


def summary(comment):
    """The comment's first sentence."""
    return SENTENCE_END.split(ANSWER.sub("", paragraphs(comment)[0]))[0]


def comment_lines(comment, place, field_names, indent=0):
    """The lines of a documentation comment: one sentence, an empty line and the rest."""
    if not comment.strip():
        raise ContractError(f"{place}: no comment above it says what it is")
    blocks = paragraphs(comment)
    answer = ANSWER.search(blocks[0])
    blocks[0] = ANSWER.sub("", blocks[0])
    blocks[:1] = SENTENCE_END.split(blocks[0], maxsplit=1)
    if answer:
        blocks.append(f"The answer: `{answer[1]}`.")
    lines = []
    for index, block in enumerate(blocks):
        follows_item = index > 0 and blocks[index - 1].startswith("- ")
        if index > 0 and not (block.startswith("- ") and follows_item):
            lines.append("///")
        lines += textwrap.wrap(
            in_swift(block, field_names), WIDTH - indent, initial_indent="/// ",
            subsequent_indent="///   " if block.startswith("- ") else "/// ",
            break_long_words=False, break_on_hyphens=False)
    return [" " * indent + line for line in lines]
