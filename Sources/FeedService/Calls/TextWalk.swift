/// How much of an import's texts may still be walked character by character in this turn.
///
/// To find where characters end takes some 25 ns a byte where many scalars make one, so the texts of
/// a full frame would hold a loop for 28 ms. An import whose turn is used up goes on in a later one,
/// behind the posts that were checked.
package struct TextWalk: Sendable {
    private var remainingByteCount: Int
    /// The posts at the import's front that were checked and keep to the rules.
    package private(set) var checkedPostCount = 0

    /// A walk that has its first turn.
    ///
    /// - Parameter byteLimit: The bytes of a turn; a post that was begun is finished.
    package init(byteLimit: Int) {
        remainingByteCount = byteLimit
    }

    /// Whether another post may be checked in this turn; the first one always may.
    package var hasRoom: Bool { remainingByteCount > 0 }

    /// Notes that the next post keeps to the rules, and the bytes that were walked for it.
    package mutating func checked(walkedByteCount: Int) {
        checkedPostCount += 1
        remainingByteCount -= walkedByteCount
    }

    /// The import is done; what follows in this turn has what is left of it.
    package mutating func endImport() {
        checkedPostCount = 0
    }

    /// Begins the next turn of an import that is not done.
    package mutating func renew(byteLimit: Int) {
        remainingByteCount = byteLimit
    }
}

extension String {
    /// Whether only a walk over the characters can tell if there are more than `limit`.
    ///
    /// No text has more characters than scalars, nor more scalars than bytes; so most texts need
    /// none. O(bytes), about a nanosecond each.
    package func needsWalk(limit: Int) -> Bool {
        guard utf8.count > limit else { return false }
        // Each scalar has one byte that is no continuation.
        var scalarCount = 0
        let bytes = utf8.span
        for index in bytes.indices { scalarCount &+= bytes[index] & 0xC0 == 0x80 ? 0 : 1 }
        return scalarCount > limit
    }
}
