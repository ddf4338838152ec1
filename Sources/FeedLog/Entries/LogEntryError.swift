/// Why the bytes of a commit batch cannot be read; bytes that a log wrote cause none of these
/// errors.
package enum LogEntryError: Error, Equatable, Sendable {
    /// The length of a log's part reaches beyond the body, or the body ends within a length.
    case brokenPart(offset: Int)
    /// A log entry begins with the byte of no kind.
    case unknownKind(UInt8, offset: Int)
    /// A log entry ends beyond its log's part.
    case truncated(kind: UInt8, offset: Int)
    /// A field of a log entry has an impossible value.
    case badValue(kind: UInt8, offset: Int)
}

extension LogEntryError: CustomStringConvertible {
    /// What is wrong, and where in the body.
    package var description: String {
        switch self {
        case .brokenPart(let offset):
            "The part at byte \(offset) of a commit batch is longer than the batch."
        case .unknownKind(let kind, let offset):
            "The log entry at byte \(offset) of a commit batch is of no known kind: \(kind)."
        case .truncated(let kind, let offset):
            "The log entry of kind \(kind) at byte \(offset) of a commit batch ends beyond its part."
        case .badValue(let kind, let offset):
            "The log entry of kind \(kind) at byte \(offset) of a commit batch has a bad value."
        }
    }
}
