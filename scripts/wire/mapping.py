"""The mapping of the Swift values to protobuf-c's structs, and back."""

import swift
from contract import Message, Oneof

# The parameters of the functions, which hide a property of the same name.
PARAMETERS = {"message", "arena", "reader"}


def blocks(family):
    """The mappings of a family's messages; none where it has no message with a field."""
    found = []
    for declaration in family.declarations:
        if not isinstance(declaration, Message) or declaration.is_empty:
            continue
        if declaration.is_frame:
            found += [frame_oneof(each, declaration) for each in declaration.oneofs]
            continue
        found.append(wire_message(declaration))
        found += [nested_oneof(each, declaration) for each in declaration.oneofs]
        found += [group(each, declaration) for each in declaration.groups]
    return found


def c_type(message):
    return f"Feed__V1__{message.proto_name}"


def c_initialiser(message):
    return f"feed__v1__{swift.snake(message.proto_name)}__init"


def c_case(oneof, member, message):
    name = swift.snake(message.proto_name).upper()
    return f"FEED__V1__{name}__{oneof.proto_name.upper()}_{member.proto_name.upper()}"


def can_throw(message):
    """Whether reading a message can fail, as texts can."""
    return any(field.kind in ("text", "message") for field in message.fields)


def wire_message(message):
    """The conformance of a message to WireMessage."""
    pointer = f"UnsafeMutablePointer<{c_type(message)}>"
    lines = [
        f"extension {message.name}: @unsafe WireMessage {{",
        f"    static func initialize(_ message: {pointer}) {{",
        f"        unsafe {c_initialiser(message)}(message)",
        "    }",
        "",
        "    init(",
        f"        _ message: {pointer},",
        "        _ reader: WireReader",
        f"    ) {'throws(MessageError) ' if can_throw(message) else ''}{{",
        *read_all(message.members, "try unsafe" if can_throw(message) else "unsafe"),
        "    }",
        "",
        "    func write(",
        f"        to message: {pointer},",
        "        _ arena: borrowing MessageArena",
        "    ) {",
    ]
    for member in message.members:
        if isinstance(member, Oneof):
            lines += write_oneof(member, message)
        elif member in message.groups:
            lines.append(f"        unsafe {member.name}.write(to: message)")
        else:
            lines += write(member)
    return lines + ["    }", "}"]


def read_all(members, effects):
    """The call of the memberwise initialiser with all members."""
    lines = [f"        {effects} self.init("]
    for member in members:
        lines += read(member)
        lines[-1] += ","
    lines[-1] = lines[-1][:-1]
    return lines + ["        )"]


def read(member):
    """One argument of the memberwise initialiser."""
    label = f"{member.name}: "
    if not hasattr(member, "kind"):
        return [f"            {label}{member.type_name}(message)"]
    place = f"message.pointee.{member.proto_name}"
    path = f'"{member.proto_name}"'
    if member.is_repeated:
        count = f"count: message.pointee.n_{member.proto_name}"
        if member.kind == "message":
            return swift.call(f"{label}reader.messages(", [place, count, path], indent=12)
        tail = f").map {{ {member.element_type}($0) }}" if member.kind == "enum" else ")"
        return swift.call(f"{label}reader.numbers(", [place, count], tail, indent=12)
    if member.kind == "text" and member.wrapper:
        return [f"            {label}{member.wrapper}(rawValue: reader.text({place}, {path}))"]
    if member.kind == "text" and member.is_secret:
        return [f"            {label}reader.secret({place}, {path})"]
    return [f"            {label}" + {
        "number": place,
        "bool": f"{place} != 0",
        "enum": f"{member.element_type}({place})",
        "text": f"reader.text({place}, {path})",
        "bytes": f"reader.bytes({place})",
        "message": f"reader.message({place}, {path})",
    }[member.kind]]


def write(field, indent=8):
    """The assignments that put a property into a C struct."""
    place = f"unsafe message.pointee.{field.proto_name}"
    value = f"self.{field.name}" if field.name in PARAMETERS else swift.escaped(field.name)
    if field.is_repeated:
        count = f"unsafe message.pointee.n_{field.proto_name}"
        lines = swift.assignment(count, f"{value}.count", indent)
        if field.kind == "message":
            return lines + swift.call(f"{place} = arena.messages(", [value], indent=indent)
        if field.kind == "enum":
            value += ".map { $0.cValue() }"
        return lines + swift.call(f"{place} = arena.numbers(", [value], indent=indent)
    if field.kind == "text" and field.wrapper:
        value += ".rawValue"
    if field.kind == "text" and field.is_secret:
        return swift.call(f"{place} = arena.bytes(", [f"{value}.utf8"], indent=indent)
    if field.kind in ("text", "bytes", "message"):
        return swift.call(f"{place} = arena.{field.kind}(", [value], indent=indent)
    tail = {"bool": " ? 1 : 0", "enum": ".cValue()"}.get(field.kind, "")
    return swift.assignment(place, value + tail, indent)


def write_oneof(oneof, message):
    """The switch that sets the member of a oneof of numbers."""
    lines = [f"        switch {oneof.name} {{"]
    for member in oneof.members:
        lines += [
            f"        case .{member.name}(let value):",
            *set_case(oneof, member, message, "message"),
            f"            unsafe message.pointee.{member.proto_name} = value",
        ]
    return lines + ["        case nil:", "            break", "        }"]


def set_case(oneof, member, message, variable):
    """Says which member of a oneof is set."""
    place = f"unsafe {variable}.pointee.{oneof.proto_name}_case"
    return swift.assignment(place, c_case(oneof, member, message), indent=12)


def nested_oneof(oneof, message):
    """Reads a oneof of numbers."""
    lines = [
        f"extension {message.name}.{oneof.type_name} {{",
        "    /// The set member of the oneof; nil where there is none.",
        f"    fileprivate init?(_ message: UnsafeMutablePointer<{c_type(message)}>) {{",
        f"        switch unsafe message.pointee.{oneof.proto_name}_case {{",
    ]
    for member in oneof.members:
        lines += [
            f"        case {c_case(oneof, member, message)}:",
            f"            self = unsafe .{member.name}(message.pointee.{member.proto_name})",
        ]
    return lines + ["        default:", "            return nil", "        }", "    }", "}"]


def group(group, message):
    """Reads and writes fields that lie flat in the C struct of their message."""
    pointer = f"UnsafeMutablePointer<{c_type(message)}>"
    lines = [
        f"extension {group.type_name} {{",
        f"    fileprivate init(_ message: {pointer}) {{",
        *read_all(group.members, "unsafe"),
        "    }",
        "",
        f"    fileprivate func write(to message: {pointer}) {{",
    ]
    for member in group.members:
        lines += write(member)
    return lines + ["    }", "}"]


def frame_oneof(oneof, message):
    """Reads and writes the body of a frame."""
    pointer = f"UnsafeMutablePointer<{c_type(message)}>"
    lines = [
        f"extension {oneof.type_name} {{",
        "    /// The set member of the oneof; nil where there is none, or none that this version "
        "knows.",
        "    init?(",
        f"        _ frame: {pointer},",
        "        _ reader: WireReader",
        "    ) throws(MessageError) {",
        f"        switch unsafe frame.pointee.{oneof.proto_name}_case {{",
    ]
    for member in oneof.members:
        place = f"frame.pointee.{member.proto_name}"
        lines.append(f"        case {c_case(oneof, member, message)}:")
        if member.type.is_empty:
            lines += [f"            try unsafe reader.rejectFieldZero({place})",
                      f"            self = .{member.name}"]
        else:
            lines.append(f"            self = try unsafe .{member.name}(reader.body({place}))")
    lines += [
        "        default:",
        "            return nil",
        "        }",
        "    }",
        "",
        "    /// Sets the member of the oneof.",
        "    func write(",
        f"        to frame: {pointer},",
        "        _ arena: borrowing MessageArena",
        "    ) {",
        "        switch self {",
    ]
    for member in oneof.members:
        is_empty = member.type.is_empty
        call, value = ("empty", c_initialiser(member.type)) if is_empty else ("message", "value")
        lines.append(f"        case .{member.name}" + (":" if is_empty else "(let value):"))
        lines += set_case(oneof, member, message, "frame")
        lines += swift.call(f"unsafe frame.pointee.{member.proto_name} = arena.{call}(", [value],
                             indent=12)
    return lines + ["        }", "    }", "}"]
