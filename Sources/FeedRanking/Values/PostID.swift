/// A post's number, from 1 upwards; no number is given twice, and 0 is no post.
package struct PostID: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// The low bits are the stripe, the others the slot in it.
    package let rawValue: UInt64

    /// Any number is allowed; calls find no post where the number was never given.
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The older post first.
    package static func < (left: PostID, right: PostID) -> Bool {
        left.rawValue < right.rawValue
    }
}
