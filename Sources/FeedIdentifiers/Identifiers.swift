// The members that each vote uses are inlinable: the compiler inlines no others into another module.

/// A number that names one kind of thing, so that the compiler refuses it in place of another kind's.
///
/// A literal is an identifier of any kind: `post.author?.id == 0`. In JSON and in texts it is its number, in
/// decimal.
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

    /// The identifier of a number, as `UInt64(_:)` reads it; nil for another text.
    public init?(_ description: String) {
        guard let number = UInt64(description) else { return nil }
        self.init(rawValue: number)
    }

    /// The number in decimal.
    public var description: String { rawValue.description }

    /// Whether the number is less, which says nothing about times.
    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Names a post of a service; no number is given twice, and 0 is no post.
///
/// FeedOffline gives posts that wait in its outbox ids of its own, which no service knows: see `LocalPostID`.
public struct PostID: Identifier {
    /// The number on the wire.
    public let rawValue: UInt64

    /// Any number is allowed; calls find no post if the number was never given.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names an account, or the user of a service that acts for it; 0 is none.
public struct UserID: Identifier {
    /// The number on the wire.
    public let rawValue: UInt64

    /// Any number is allowed; calls find no user if the number was never given.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension UserID {
    /// A user of a service's own, without an account: the id with the top bit set, and a number below 2^63.
    public static func ofService(_ number: UInt64) -> UserID {
        precondition(number >> 63 == 0, "The number of a service's user is below 2^63.")
        return UserID(rawValue: 1 << 63 | number)
    }

    /// Whether it is a user of a service's own.
    @inlinable
    public var isOfService: Bool { rawValue >> 63 == 1 }
}

/// Names a session in the list of a user's sessions; it cannot be shown in place of the session's token.
///
/// feedctl shows it in hexadecimal.
public struct SessionID: Identifier {
    /// The number on the wire.
    public let rawValue: UInt64

    /// Any number is allowed; calls find no session if the number was never given.
    @inlinable
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
