/// Protobuf written by hand, for messages that no encoder would make.
package struct RawMessage {
    /// The message's bytes, without a frame's header.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package func raw(_ more: [UInt8]) -> RawMessage {
        var copy = self
        copy.bytes += more
        return copy
    }

    /// Appends a field's tag with any number and wire type.
    package func tag(_ field: UInt64, wireType: UInt64) -> RawMessage {
        raw(Self.varint(field << 3 | wireType))
    }

    package func field(_ field: UInt64, _ value: UInt64) -> RawMessage {
        tag(field, wireType: 0).raw(Self.varint(value))
    }

    /// Appends bytes, a text or a message.
    package func field(_ field: UInt64, _ content: [UInt8]) -> RawMessage {
        tag(field, wireType: 2).raw(Self.varint(UInt64(content.count))).raw(content)
    }

    package func field(_ field: UInt64, _ message: RawMessage) -> RawMessage {
        self.field(field, message.bytes)
    }

    package var framed: [UInt8] { Self.header(UInt32(bytes.count)) + bytes }

    package static func header(_ length: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    }

    package static func varint(_ value: UInt64) -> [UInt8] {
        var rest = value
        var bytes: [UInt8] = []
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
