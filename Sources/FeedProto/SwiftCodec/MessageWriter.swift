/// Appends the fields of messages, in the bytes that protobuf-c would write.
///
/// What is zero or empty is left out, as everywhere in proto3.
struct MessageWriter: ~Copyable {
    private(set) var bytes: [UInt8] = []

    /// The memory that is kept when the bytes are removed.
    private static var retainedByteCount: Int { 64 << 10 }
    /// Room for each call and answer with a secret: growing would leave a copy in freed memory.
    private static var firstByteCount: Int { 4 << 10 }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.retainedByteCount)
    }

    /// Removes the bytes and overwrites the memory, also what was in it before.
    mutating func overwrite() {
        bytes.append(contentsOf: repeatElement(0, count: bytes.capacity - bytes.count))
        for index in bytes.indices { bytes[index] = 0 }
        removeAll()
    }

    mutating func number(_ field: UInt32, _ value: some FixedWidthInteger) {
        if value != 0 { member(field, UInt64(truncatingIfNeeded: value)) }
    }

    mutating func number(_ field: UInt32, _ id: some Identifier) { number(field, id.rawValue) }

    mutating func value(_ field: UInt32, _ value: some WireEnum) { number(field, value.rawValue) }

    mutating func flag(_ field: UInt32, _ value: Bool) { if value { member(field, 1) } }

    mutating func fixed64(_ field: UInt32, _ value: UInt64) {
        guard value != 0 else { return }
        tag(field, wireType: 1)
        for shift in stride(from: 0, to: UInt64.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    mutating func fixed64(_ field: UInt32, _ id: some Identifier) { fixed64(field, id.rawValue) }

    mutating func bytes(_ field: UInt32, _ value: [UInt8]) {
        if !value.isEmpty { member(field, value[...]) }
    }

    mutating func text(_ field: UInt32, _ value: String) {
        let utf8 = value.utf8
        guard !utf8.isEmpty else { return }
        tag(field, wireType: 2)
        varint(UInt64(utf8.count))
        bytes.append(contentsOf: utf8)
    }

    /// Numbers, packed.
    mutating func numbers(
        _ field: UInt32,
        _ values: some Collection<some FixedWidthInteger>
    ) {
        guard !values.isEmpty else { return }
        let start = begin(field)
        for value in values { varint(UInt64(truncatingIfNeeded: value)) }
        end(at: start)
    }

    mutating func numbers(_ field: UInt32, _ ids: [some Identifier]) {
        numbers(field, ids.lazy.map(\.rawValue))
    }

    mutating func message(_ field: UInt32, _ value: (some SwiftMessage)?) {
        guard let value else { return }
        let start = begin(field)
        value.write(to: &self)
        end(at: start)
    }

    mutating func messages(_ field: UInt32, _ values: [some SwiftMessage]) {
        for value in values { message(field, value) }
    }

    /// A message without fields.
    mutating func empty(_ field: UInt32) { end(at: begin(field)) }

    /// A number that is written also where it is zero, as a oneof's member.
    mutating func member(_ field: UInt32, _ value: UInt64) {
        tag(field, wireType: 0)
        varint(value)
    }

    mutating func member(_ field: UInt32, _ id: some Identifier) { member(field, id.rawValue) }

    /// Bytes that are written also where there are none.
    mutating func member(_ field: UInt32, _ value: ArraySlice<UInt8>) {
        tag(field, wireType: 2)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// A field as it came, with its tag.
    mutating func unknown(tag: UInt64, _ content: ArraySlice<UInt8>) {
        varint(tag)
        bytes.append(contentsOf: content)
    }

    /// Begins a message, which `end(at:)` ends at the place that it returns.
    mutating func begin(_ field: UInt32) -> Int {
        tag(field, wireType: 2)
        bytes.append(0)
        return bytes.count
    }

    /// Writes the length of a message before it; moves the message if that takes more than the one byte left.
    mutating func end(at start: Int) {
        var length = bytes.count - start
        var place = start - 1
        while length >= 0x80 {
            bytes[place] = UInt8(truncatingIfNeeded: length) | 0x80
            length >>= 7
            place += 1
            bytes.insert(0, at: place)
        }
        bytes[place] = UInt8(length)
    }

    private mutating func tag(_ field: UInt32, wireType: UInt64) {
        if bytes.capacity == 0 { bytes.reserveCapacity(Self.firstByteCount) }
        varint(UInt64(field) << 3 | wireType)
    }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
