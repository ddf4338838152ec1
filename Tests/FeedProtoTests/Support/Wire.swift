/// Protobuf's wire format, written by hand: what the decoders are tested against.
enum Wire {
    static func varint(_ value: UInt64) -> [UInt8] {
        var value = value
        var bytes: [UInt8] = []
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        return bytes + [UInt8(value)]
    }

    static func tag(_ field: UInt64, type: UInt64) -> [UInt8] { varint(field << 3 | type) }

    static func number(_ field: UInt64, _ value: UInt64) -> [UInt8] {
        tag(field, type: 0) + varint(value)
    }

    static func bytes(_ field: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        tag(field, type: 2) + varint(UInt64(bytes.count)) + bytes
    }

    static func text(_ field: UInt64, _ text: String) -> [UInt8] { bytes(field, Array(text.utf8)) }

    /// A body with its header.
    static func framed(_ body: [UInt8]) -> [UInt8] {
        length(body.count) + body
    }

    private static func length(_ count: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
    }
}
