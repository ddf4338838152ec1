"""Documentation comments of Swift, made of the contract's comments."""

import re
import textwrap

from annotations import ContractError
from swift import WIDTH

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
