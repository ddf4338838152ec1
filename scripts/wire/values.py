"""The Swift values: a struct a message, a struct of numbers an enum, an enum a oneof."""

import re

import swift
from comments import comment_lines, summary
from contract import Enum, Oneof


def blocks(family):
    """The values of a family: its enums, structs and oneofs."""
    found = []
    for declaration in family.declarations:
        if isinstance(declaration, Enum):
            found.append(enum(declaration, family.field_names))
        elif declaration.is_frame:
            found += [oneof(each, family.field_names) for each in declaration.oneofs]
        elif not declaration.is_empty:
            found.append(struct(declaration, family.field_names))
            found += [struct(group, family.field_names) for group in declaration.groups]
    return found


def enum(declaration, field_names):
    """A struct, because a number without a name must keep its value."""
    lines = comment_lines(declaration.documentation, declaration.place, field_names)
    lines += [f"public struct {declaration.name}: WireEnum {{",
              "    /// The number on the wire.", "    public let rawValue: Int32", "",
              "    /// Takes any number, known or not.",
              "    public init(rawValue: Int32) { self.rawValue = rawValue }", ""]
    for value in declaration.values:
        lines += comment_lines(value.documentation, value.place, field_names, indent=4)
        lines.append(f"    public static var {swift.escaped(value.name)}: Self "
                     f"{{ Self(rawValue: {value.number}) }}")
    lines += ["", "    /// The contract's names, by number."]
    lines += swift.array("public static let names = ",
                          [f'"{value.proto_name}"' for value in declaration.values], indent=4)
    return lines + ["}"]


def struct(declaration, field_names):
    """A struct with a property a member, and its initialiser."""
    members = declaration.members
    lines = comment_lines(declaration.documentation, declaration.place, field_names)
    equality = "Hashable" if declaration.is_hashable else "Equatable"
    lines.append(f"public struct {declaration.type_name}: {equality}, Sendable {{")
    for member in members:
        lines += comment_lines(member_documentation(member), member.place, field_names, indent=4)
        lines.append(f"    public var {swift.escaped(member.name)}: {member.swift_type}")
    for member in members:
        if isinstance(member, Oneof):
            lines += ["", *oneof(member, field_names, indent=4)]
    return lines + ["", *initialiser(members), "}"]


def member_documentation(member):
    """The comment of a member, whose absence is nil in Swift."""
    if not member.swift_type.endswith("?"):
        return member.documentation
    return re.sub(r"\babsent\b", "nil", member.documentation)


def initialiser(members):
    """The initialiser that takes all members, those with a default optionally."""
    defaults = [member.default for member in members]
    lines = ["    /// " + (
        "All fields; each must be given." if all(each is None for each in defaults)
        else "All fields; each has a default." if None not in defaults
        else "All fields; those with a default may be left out.")]
    lines += swift.call(
        "public init(",
        [f"{member.name}: {member.swift_type}" + (f" = {default}" if default else "")
         for member, default in zip(members, defaults)], tail=") {", indent=4)
    lines += [f"        self.{member.name} = {swift.escaped(member.name)}" for member in members]
    return lines + ["    }"]


def oneof(declaration, field_names, indent=0):
    """An enum of the members; values of many bytes are `indirect`."""
    margin = " " * indent
    lines = comment_lines(declaration.documentation, declaration.place, field_names, indent)
    if declaration.direct_size is not None:
        lines += [margin + "///", margin + "/// A case whose value takes more than "
                  f"{declaration.direct_size} bytes is `indirect`, so that the enum stays small."]
    lines.append(f"{margin}public enum {declaration.type_name}: Equatable, Sendable {{")
    for member in declaration.members:
        lines += comment_lines(case_documentation(member), member.place, field_names, indent + 4)
        lines.append(f"{margin}    {case(member, declaration.direct_size)}")
    if declaration.is_named:
        lines += ["", *case_names(declaration.members)]
    return lines + [margin + "}"]


def case_names(members):
    """The property that names a case as remote calls are named."""
    lines = ["    /// The name of the case, in the form of a remote call's: `CastVote` of `castVote`.",
             "    public var name: String {", "        switch self {"]
    for member in members:
        words = member.proto_name.split("_")
        lines.append(f"        case .{member.name}: "
                     f'"{"".join(word.capitalize() for word in words)}"')
    return lines + ["        }", "    }"]


def case_documentation(member):
    """The comment of a case, or of its message: all of it where that has no struct."""
    if member.documentation or member.kind != "message":
        return member.documentation
    comment = member.type.documentation
    return comment if member.type.is_empty else summary(comment)


def case(member, direct_size):
    """The case of a member; a message without fields is a case without a value."""
    name = swift.escaped(member.name)
    if member.kind != "message":
        return f"case {name}({member.element_type})"
    if member.type.is_empty:
        return f"case {name}"
    indirect = direct_size is not None and size(member.type) > direct_size
    return f"{'indirect ' if indirect else ''}case {name}({member.element_type})"


def size(message):
    """The bytes that the value of a message takes in memory, about."""
    total = 0
    for field in message.fields:
        if field.is_repeated or field.kind == "bytes":
            count = alignment = 8
        elif field.kind == "message":
            count, alignment = size(field.type) + 1, 8
        elif field.kind == "text":
            count, alignment = 16, 8
        else:
            count = alignment = {"bool": 1, "enum": 4}.get(field.kind, field.number_size)
        total = -(-total // alignment) * alignment + count
    return total
