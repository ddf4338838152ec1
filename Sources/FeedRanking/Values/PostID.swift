/// A post's number, from 1 upwards: it never goes back and is never given twice; 0 is no post.
package struct PostID: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// The low bits are the stripe, the others the slot in it.
    package let rawValue: UInt64

    /// Any number may be asked for; of one never given, calls say that there is no such post.
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The older post first.
    package static func < (left: PostID, right: PostID) -> Bool {
        left.rawValue < right.rawValue
    }
}
