"""The mapping of the Swift values to protobuf-c's structs, and back."""

import swift
from contract import Message, Oneof

# The parameters of the functions, which hide a property of the same name.
PARAMETERS = {"message", "arena", "reader"}


def blocks(family):
    """The mappings of a family's messages, for platforms with protobuf-c; none where it has no message with a
    field."""
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
    return [["#if canImport(CFeedProto)"], ["import CFeedProto"], *found, ["#endif"]] if found else []


def pointer(message):
    return f"UnsafeMutablePointer<Feed__V1__{message.proto_name}>"


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
    fails = can_throw(message)
    return swift.extension(
        f"{message.name}: @unsafe WireMessage",
        swift.function("static func initialize", [f"_ message: {pointer(message)}"],
                       [f"        unsafe {c_initialiser(message)}(message)"]),
        swift.function("init", [f"_ message: {pointer(message)}", "_ reader: WireReader"],
                       read_all(message.members, "try unsafe" if fails else "unsafe"),
                       effects="throws(MessageError) " * fails),
        swift.function("func write", [f"to message: {pointer(message)}", "_ arena: borrowing MessageArena"],
                       write_all(message.members, message)))


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
        "number": number(place, member),
        "bool": f"{place} != 0",
        "enum": f"{member.element_type}({place})",
        "text": f"reader.text({place}, {path})",
        "bytes": f"reader.bytes({place})",
        "message": f"reader.message({place}, {path})",
    }[member.kind]]


def number(place, field):
    """A number, of the type that the contract names for it."""
    return f"{field.wrapper}(rawValue: {place})" if field.wrapper else place


def write(field):
    """The assignments that put a property into a C struct."""
    place = f"unsafe message.pointee.{field.proto_name}"
    value = f"self.{field.name}" if field.name in PARAMETERS else swift.escaped(field.name)
    if field.is_repeated:
        count = f"unsafe message.pointee.n_{field.proto_name}"
        lines = swift.assignment(count, f"{value}.count", indent=8)
        if field.kind == "message":
            return lines + swift.call(f"{place} = arena.messages(", [value], indent=8)
        if field.kind == "enum":
            value += ".map { $0.cValue() }"
        return lines + swift.call(f"{place} = arena.numbers(", [value], indent=8)
    if field.wrapper:
        value += ".rawValue"
    if field.kind == "text" and field.is_secret:
        return swift.call(f"{place} = arena.bytes(", [f"{value}.utf8"], indent=8)
    if field.kind in ("text", "bytes", "message"):
        return swift.call(f"{place} = arena.{field.kind}(", [value], indent=8)
    tail = {"bool": " ? 1 : 0", "enum": ".cValue()"}.get(field.kind, "")
    return swift.assignment(place, value + tail, indent=8)


def write_all(members, message):
    """Puts all members into a C struct."""
    lines = []
    for member in members:
        if isinstance(member, Oneof):
            lines += swift.switch(member.name, [
                (f".{each.name}(let value)", [
                    *set_case(member, each, message, "message"),
                    f"            unsafe message.pointee.{each.proto_name} = value{'.rawValue' * bool(each.wrapper)}"])
                for each in member.members], "case nil", "break")
        elif member in message.groups:
            lines.append(f"        unsafe {member.name}.write(to: message)")
        else:
            lines += write(member)
    return lines


def set_case(oneof, member, message, variable):
    """Says which member of a oneof is set."""
    place = f"unsafe {variable}.pointee.{oneof.proto_name}_case"
    return swift.assignment(place, c_case(oneof, member, message), indent=12)


def nested_oneof(oneof, message):
    """Reads a oneof of numbers."""
    body = swift.switch(f"unsafe message.pointee.{oneof.proto_name}_case", [
        (c_case(oneof, member, message),
         [f"            self = unsafe .{member.name}({number(f'message.pointee.{member.proto_name}', member)})"])
        for member in oneof.members], "default", "return nil")
    return swift.extension(
        f"{message.name}.{oneof.type_name}",
        swift.function("fileprivate init?", [f"_ message: {pointer(message)}"], body,
                       comment="The set member of the oneof; nil where there is none."))


def group(group, message):
    """Reads and writes fields that lie flat in the C struct of their message."""
    return swift.extension(
        group.type_name,
        swift.function("fileprivate init", [f"_ message: {pointer(message)}"], read_all(group.members, "unsafe")),
        swift.function("fileprivate func write", [f"to message: {pointer(message)}"],
                       write_all(group.members, message)))


def frame_oneof(oneof, message):
    """Reads and writes the body of a frame."""
    reads, writes = [], []
    for member in oneof.members:
        place = f"frame.pointee.{member.proto_name}"
        if member.type.is_empty:
            pattern, called, argument = f".{member.name}", "empty", c_initialiser(member.type)
            read = [f"            try unsafe reader.rejectFieldZero({place})", f"            self = .{member.name}"]
        else:
            pattern, called, argument = f".{member.name}(let value)", "message", "value"
            read = [f"            self = try unsafe .{member.name}(reader.body({place}))"]
        reads.append((c_case(oneof, member, message), read))
        writes.append((pattern, [
            *set_case(oneof, member, message, "frame"),
            *swift.call(f"unsafe {place} = arena.{called}(", [argument], indent=12)]))
    return swift.extension(
        oneof.type_name,
        swift.function(
            "init?", [f"_ frame: {pointer(message)}", "_ reader: WireReader"],
            swift.switch(f"unsafe frame.pointee.{oneof.proto_name}_case", reads, "default", "return nil"),
            effects="throws(MessageError) ",
            comment="The set member of the oneof; nil where there is none, or none that this version knows."),
        swift.function(
            "func write", [f"to frame: {pointer(message)}", "_ arena: borrowing MessageArena"],
            swift.switch("self", writes), comment="Sets the member of the oneof."))
