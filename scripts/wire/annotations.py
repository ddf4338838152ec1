"""The annotations of the contract: comments behind a declaration, as `// @required @name(x)`.

They say what protobuf has no word for. Custom options would say the same, but they need an import,
and then a client in another language could not compile feed.proto alone.
"""

import re


class ContractError(Exception):
    """Something in the contract that the generator does not accept; the text names the place."""


ANNOTATION = re.compile(r"@([a-z]+)(?:\(([^()]*)\))?")

# The annotations by the declaration that they may follow; True is one with a value in parentheses.
KNOWN = {
    "message": {"frame": False, "hashable": False, "required": False},
    "field": {"default": True, "name": True, "optional": False, "required": False, "secret": False,
              "type": True},
    "oneof": {"direct": True, "name": True, "named": False},
    "member": {"name": True},
    "enum": {"name": True},
    "value": {"name": True},
}


def parse(comment, place, kind):
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


def group(comment, place):
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
