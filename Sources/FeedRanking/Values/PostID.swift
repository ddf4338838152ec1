// Public, as PostCounts is: the compiler would not inline a `package` initializer into other modules,
// and a replay makes one of each for a log entry.

/// A post's number, from 1 upwards; no number is given twice, and 0 is no post.
public struct PostID: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// The low bits are the stripe, the others the slot in it.
    public let rawValue: UInt64

    /// Any number is allowed; calls find no post where the number was never given.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The older post first.
    public static func < (left: PostID, right: PostID) -> Bool {
        left.rawValue < right.rawValue
    }
}
