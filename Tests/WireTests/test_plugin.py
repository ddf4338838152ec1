"""The plugin of protoc that makes FeedProto's Swift, on small contracts."""

import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
PLUGIN = ROOT / "scripts" / "wire" / "protoc-gen-feed-swift"
HEAD = 'syntax = "proto3";\npackage feed.v1;\n\n// ---- Things ----\n\n'

COLOUR = """
// A colour.
enum Colour {
  // No colour.
  COLOUR_UNSPECIFIED = 0;
  // Like the sky.
  SKY_BLUE = 1;
}
"""

THING = COLOUR + """
// A thing. It has a name_ms of its own.
message Thing {
  // The name. It is never cut. It may be empty.
  string name = 1;  // @required
  // How long, with `max_bytes`.
  int64 name_ms = 2;
  // The most bytes.
  uint32 max_bytes = 3;
  // Open doors.
  uint64 doors = 4;
  // Whether it is open.
  bool open = 5;
  // The colours.
  repeated Colour colours = 6;
  // The bytes.
  bytes data_url = 7;
  // The ids.
  repeated uint64 part_ids = 8;
  // The part; absent is none.
  Part part = 9;
  // All parts.
  repeated Part parts = 10;
  // The cause.
  string cause = 11;  // @type(Reason)
  // The number.
  uint32 number = 12;  // @name(count) @default(7)
  // The colour.
  Colour colour = 13;
  // The owner.
  uint64 owner = 14;  // @type(OwnerID)
  // The doors' ids.
  repeated uint64 door_ids = 15;  // @type(DoorID)
  // The key.
  fixed64 key = 16;  // @type(KeyID)
}

// A part.
message Part {  // @required
  // The weight.
  double weight = 1;
  // The message.
  string message = 2;  // @optional
}
"""


def protoc(contract):
    """What protoc says, and the files that it makes, by their paths."""
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        (directory / "out").mkdir()
        (directory / "things.proto").write_text(HEAD + contract)
        finished = subprocess.run(
            ["protoc", f"--proto_path={directory}", f"--plugin=protoc-gen-feed-swift={PLUGIN}",
             f"--feed-swift_out={directory / 'out'}", "things.proto"],
            capture_output=True, text=True, timeout=600)
        files = {str(path.relative_to(directory / "out")): path.read_text()
                 for path in (directory / "out").rglob("*.swift")}
        return finished, files


class PluginTestCase(unittest.TestCase):
    """Generates, and compares pieces of Swift line by line, without their indentation."""

    def generate(self, contract):
        finished, files = protoc(contract)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        return files

    def values(self, contract):
        return self.generate(contract)["Things.swift"]

    def mapping(self, contract):
        return self.generate(contract)["Things+ProtobufC.swift"]

    def assert_has(self, text, piece):
        lines = "\n".join(line.strip() for line in text.splitlines())
        wanted = "\n".join(line.strip() for line in piece.strip().splitlines())
        self.assertIn(wanted, lines)


class ValueTests(PluginTestCase):
    def test_a_message_is_a_struct_with_the_comments_of_the_contract(self):
        values = self.values(THING)
        self.assertTrue(values.startswith("// Generated from proto/feed.proto by scripts/wire."))
        self.assert_has(values, """
            /// A thing.
            ///
            /// It has a `nameMilliseconds` of its own.
            public struct Thing: Equatable, Sendable {
                /// The name.
                ///
                /// It is never cut. It may be empty.
                public var name: String
                /// How long, with `maximumByteCount`.
                public var nameMilliseconds: Int64
            """)
        self.assert_has(values, """
                /// The part; nil is none.
                public var part: Part?
            """)

    def test_a_field_without_annotation_has_a_default(self):
        self.assert_has(self.values(THING), """
            public init(
                name: String,
                nameMilliseconds: Int64 = 0,
                maximumByteCount: UInt32 = 0,
                doorCount: UInt64 = 0,
                isOpen: Bool = false,
                colours: [Colour] = [],
                dataURL: [UInt8] = [],
                partIDs: [UInt64] = [],
                part: Part? = nil,
                parts: [Part] = [],
                cause: Reason = Reason(rawValue: ""),
                count: UInt32 = 7,
                colour: Colour = .unspecified,
                owner: OwnerID = 0,
                doorIDs: [DoorID] = [],
                key: KeyID = 0
            ) {
            """)

    def test_a_required_message_has_no_default_but_where_it_is_optional(self):
        self.assert_has(self.values(THING), 'public init(weight: Double, message: String = "") {')

    def test_a_message_is_hashable_where_it_says_so(self):
        self.assert_has(self.values(THING.replace("// @required\n  // The weight",
                                                  "// @hashable\n  // The weight")),
                        "public struct Part: Hashable, Sendable {")

    def test_an_enum_keeps_any_number(self):
        self.assert_has(self.values(THING), """
            public struct Colour: WireEnum {
                /// The number on the wire.
                public let rawValue: Int32
            """)
        self.assert_has(self.values(THING), """
                /// Like the sky.
                public static var skyBlue: Self { Self(rawValue: 1) }
            """)
        self.assert_has(self.values(THING),
                        'public static let names = ["COLOUR_UNSPECIFIED", "SKY_BLUE"]')

    def test_no_line_is_longer_than_the_format_permits(self):
        contract = "// A thing.\nmessage Thing {\n  // " + "Word and word " * 20 + "\n"
        contract += "  repeated uint64 name_of_a_field_that_has_more_words_than_most = 1;\n}\n"
        for text in self.generate(contract).values():
            self.assertLessEqual(max(map(len, text.splitlines())), 100)


class MappingTests(PluginTestCase):
    def test_each_kind_of_field_is_read(self):
        self.assert_has(self.mapping(THING), """
            try unsafe self.init(
                name: reader.text(message.pointee.name, "name"),
                nameMilliseconds: message.pointee.name_ms,
                maximumByteCount: message.pointee.max_bytes,
                doorCount: message.pointee.doors,
                isOpen: message.pointee.open != 0,
                colours: reader.numbers(
                    message.pointee.colours,
                    count: message.pointee.n_colours
                ).map { Colour($0) },
                dataURL: reader.bytes(message.pointee.data_url),
                partIDs: reader.numbers(message.pointee.part_ids, count: message.pointee.n_part_ids),
                part: reader.message(message.pointee.part, "part"),
                parts: reader.messages(message.pointee.parts, count: message.pointee.n_parts, "parts"),
                cause: Reason(rawValue: reader.text(message.pointee.cause, "cause")),
                count: message.pointee.number,
                colour: Colour(message.pointee.colour),
                owner: OwnerID(rawValue: message.pointee.owner),
                doorIDs: reader.numbers(message.pointee.door_ids, count: message.pointee.n_door_ids),
                key: KeyID(rawValue: message.pointee.key)
            )
            """)

    def test_each_kind_of_field_is_written(self):
        self.assert_has(self.mapping(THING), """
            unsafe message.pointee.name = arena.text(name)
            unsafe message.pointee.name_ms = nameMilliseconds
            unsafe message.pointee.max_bytes = maximumByteCount
            unsafe message.pointee.doors = doorCount
            unsafe message.pointee.open = isOpen ? 1 : 0
            unsafe message.pointee.n_colours = colours.count
            unsafe message.pointee.colours = arena.numbers(colours.map { $0.cValue() })
            unsafe message.pointee.data_url = arena.bytes(dataURL)
            unsafe message.pointee.n_part_ids = partIDs.count
            unsafe message.pointee.part_ids = arena.numbers(partIDs)
            unsafe message.pointee.part = arena.message(part)
            unsafe message.pointee.n_parts = parts.count
            unsafe message.pointee.parts = arena.messages(parts)
            unsafe message.pointee.cause = arena.text(cause.rawValue)
            unsafe message.pointee.number = count
            unsafe message.pointee.colour = colour.cValue()
            unsafe message.pointee.owner = owner.rawValue
            unsafe message.pointee.n_door_ids = doorIDs.count
            unsafe message.pointee.door_ids = arena.numbers(doorIDs)
            unsafe message.pointee.key = key.rawValue
            """)

    def test_a_property_with_the_name_of_a_parameter_is_told_apart(self):
        self.assert_has(self.mapping(THING),
                        "unsafe message.pointee.message = arena.text(self.message)")

    def test_only_texts_and_messages_can_fail(self):
        mapping = self.mapping("// A.\nmessage A {\n  // Id.\n  uint64 id = 1;\n}\n")
        self.assertNotIn("throws", mapping)
        self.assertIn("throws", self.mapping(THING))


class CodecTests(PluginTestCase):
    def test_each_kind_of_field_has_a_shape(self):
        self.assert_has(self.values(THING), """
            package static var fieldCount: Int { 16 }
            package static var structByteCount: Int { 200 }

            package static func field(_ index: Int) -> FieldShape {
                switch index {
                case 0: FieldShape(1, .bytes)
                case 1: FieldShape(2, .uint64)
                case 2: FieldShape(3, .uint32)
                case 3: FieldShape(4, .uint64)
                case 4: FieldShape(5, .bool)
                case 5: FieldShape(6, .int32, .repeated)
                case 6: FieldShape(7, .bytes)
                case 7: FieldShape(8, .uint64, .repeated)
                case 8: FieldShape(9, .message(Part.self))
                case 9: FieldShape(10, .message(Part.self), .repeated)
                case 10: FieldShape(11, .bytes)
                case 11: FieldShape(12, .uint32)
                case 12: FieldShape(13, .int32)
                case 13: FieldShape(14, .uint64)
                case 14: FieldShape(15, .uint64, .repeated)
                default: FieldShape(16, .fixed64)
                }
            }
            """)

    def test_each_kind_of_field_is_read(self):
        self.assert_has(self.values(THING), """
            try self.init(
                name: tree.text(node, 0, "name"),
                nameMilliseconds: tree.number(node, 1),
                maximumByteCount: tree.number(node, 2),
                doorCount: tree.number(node, 3),
                isOpen: tree.flag(node, 4),
                colours: tree.values(node, 5),
                dataURL: tree.bytes(node, 6),
                partIDs: tree.numbers(node, 7),
                part: tree.message(node, 8, "part"),
                parts: tree.messages(node, 9, "parts"),
                cause: Reason(rawValue: tree.text(node, 10, "cause")),
                count: tree.number(node, 11),
                colour: tree.value(node, 12),
                owner: tree.number(node, 13),
                doorIDs: tree.numbers(node, 14),
                key: tree.number(node, 15)
            )
            """)
        self.assert_has(self.values(THING), "weight: Double(bitPattern: tree.number(node, 0)),")

    def test_each_kind_of_field_is_written(self):
        self.assert_has(self.values(THING), """
            writer.text(1, name)
            writer.number(2, nameMilliseconds)
            writer.number(3, maximumByteCount)
            writer.number(4, doorCount)
            writer.flag(5, isOpen)
            writer.numbers(6, colours.map(\\.rawValue))
            writer.bytes(7, dataURL)
            writer.numbers(8, partIDs)
            writer.message(9, part)
            writer.messages(10, parts)
            writer.text(11, cause.rawValue)
            writer.number(12, count)
            writer.value(13, colour)
            writer.number(14, owner)
            writer.numbers(15, doorIDs)
            writer.fixed64(16, key)
            """)
        self.assert_has(self.values(THING), "writer.fixed64(1, weight == 0 ? 0 : weight.bitPattern)")

    def test_fields_are_written_in_the_order_of_their_numbers(self):
        values = self.values("// A.\nmessage A {\n  // B.\n  uint64 b = 2;\n  // C.\n  fixed64 c = 1;\n}\n")
        self.assert_has(values, "writer.fixed64(1, c)\nwriter.number(2, b)")
        self.assert_has(values, "b: tree.number(node, 1),\nc: tree.number(node, 0)")

    def test_the_body_of_a_frame_is_read_and_written(self):
        values = self.values(StructureTests.FRAME)
        self.assert_has(values, """
            case 11:
                self = try .large(tree.body(node, 2))
            case 12:
                try tree.rejectFieldZero(tree.child(node, 3))
                self = .nothing
            default:
                return nil
            """)
        self.assert_has(values, """
            case .large(let value): writer.message(11, value)
            case .nothing: writer.empty(12)
            """)
        self.assert_has(values, "package enum FrameShape: MessageShape {")
        self.assert_has(values, "default: FieldShape(12, .message(EmptyMessage.self), .member)")


class StructureTests(PluginTestCase):
    FRAME = """
// A frame.
message Frame {  // @frame
  // The id.
  uint64 id = 1;
  // A call.
  oneof body {  // @name(Call) @direct(8)
    Small small = 10;
    // Large.
    Large large = 11;
    Nothing nothing = 12;
  }
}
// Asks little. Very little.
message Small {
  // The number.
  uint64 number = 1;
}
// Asks much.
message Large {
  // The text.
  string text = 1;
}
// Asks nothing. -> Small
message Nothing {}
"""

    def test_the_body_of_a_frame_is_an_enum_whose_large_values_are_indirect(self):
        self.assert_has(self.values(self.FRAME), """
            public enum Call: Equatable, Sendable {
                /// Asks little.
                case small(Small)
                /// Large.
                indirect case large(Large)
                /// Asks nothing.
                ///
                /// The answer: `Small`.
                case nothing
            }
            """)
        self.assertNotIn("struct Frame", self.values(self.FRAME))
        self.assertNotIn("struct Nothing", self.values(self.FRAME))

    def test_the_cases_of_a_named_body_have_the_names_of_remote_calls(self):
        self.assertNotIn("var name", self.values(self.FRAME))
        named = self.FRAME.replace("Nothing nothing", "Nothing say_nothing")
        self.assert_has(self.values(named.replace("@direct(8)", "@direct(8) @named")), """
            public var name: String {
                switch self {
                case .small: "Small"
                case .large: "Large"
                case .sayNothing: "SayNothing"
                }
            }
            """)

    def test_the_body_of_a_frame_is_read_and_written(self):
        mapping = self.mapping(self.FRAME)
        self.assert_has(mapping, """
            case FEED__V1__FRAME__BODY_LARGE:
                self = try unsafe .large(reader.body(frame.pointee.large))
            case FEED__V1__FRAME__BODY_NOTHING:
                try unsafe reader.rejectFieldZero(frame.pointee.nothing)
                self = .nothing
            default:
                return nil
            """)
        self.assert_has(mapping, """
            case .large(let value):
                unsafe frame.pointee.body_case = FEED__V1__FRAME__BODY_LARGE
                unsafe frame.pointee.large = arena.message(value)
            case .nothing:
                unsafe frame.pointee.body_case = FEED__V1__FRAME__BODY_NOTHING
                unsafe frame.pointee.nothing = arena.empty(feed__v1__nothing__init)
            """)

    def test_a_oneof_of_numbers_is_an_optional_enum(self):
        contract = """
// A list.
message List {
  // Where it starts; absent is the first.
  oneof start {
    // At an id.
    uint64 from_id = 1;  // @type(ThingID)
    // At a rank.
    uint64 from_rank = 2;  // @name(rank)
  }
}
"""
        self.assert_has(self.values(contract), "public init(start: Start? = nil) {")
        self.assert_has(self.values(contract), """
            public enum Start: Equatable, Sendable {
                /// At an id.
                case fromID(ThingID)
            """)
        self.assert_has(self.mapping(contract), """
            case .fromID(let value):
                unsafe message.pointee.start_case = FEED__V1__LIST__START_FROM_ID
                unsafe message.pointee.from_id = value.rawValue
            """)
        self.assert_has(self.mapping(contract),
                        "self = unsafe .fromID(ThingID(rawValue: message.pointee.from_id))")
        self.assert_has(self.values(contract), "case .fromID(let value):\nwriter.member(1, value)")
        self.assert_has(self.values(contract), "case 1:\nself = .fromID(tree.number(node, 0))")
        self.assert_has(self.mapping(contract), """
            case .rank(let value):
                unsafe message.pointee.start_case = FEED__V1__LIST__START_FROM_RANK
                unsafe message.pointee.from_rank = value
            """)
        self.assert_has(self.values(contract), """
            case .rank(let value):
                writer.member(2, UInt64(truncatingIfNeeded: value))
            """)
        self.assert_has(self.values(contract), "case 2:\nself = .rank(tree.number(node, 1))")

    def test_a_group_is_a_value_of_its_own_that_lies_flat_on_the_wire(self):
        contract = """
// A car.
message Car {  // @required
  // The seats.
  uint64 seats = 1;

  // @group(motor: Motor) What moves
  // it.

  // The power.
  uint64 power = 2;
}
"""
        values, mapping = self.values(contract), self.mapping(contract)
        self.assert_has(values, "public init(seatCount: UInt64, motor: Motor = Motor()) {")
        self.assert_has(values, "/// What moves it.\npublic struct Motor: Equatable, Sendable {")
        self.assert_has(values, "public init(power: UInt64 = 0) {")
        self.assert_has(mapping, "motor: Motor(message)")
        self.assert_has(mapping, "unsafe motor.write(to: message)")
        self.assert_has(mapping, "unsafe message.pointee.power = power")
        self.assert_has(values, "motor: Motor(\npower: tree.number(node, 1)\n)")
        self.assert_has(values, "writer.number(2, motor.power)")

    def test_each_heading_begins_a_file(self):
        contract = THING + "\n// ---- Other things ----\n\n// B.\nmessage B {\n  // Id.\n  uint64 id = 1;\n}\n"
        self.assertEqual(sorted(self.generate(contract)), [
            "OtherThings+ProtobufC.swift", "OtherThings.swift", "Things+ProtobufC.swift", "Things.swift"])


class RefusalTests(PluginTestCase):
    def refused(self, contract):
        finished, files = protoc(contract)
        self.assertNotEqual(finished.returncode, 0)
        self.assertEqual(files, {})
        return finished.stderr

    def field(self, line, comment="// The field.", message="message A {"):
        return self.refused(f"// A.\n{message}\n  {comment}\n  {line}\n}}\n")

    def test_a_declaration_without_a_comment_is_named(self):
        self.assertIn("A.id: no comment above it", self.field("uint64 id = 1;", comment=""))

    def test_an_annotation_that_means_nothing_is_named(self):
        self.assertIn("A.id: @requierd has no meaning on a field",
                      self.field("uint64 id = 1;  // @requierd"))
        self.assertIn("A.id: the comment behind it is no annotation: of a post",
                      self.field("uint64 id = 1;  // of a post"))
        self.assertIn("A.id: @name lacks its value", self.field("uint64 id = 1;  // @name"))
        self.assertIn("A: @direct has no meaning on a message",
                      self.field("uint64 id = 1;", message="message A {  // @direct(8)"))

    def test_a_field_that_the_mapping_does_not_know_is_named(self):
        self.assertIn("A.names: the generator has no such type",
                      self.field("repeated string names = 1;"))
        self.assertIn("A.times: the generator has no such type",
                      self.field("repeated fixed64 times = 1;"))

    def test_a_type_of_what_has_no_raw_value_is_named(self):
        for kind in ("uint32", "int64", "double", "bool", "bytes"):
            self.assertIn("A.id: @type is for texts and unsigned numbers of 64 bits",
                          self.field(f"{kind} id = 1;  // @type(ThingID)"))

    def test_a_message_with_a_oneof_that_may_come_twice_is_named(self):
        self.assertIn("B.a: a message with a oneof is a call", self.refused(
            "// A.\nmessage A {\n  // C.\n  oneof c {\n    // D.\n    uint64 d = 1;\n  }\n}\n"
            "// B.\nmessage B {\n  // A.\n  A a = 1;\n}\n"))

    def test_an_enum_with_a_gap_is_named(self):
        self.assertIn("A: the numbers are not 0, 1, 2", self.refused(
            "// A.\nenum A {\n  // No.\n  NO = 0;\n  // Yes.\n  YES = 2;\n}\n"))


if __name__ == "__main__":
    unittest.main()
