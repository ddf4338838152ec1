/// One reply of a server that speaks RESP2.
package enum RESPValue: Sendable, Equatable {
    /// A line, as `OK`.
    case line(String)
    /// An error, which begins with its name in capitals.
    case error(String)
    /// A whole number.
    case integer(Int64)
    /// Bytes.
    case bytes([UInt8])
    /// No value.
    case null
    /// Values in order.
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

/// Why bytes are no reply of RESP2.
package enum RESPError: Error, Equatable, CustomStringConvertible {
    /// A reply starts with a byte that names no type.
    case unknownType(UInt8)
    /// A length or a number is not one.
    case badNumber(String)
    /// A reply is longer than the reader takes.
    case tooLong(Int64, limit: Int64)
    /// Arrays lie in more arrays than the reader takes.
    case tooDeep(limit: Int)

    /// What arrived, and the limit.
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
