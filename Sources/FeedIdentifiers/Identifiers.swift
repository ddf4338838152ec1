// Public and inlinable, as each vote names a post: the compiler inlines no `package` function into another
// module.

/// A number that names one kind of thing, so that the compiler refuses it in place of another kind's.
///
/// A literal is an identifier of any kind: `post.author?.id == 0`. It is written, in JSON and as a text, as
/// its number is.
public protocol Identifier: RawRepresentable<UInt64>, Hashable, Comparable, Codable, Sendable,
    BitwiseCopyable, ExpressibleByIntegerLiteral, LosslessStringConvertible
{
    /// Takes any number; 0 names nothing.
    init(rawValue: UInt64)
}

extension Identifier {
    /// The identifier of a literal.
    @inlinable
    public init(integerLiteral value: UInt64) { self.init(rawValue: value) }

    /// The identifier of a number's decimal digits; nil for another text.
    public init?(_ description: String) {
        guard let number = UInt64(description) else { return nil }
        self.init(rawValue: number)
    }

    /// The decimal digits of the number.
    public var description: String { rawValue.description }

    /// Whether the number is less: the service gives greater ones to what is newer.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Names a post, from 1 upwards; no number is given twice, and 0 is no post.
@frozen
public struct PostID: Identifier {
    /// The number on the wire.
    public let rawValue: UInt64

    /// Any number is allowed; calls find no post if the number was never given.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names an account, or the user of a service that acts for it; 0 is none.
@frozen
public struct UserID: Identifier {
    /// The number on the wire.
    public let rawValue: UInt64

    /// Any number is allowed; calls find no user if the number was never given.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension UserID {
    /// A user of a service's own, without an account: `.ofService(7)` is the id with the top bit set.
    @inlinable
    public static func ofService(_ number: UInt64) -> UserID { UserID(rawValue: 1 << 63 | number) }

    /// Whether it is a user of a service's own.
    @inlinable
    public var isOfService: Bool { rawValue >> 63 == 1 }
}

/// Names a session in the list of a user's sessions; it cannot be shown in place of the session's token.
@frozen
public struct SessionID: Identifier {
    /// The number on the wire.
    public let rawValue: UInt64

    /// Any number is allowed; calls find no session if the number was never given.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
