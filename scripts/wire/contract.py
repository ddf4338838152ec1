"""The contract as the generator sees it: protoc's descriptors, comments and annotations joined."""

import collections
import re

from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

import swift
from comments import ContractError, annotations_of, group_of

HEADING = re.compile(r"^-{4} (.+?) -+$")

# The Swift type of a number, and its bytes.
NUMBERS = {
    Proto.TYPE_DOUBLE: ("Double", 8),
    Proto.TYPE_INT64: ("Int64", 8),
    Proto.TYPE_UINT64: ("UInt64", 8),
    Proto.TYPE_FIXED64: ("UInt64", 8),
    Proto.TYPE_INT32: ("Int32", 4),
    Proto.TYPE_UINT32: ("UInt32", 4),
}
KINDS = {Proto.TYPE_BOOL: "bool", Proto.TYPE_ENUM: "enum", Proto.TYPE_STRING: "text",
         Proto.TYPE_BYTES: "bytes", Proto.TYPE_MESSAGE: "message"}


class Declaration:
    """What each declaration has: its name in the contract, its place there for messages, and the annotations and
    the comment that stand at its path in the descriptor."""

    def __init__(self, proto, kind, comments, path, parent=None):
        self.proto_name = proto.name
        self.place = f"{parent.proto_name}.{proto.name}" if parent else proto.name
        self.annotations = annotations_of(comments[path].trailing_comments, self.place, kind)
        self.documentation = comments[path].leading_comments


class EnumValue(Declaration):
    """A value of an enum."""

    def __init__(self, proto, parent, comments, path):
        super().__init__(proto, "value", comments, path, parent)
        self.number = proto.number
        self.name = self.annotations.get("name") or swift.value_name(proto.name)


class Enum(Declaration):
    """An enum."""

    def __init__(self, proto, comments, path):
        super().__init__(proto, "enum", comments, path)
        self.name = self.annotations.get("name") or proto.name
        self.values = [EnumValue(value, self, comments, path + (2, index))
                       for index, value in enumerate(proto.value)]
        if [value.number for value in self.values] != list(range(len(self.values))):
            raise ContractError(f"{proto.name}: the numbers are not 0, 1, 2 and so on")


class Field(Declaration):
    """A field of a message, or a member of a oneof."""

    def __init__(self, proto, message, comments, path):
        self.is_member = proto.HasField("oneof_index")
        super().__init__(proto, "member" if self.is_member else "field", comments, path, message)
        found = self.annotations
        self.is_repeated = proto.label == Proto.LABEL_REPEATED
        self.number = proto.number
        self.is_fixed = proto.type in (Proto.TYPE_FIXED64, Proto.TYPE_DOUBLE)
        self.kind = "number" if proto.type in NUMBERS else KINDS.get(proto.type)
        self.number_type, self.number_size = NUMBERS.get(proto.type, (None, 0))
        self.type_name = proto.type_name.split(".")[-1]
        self.wrapper = found.get("type")
        self.is_wrapped_text = bool(self.wrapper) and self.kind == "text"
        self.is_secret = "secret" in found
        is_number = self.kind == "number" and not self.is_repeated
        self.name = found.get("name") or swift.property_name(
            proto.name, is_bool=self.kind == "bool" and not self.is_member, is_count=is_number)
        self.given_default = found.get("default")
        self.is_required = "optional" not in found and (
            "required" in found or message.requires_all and not self.given_default)
        self.type = None  # An Enum or a Message; set once all are known.
        if self.kind is None or self.is_repeated and (self.is_fixed or self.kind in ("bool", "bytes", "text")):
            raise ContractError(f"{self.place}: the generator has no such type of field yet")
        if self.wrapper and self.kind != "text" and self.number_type != "UInt64":
            raise ContractError(f"{self.place}: @type is for texts and unsigned numbers of 64 bits")
        if self.is_secret and (self.kind != "text" or self.wrapper or not self.is_required):
            raise ContractError(f"{self.place}: @secret is for texts with @required, without @type")

    @property
    def element_type(self):
        """The Swift type of one value."""
        text = "SecretText" if self.is_secret else self.wrapper or "String"
        return {"number": self.wrapper or self.number_type, "bool": "Bool", "text": text,
                "bytes": "[UInt8]"}.get(self.kind) or self.type.name

    @property
    def swift_type(self):
        """The type of the property."""
        if self.is_repeated:
            return f"[{self.element_type}]"
        return f"{self.element_type}?" if self.kind == "message" else self.element_type

    @property
    def default(self):
        """The default of the initialiser's parameter; None where it must be given."""
        if self.is_required:
            return None
        if self.given_default:
            return self.given_default
        if self.is_repeated:
            return "[]"
        return {"number": "0", "bool": "false", "enum": ".unspecified", "bytes": "[]",
                "text": f'{self.wrapper}(rawValue: "")' if self.wrapper else '""',
                "message": "nil"}[self.kind]


class Oneof(Declaration):
    """A oneof: an enum in Swift, whose value is optional."""

    def __init__(self, proto, message, comments, path, members):
        super().__init__(proto, "oneof", comments, path, message)
        found = self.annotations
        self.name = swift.property_name(proto.name)
        self.type_name = found.get("name") or swift.capitalized(self.name)
        self.direct_size = int(found["direct"]) if "direct" in found else None
        self.is_named = "named" in found
        self.members = members
        self.default = "nil"
        for member in members:
            if not message.is_frame and member.kind != "number":
                raise ContractError(f"{member.place}: a oneof outside of a frame has numbers only")
            if message.is_frame and member.kind != "message":
                raise ContractError(f"{member.place}: the oneof of a frame has messages only")

    @property
    def swift_type(self):
        return f"{self.type_name}?"


class Group:
    """Fields of a message that are a value of their own in Swift, and lie flat on the wire."""

    def __init__(self, name, type_name, documentation):
        self.name, self.documentation, self.members = name, documentation, []
        self.type_name = self.swift_type = type_name
        self.place, self.default, self.is_hashable = f"@group {type_name}", f"{type_name}()", False


class Message(Declaration):
    """A message: its members are its fields, its oneofs and its groups, in the contract's order."""

    def __init__(self, proto, comments, path):
        super().__init__(proto, "message", comments, path)
        self.name = self.type_name = proto.name
        self.is_frame = "frame" in self.annotations
        self.requires_all = "required" in self.annotations
        self.is_hashable = "hashable" in self.annotations
        self.members = []
        if proto.nested_type or proto.enum_type:
            raise ContractError(f"{proto.name}: the generator takes no declaration in a message")
        self.fields = [Field(field, self, comments, path + (2, index)) for index, field in enumerate(proto.field)]
        self.oneofs = [
            Oneof(oneof, self, comments, path + (8, index), [
                field for field, each in zip(self.fields, proto.field)
                if each.HasField("oneof_index") and each.oneof_index == index])
            for index, oneof in enumerate(proto.oneof_decl)]
        self.groups = []
        self._collect(comments, path)

    def _collect(self, comments, path):
        """Puts the fields in their places: a group holds all fields from its comment on."""
        for index, field in enumerate(self.fields):
            for comment in comments[path + (2, index)].leading_detached_comments:
                begun = group_of(comment, field.place)
                if begun:
                    self.groups.append(Group(*begun))
                    self.members.append(self.groups[-1])
            if field.is_member:
                oneof = next(each for each in self.oneofs if field in each.members)
                if oneof not in self.members:
                    self.members.append(oneof)
            elif self.groups:
                field.is_required = False
                self.groups[-1].members.append(field)
            else:
                self.members.append(field)

    @property
    def is_empty(self):
        return not self.members


# The declarations under one heading of the contract, and the Swift names of all its fields.
Family = collections.namedtuple("Family", "name declarations field_names")


class Contract:
    """All declarations, by family."""

    def __init__(self, proto):
        self.families = []
        comments = {tuple(each.path): each for each in proto.source_code_info.location}
        enums = [((5, index), Enum(each, comments, (5, index)))
                 for index, each in enumerate(proto.enum_type)]
        messages = [((4, index), Message(each, comments, (4, index)))
                    for index, each in enumerate(proto.message_type)]
        types = {each.place: each for _, each in enums + messages}
        field_names = unambiguous_names(message for _, message in messages)
        for path, each in sorted(enums + messages, key=lambda pair: comments[pair[0]].span[0]):
            for comment in comments[path].leading_detached_comments:
                heading = HEADING.match(comment.strip())
                if heading:
                    self.families.append(Family(heading[1].title().replace(" ", ""), [], field_names))
            if not self.families:
                raise ContractError(f"{each.place}: no heading above it, as // ---- Posts ----")
            self.families[-1].declarations.append(each)
        for _, message in messages:
            for field in message.fields:
                field.type = types.get(field.type_name)
                if field.kind == "message" and field.type.oneofs and not field.is_member:
                    raise ContractError(f"{field.place}: a message with a oneof is a call, which never comes twice")


def unambiguous_names(messages):
    """The Swift name of each field, by its name in the contract, where all messages agree on it.

    The calls of a frame are left out: their names in the contract are also the methods' names.
    """
    found = collections.defaultdict(set)
    for message in messages:
        for field in message.fields:
            if not (message.is_frame and field.is_member):
                found[field.proto_name].add(field.name)
    return {name: names.pop() for name, names in found.items() if len(names) == 1}
