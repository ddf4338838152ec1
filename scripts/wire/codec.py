"""The codec in Swift: what the messages have on the wire, and how values are read and written."""

import swift
from contract import Message, Oneof
from mapping import can_throw

# The kind of a field's shape, the bytes of its member in protobuf-c's struct, and their alignment.
NUMBERS = {"UInt32": ("uint32", 4), "Int32": ("int32", 4)}
KINDS = {"bool": ("bool", 4), "enum": ("int32", 4), "text": ("bytes", 16), "bytes": ("bytes", 16),
         "message": ("message", 8)}

# The parameter that hides a property of the same name.
PARAMETERS = {"writer"}


def blocks(family):
    """What the codec has of a family's messages."""
    found = []
    for declaration in family.declarations:
        if not isinstance(declaration, Message) or declaration.is_empty:
            continue
        if declaration.is_frame:
            found.append([f"/// What a {declaration.name} has on the wire.",
                          *swift.block(f"package enum {declaration.name}Shape: MessageShape", *shape(declaration))])
            found += [frame_oneof(each, declaration) for each in declaration.oneofs]
            continue
        found.append(swift.extension(f"{declaration.name}: SwiftMessage", *shape(declaration),
                                     reading(declaration), writing(declaration)))
        found += [nested_oneof(each, declaration) for each in declaration.oneofs]
    return found


def ordered(message):
    """The fields in the order of their numbers, in which the tree keeps and the writer writes them."""
    return sorted(message.fields, key=lambda field: field.number)


def index_of(field, message):
    return ordered(message).index(field)


def kind(field):
    """The kind in the shape, and the bytes of the member of protobuf-c's struct."""
    if field.kind == "number":
        return NUMBERS.get(field.number_type, ("fixed64" if field.is_fixed else "uint64", 8))
    return KINDS[field.kind]


def struct_size(message):
    """The bytes of protobuf-c's struct: its base, the fields in the contract's order, then the oneofs."""
    size = 24

    def add(count, alignment):
        nonlocal size
        size = -(-size // alignment) * alignment + count

    for field in message.fields:
        if not field.is_member:
            count = 16 if field.is_repeated else kind(field)[1]
            add(count, min(count, 8))
    for oneof in message.oneofs:
        add(4, 4)
        largest = max(kind(member)[1] for member in oneof.members)
        add(largest, min(largest, 8))
    return -(-size // 8) * 8


def shape(message):
    """The requirements of MessageShape."""
    cases = []
    fields = ordered(message)
    for index, field in enumerate(fields):
        name, _ = kind(field)
        if name == "message":
            type_name = "EmptyMessage" if field.type.is_empty else field.type.name
            name = f"message({type_name}.self)"
        label = ", .repeated" if field.is_repeated else ", .member" if field.is_member else ""
        pattern = "default" if index == len(fields) - 1 else f"case {index}"
        cases.append(f"        {pattern}: FieldShape({field.number}, .{name}{label})")
    if len(fields) == 1:
        body = ["        " + cases[0].partition(": ")[2]]
    else:
        body = ["        switch index {", *cases, "        }"]
    return [[f"    package static var fieldCount: Int {{ {len(fields)} }}",
             f"    package static var structByteCount: Int {{ {struct_size(message)} }}"],
            swift.function("package static func field", ["_ index: Int"], body, effects="-> FieldShape ")]


def reading(message):
    fails = can_throw(message)
    lines = arguments(message.members, message, 12)
    return swift.function("init", ["_ node: Int", "in tree: borrowing MessageTree"],
                          [f"        {'try ' * fails}self.init(", *lines, "        )"],
                          effects="throws(MessageError) " * fails)


def arguments(members, message, indent):
    """The arguments of a memberwise initialiser."""
    lines = []
    for member in members:
        if isinstance(member, Oneof):
            lines += [" " * indent + f"{member.name}: {member.type_name}(node, in: tree)"]
        elif member in message.groups:
            lines += [" " * indent + f"{member.name}: {member.type_name}(",
                      *arguments(member.members, message, indent + 4), " " * indent + ")"]
        else:
            lines += [" " * indent + f"{member.name}: {read(member, message)}"]
        lines[-1] += ","
    lines[-1] = lines[-1][:-1]
    return lines


def read(field, message):
    """The value of a field in the tree."""
    place = f"node, {index_of(field, message)}"
    path = f'"{field.proto_name}"'
    if field.is_repeated:
        if field.kind == "message":
            return f"tree.messages({place}, {path})"
        return f"tree.{'values' if field.kind == 'enum' else 'numbers'}({place})"
    if field.number_type == "Double":
        return f"Double(bitPattern: tree.number({place}))"
    value = {
        "number": f"tree.number({place})",
        "bool": f"tree.flag({place})",
        "enum": f"tree.value({place})",
        "text": f"tree.{'secret' if field.is_secret else 'text'}({place}, {path})",
        "bytes": f"tree.bytes({place})",
        "message": f"tree.message({place}, {path})",
    }[field.kind]
    return f"{field.wrapper}(rawValue: {value})" if field.is_wrapped_text else value


def writing(message):
    lines, done = [], set()
    for field in ordered(message):
        if not field.is_member:
            lines.append("        " + write(field, message))
            continue
        oneof = next(each for each in message.oneofs if field in each.members)
        if oneof in done:
            continue
        done.add(oneof)
        lines += swift.switch(oneof.name, [
            (f".{member.name}(let value)", [f"            writer.member({member.number}, {word(member)})"])
            for member in oneof.members], "case nil", "break")
    return swift.function("func write", ["to writer: inout MessageWriter"], lines)


def write(field, message):
    """The call that writes a property."""
    group = next((each for each in message.groups if field in each.members), None)
    name = f"self.{field.name}" if field.name in PARAMETERS else swift.escaped(field.name)
    value = f"{group.name}.{field.name}" if group else name
    if field.is_repeated:
        if field.kind == "message":
            return f"writer.messages({field.number}, {value})"
        value += ".map(\\.rawValue)" if field.kind == "enum" else ""
        return f"writer.numbers({field.number}, {value})"
    if field.number_type == "Double":
        return f"writer.fixed64({field.number}, {value} == 0 ? 0 : {value}.bitPattern)"
    if field.is_secret:
        return f"writer.bytes({field.number}, {value}.utf8)"
    called = {"number": "fixed64" if field.is_fixed else "number", "bool": "flag", "enum": "value"}
    return f"writer.{called.get(field.kind, field.kind)}({field.number}, {value}{'.rawValue' * field.is_wrapped_text})"


def word(member):
    """The value of a oneof's member as the writer takes it."""
    return "value" if member.wrapper else "UInt64(truncatingIfNeeded: value)"


def nested_oneof(oneof, message):
    """Reads a oneof of numbers."""
    body = swift.switch("tree.member(node)", [
        (str(member.number), [f"            self = .{member.name}(tree.number(node, {index_of(member, message)}))"])
        for member in oneof.members], "default", "return nil")
    return swift.extension(
        f"{message.name}.{oneof.type_name}",
        swift.function("fileprivate init?", ["_ node: Int", "in tree: borrowing MessageTree"], body,
                       comment="The set member of the oneof; nil where there is none."))


def frame_oneof(oneof, message):
    """Reads and writes the body of a frame."""
    reads, writes = [], []
    for member in oneof.members:
        place = f"node, {index_of(member, message)}"
        if member.type.is_empty:
            reads.append((str(member.number), [f"            try tree.rejectFieldZero(tree.child({place}))",
                                               f"            self = .{member.name}"]))
            writes.append(f"        case .{member.name}: writer.empty({member.number})")
        else:
            reads.append((str(member.number), [f"            self = try .{member.name}(tree.body({place}))"]))
            writes.append(f"        case .{member.name}(let value): writer.message({member.number}, value)")
    return swift.extension(
        oneof.type_name,
        swift.function(
            "init?", ["_ node: Int", "in tree: borrowing MessageTree"],
            swift.switch("tree.member(node)", reads, "default", "return nil"),
            effects="throws(MessageError) ",
            comment="The set member of the oneof; nil where there is none, or none that this version knows."),
        swift.function(
            "func write", ["to writer: inout MessageWriter"],
            ["        switch self {", *writes, "        }"], comment="Writes the member of the oneof."))
