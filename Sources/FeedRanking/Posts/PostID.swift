/// A post's number, from 1 upwards: it never goes back and is never given twice; 0 is no post.
package struct PostID: Hashable, Comparable, BitwiseCopyable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (left: PostID, right: PostID) -> Bool {
        left.rawValue < right.rawValue
    }
}
