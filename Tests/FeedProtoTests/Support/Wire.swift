import FeedTestSupport

/// The fields of a ``RawMessage`` as bytes, to be joined and nested in tables of cases.
enum Wire {
    static func varint(_ value: UInt64) -> [UInt8] { RawMessage.varint(value) }

    static func tag(_ field: UInt64, type: UInt64) -> [UInt8] {
        RawMessage().tag(field, wireType: type).bytes
    }

    static func number(_ field: UInt64, _ value: UInt64) -> [UInt8] {
        RawMessage().field(field, value).bytes
    }

    static func bytes(_ field: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        RawMessage().field(field, bytes).bytes
    }

    static func text(_ field: UInt64, _ text: String) -> [UInt8] { bytes(field, Array(text.utf8)) }

    /// A body with its header.
    static func framed(_ body: [UInt8]) -> [UInt8] { RawMessage().raw(body).framed }
}
