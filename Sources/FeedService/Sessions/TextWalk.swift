/// How much of an import's texts may still be walked character by character in this loop iteration.
///
/// A walk takes about 25 ns a byte where characters have many scalars, so the texts of a full frame
/// would occupy a loop for 28 ms. An import that has used up an iteration continues in a later one,
/// after the posts that are checked.
package struct TextWalk: Sendable {
    private var remainingByteCount: Int
    /// The number of posts, from the import's first, that keep to the rules.
    package private(set) var checkedPostCount = 0

    /// A walk in its first loop iteration.
    ///
    /// - Parameter byteLimit: The bytes of an iteration; a post that is begun is finished.
    package init(byteLimit: Int) {
        remainingByteCount = byteLimit
    }

    /// Whether another post may be checked in this iteration; the first one always may.
    package var hasRoom: Bool { remainingByteCount > 0 }

    /// Counts the next post, which keeps to the rules, and the bytes that were walked for it.
    package mutating func checked(walkedByteCount: Int) {
        checkedPostCount += 1
        remainingByteCount -= walkedByteCount
    }

    /// Ends the import; the next one in this iteration has the rest of the bytes.
    package mutating func endImport() {
        checkedPostCount = 0
    }

    /// Begins the next iteration of an import that is not done.
    package mutating func renew(byteLimit: Int) {
        remainingByteCount = byteLimit
    }
}

extension String {
    /// Whether only a walk over the characters can find out if there are more than `limit`.
    ///
    /// A text has at most as many characters as scalars, and as many scalars as bytes. So most texts
    /// need no walk. O(bytes), about a nanosecond each.
    package func needsWalk(limit: Int) -> Bool {
        guard utf8.count > limit else { return false }
        // Each scalar has one byte that is not a continuation.
        var scalarCount = 0
        let bytes = utf8.span
        for index in bytes.indices { scalarCount &+= bytes[index] & 0xC0 == 0x80 ? 0 : 1 }
        return scalarCount > limit
    }
}
