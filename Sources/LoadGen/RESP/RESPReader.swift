import FeedTransport

/// Reads the replies of RESP2 from the bytes of a connection.
///
/// A reply is a type byte, a line that ends in CR LF, and after the length of bytes or of an array
/// its content.
package enum RESPReader {
    /// The most bytes or values that one reply may announce: more than any answer of a run has.
    private static let longestReply: Int64 = 512 * 1024
    private static let deepestReply = 4

    /// Reads a score that was sent as bytes, as the answer to `ZINCRBY` has it, and moves `offset`
    /// behind it.
    ///
    /// nil says nothing else about the bytes: `next(in:at:)` must read them. O(digits), without an
    /// allocation.
    @inline(__always)
    package static func nextScore(in bytes: RawSpan, at offset: inout Int) -> Int64? {
        let end = bytes.byteCount
        // "$1\r\n0\r\n" is the shortest one; a length of two digits comes from 10 digits on.
        guard end &- offset >= 7, byte(bytes, offset) == 0x24 else { return nil }
        var next = offset &+ 1
        var length = 0
        while next < end, case let digit = byte(bytes, next) &- 0x30, digit <= 9, length < 10 {
            length = length &* 10 &+ Int(digit)
            next &+= 1
        }
        guard length > 0, length < 19, end &- next >= length &+ 4,
            byte(bytes, next) == 0x0D, byte(bytes, next &+ 1) == 0x0A
        else { return nil }
        next &+= 2
        let last = next &+ length
        let isNegative = byte(bytes, next) == 0x2D
        if isNegative { next &+= 1 }
        var value: Int64 = 0
        while next < last {
            let digit = byte(bytes, next) &- 0x30
            guard digit <= 9 else { return nil }
            value = value &* 10 &+ Int64(digit)
            next &+= 1
        }
        guard byte(bytes, last) == 0x0D, byte(bytes, last &+ 1) == 0x0A else { return nil }
        offset = last &+ 2
        return isNegative ? -value : value
    }

    /// Reads any reply and moves `offset` behind it; nil where not all of it has arrived.
    ///
    /// O(bytes of the reply).
    package static func next(
        in bytes: RawSpan,
        at offset: inout Int
    ) throws(RESPError) -> RESPValue? {
        var next = offset
        guard let value = try value(bytes, &next, depth: 0) else { return nil }
        offset = next
        return value
    }

    private static func value(
        _ bytes: RawSpan,
        _ offset: inout Int,
        depth: Int
    ) throws(RESPError) -> RESPValue? {
        guard depth <= deepestReply else { throw .tooDeep(limit: deepestReply) }
        guard offset < bytes.byteCount else { return nil }
        let type = byte(bytes, offset)
        guard "+-:$*".utf8.contains(type) else { throw .unknownType(type) }
        offset += 1
        guard let line = try line(bytes, &offset) else { return nil }
        switch type {
        case 0x2B: return .line(line)
        case 0x2D: return .error(line)
        case 0x3A: return .integer(try number(line))
        case 0x24: return try content(bytes, &offset, length: try length(line))
        default:
            guard let count = try length(line) else { return .null }
            var values: [RESPValue] = []
            for _ in 0..<count {
                guard let value = try value(bytes, &offset, depth: depth + 1) else { return nil }
                values.append(value)
            }
            return .array(values)
        }
    }

    /// The bytes of a reply of this length; nil where not all of them have arrived.
    private static func content(
        _ bytes: RawSpan,
        _ offset: inout Int,
        length: Int?
    ) throws(RESPError) -> RESPValue? {
        guard let length else { return .null }
        guard bytes.byteCount - offset >= length + 2 else { return nil }
        var content: [UInt8] = []
        content.append(copying: bytes.extracting(offset..<offset + length))
        offset += length + 2
        return .bytes(content)
    }

    /// The text up to CR LF; nil where that has not arrived.
    private static func line(_ bytes: RawSpan, _ offset: inout Int) throws(RESPError) -> String? {
        var end = offset
        while end < bytes.byteCount, byte(bytes, end) != 0x0D { end += 1 }
        guard end - offset <= longestReply else {
            throw .tooLong(Int64(end - offset), limit: longestReply)
        }
        guard end + 1 < bytes.byteCount else { return nil }
        var text: [UInt8] = []
        text.append(copying: bytes.extracting(offset..<end))
        offset = end + 2
        return String(decoding: text, as: UTF8.self)
    }

    private static func number(_ line: String) throws(RESPError) -> Int64 {
        guard let number = Int64(line) else { throw .badNumber(line) }
        return number
    }

    /// A length; nil for -1, which stands for no value.
    private static func length(_ line: String) throws(RESPError) -> Int? {
        let length = try number(line)
        if length == -1 { return nil }
        guard length >= 0 else { throw .badNumber(line) }
        guard length <= longestReply else { throw .tooLong(length, limit: longestReply) }
        return Int(length)
    }

    @inline(__always)
    private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
        unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}

package enum RESPValue: Sendable, Equatable {
    /// A line, as `OK`.
    case line(String)
    /// An error, which begins with its name in capitals.
    case error(String)
    case integer(Int64)
    case bytes([UInt8])
    case null
    case array([RESPValue])

    /// The score that the bytes write, where they write a whole number that 64 bits hold.
    ///
    /// Scores are floating-point numbers in redis-server; those that votes add up to are whole.
    package var score: Int64? {
        guard case .bytes(let bytes) = self else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
    }
}

package enum RESPError: Error, Equatable, CustomStringConvertible {
    case unknownType(UInt8)
    case badNumber(String)
    case tooLong(Int64, limit: Int64)
    case tooDeep(limit: Int)

    package var description: String {
        switch self {
        case .unknownType(let byte):
            "A reply starts with the byte \(byte), which is no type of RESP2."
        case .badNumber(let text): "A reply has \(text.debugDescription) where a number is due."
        case .tooLong(let length, let limit):
            "A reply announces \(length) bytes or values; the limit is \(limit)."
        case .tooDeep(let limit): "A reply has arrays in more than \(limit) arrays."
        }
    }
}
