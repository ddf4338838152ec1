/// Why the bytes of a cut cannot be read; none comes of bytes that a log wrote.
package enum EffectError: Error, Equatable, Sendable {
    /// A section's length leads beyond the body, or the body ends within a length.
    case brokenSection(offset: Int)
    /// An effect begins with a byte that stands for no kind.
    case unknownKind(UInt8, offset: Int)
    /// An effect goes on beyond the end of its section.
    case truncated(kind: UInt8, offset: Int)
    /// A field of an effect has a value that it cannot have.
    case badValue(kind: UInt8, offset: Int)
}

extension EffectError: CustomStringConvertible {
    /// What is wrong, and where in the body.
    package var description: String {
        switch self {
        case .brokenSection(let offset):
            "The section at byte \(offset) of a cut is longer than the cut."
        case .unknownKind(let kind, let offset):
            "The effect at byte \(offset) of a cut is of no known kind: \(kind)."
        case .truncated(let kind, let offset):
            "The effect of kind \(kind) at byte \(offset) of a cut goes beyond its section."
        case .badValue(let kind, let offset):
            "The effect of kind \(kind) at byte \(offset) of a cut has an impossible value."
        }
    }
}
