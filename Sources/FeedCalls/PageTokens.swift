internal import FeedOrders
package import FeedRanking
internal import FeedSpans

/// Writes page tokens, and reads those that it wrote.
///
/// A token holds a cursor and ends in a checksum under a secret key over the cursor and the scope:
/// feed, order, window, filter and viewer. A client cannot forge or alter a token or use it on
/// another list. The checksum is verified before any other field is read. Tokens last as long as the
/// key.
///
/// Layout of version 1: version (1), direction (1), rank, primary key, secondary key, post id (8
/// each, big-endian), title (the rest), checksum (8). Version 2 is a place in a snapshot, too: behind
/// the post id it has the number of the snapshot (8) and the index (4).
package struct PageTokenCoder: Sendable {
    private static let fixedByteCount = 2 + 4 * 8
    private static let snapshotByteCount = 8 + 4
    private static let checksumByteCount = 8

    private let key0: UInt64
    private let key1: UInt64

    /// A coder with a key; tokens of another key are not understood.
    package init(key0: UInt64, key1: UInt64) {
        self.key0 = key0
        self.key1 = key1
    }

    /// Appends the token that stands for a cursor in a scope.
    package func append(_ cursor: PageCursor, in scope: PageTokenScope, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(cursor.snapshot == nil ? 1 : 2)
        bytes.append(cursor.direction.rawValue)
        bytes.append(bigEndian: cursor.rank)
        bytes.append(bigEndian: cursor.position.primary)
        bytes.append(bigEndian: cursor.position.secondary)
        bytes.append(bigEndian: cursor.position.id.rawValue)
        if let snapshot = cursor.snapshot {
            bytes.append(bigEndian: snapshot.id)
            bytes.append(bigEndian: snapshot.index)
        }
        bytes.append(contentsOf: cursor.position.title)
        let checksum = checksum(of: &bytes, from: start, in: scope)
        bytes.append(bigEndian: checksum)
    }

    /// The cursor of a token; nil for one that was not written here for this scope.
    package func cursor(from token: [UInt8], in scope: PageTokenScope) -> PageCursor? {
        let contentCount = token.count - Self.checksumByteCount
        guard contentCount >= Self.fixedByteCount else { return nil }
        var content = Array(token[..<contentCount])
        let checksum = checksum(of: &content, from: 0, in: scope)
        guard token.bigEndian(UInt64.self, at: contentCount) == checksum,
            let direction = PageCursor.Direction(rawValue: content[1])
        else { return nil }
        var titleOffset = Self.fixedByteCount
        var snapshot: PageCursor.SnapshotPlace?
        switch content[0] {
        case 1: break
        case 2:
            titleOffset += Self.snapshotByteCount
            guard contentCount >= titleOffset else { return nil }
            snapshot = PageCursor.SnapshotPlace(
                id: content.bigEndian(UInt64.self, at: Self.fixedByteCount),
                index: content.bigEndian(UInt32.self, at: Self.fixedByteCount + 8)
            )
        default: return nil
        }
        return PageCursor(
            feed: scope.list.feed,
            order: scope.list.order,
            window: scope.list.window,
            direction: direction,
            position: ListPosition(
                primary: content.bigEndian(UInt64.self, at: 10),
                secondary: content.bigEndian(UInt64.self, at: 18),
                id: PostID(rawValue: content.bigEndian(UInt64.self, at: 26)),
                title: Array(content[titleOffset...])
            ),
            rank: content.bigEndian(UInt64.self, at: 2),
            snapshot: snapshot
        )
    }

    /// The checksum of a content that begins at a place of `bytes` and ends with them, and of a scope, whose
    /// bytes stand behind it meanwhile.
    private func checksum(
        of bytes: inout [UInt8],
        from start: Int,
        in scope: PageTokenScope
    ) -> UInt64 {
        let end = bytes.count
        defer { bytes.removeLast(bytes.count - end) }
        bytes.append(scope.list.order.tokenCode)
        bytes.append(bigEndian: scope.list.feed.map { UInt64($0.rawValue) } ?? .max)
        let device = scope.device
        bytes.append(device == nil ? 0 : 1)
        bytes.append(bigEndian: device?.high ?? 0)
        bytes.append(bigEndian: device?.low ?? 0)
        let checksum = checksum(of: bytes, from: start)
        // A checksum of its own over the first one. In one stream the title could end elsewhere: a part
        // of the scope could pass as title, and the options as another scope.
        let outer = bytes.count
        bytes.append(bigEndian: checksum)
        let options = bytes.count
        appendOptions(of: scope, to: &bytes)
        // The scopes of version 0.1 have no options, so their tokens stay valid.
        return bytes.count == options ? checksum : self.checksum(of: bytes, from: outer)
    }

    private func checksum(of bytes: [UInt8], from start: Int) -> UInt64 {
        SipHash.checksum(of: bytes.span.extracting(droppingFirst: start), key0: key0, key1: key1)
    }

    /// The parts of a scope that not every scope has; each one's first byte tells it from the others.
    private func appendOptions(of scope: PageTokenScope, to bytes: inout [UInt8]) {
        if let window = scope.list.window { bytes.append(window.rawValue) }
        if case .user(let user) = scope.viewer {
            bytes.append(0x10)
            bytes.append(bigEndian: user)
        }
        if scope.isFiltered {
            bytes.append(0x11)
            bytes.append(bigEndian: scope.authorID)
            bytes.append((scope.isUnreadOnly ? 1 : 0) | (scope.includesDismissed ? 2 : 0))
        }
    }
}

extension Order {
    /// The order's number in the checksum.
    fileprivate var tokenCode: UInt8 {
        switch self {
        case .top: 1
        case .new: 2
        case .old: 3
        case .hot: 4
        case .best: 5
        case .controversial: 6
        case .rising: 7
        case .discussed: 8
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(bigEndian value: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> Number(shift)))
        }
    }

    fileprivate func bigEndian<Number: FixedWidthInteger>(
        _ type: Number.Type,
        at offset: Int
    ) -> Number {
        self[offset..<offset + Number.bitWidth / 8].reduce(0) { $0 << 8 | Number($1) }
    }
}

/// The scope of a page token: one list, as one caller sees it.
package struct PageTokenScope {
    package let list: ListID
    /// The user that the caller is or acts for, or else its device; nil is an anonymous caller.
    package var viewer: VoterKey?
    /// The author of all posts; 0 is any.
    var authorID: UInt64 = 0
    /// Whether the pages have only posts that the viewer has not read.
    var isUnreadOnly = false
    /// Whether the pages have posts that the viewer has dismissed.
    var includesDismissed = false

    /// The scope of the same list for a caller without identity.
    package var ofNobody: PageTokenScope {
        var scope = self
        scope.viewer = nil
        return scope
    }

    fileprivate var device: Device16? {
        if case .device(let device) = viewer { device } else { nil }
    }

    /// Whether the list is not what it is without a filter.
    fileprivate var isFiltered: Bool { authorID != 0 || isUnreadOnly || includesDismissed }
}

extension PostPage {
    /// The cursor of the posts that are newer than the page's; nil where the page leads to none.
    package func refresh(in scope: PageTokenScope) -> PageCursor? {
        refreshPlace.map { place in
            PageCursor(
                feed: scope.list.feed,
                order: scope.list.order,
                window: scope.list.window,
                direction: .newer,
                position: place,
                rank: 0
            )
        }
    }
}

/// SipHash-2-4: a keyed 64-bit checksum that cannot be forged without the key.
///
/// Aumasson and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012. The standard
/// library's `Hasher` is of the same family, but takes no key of ours and may change between
/// versions.
package struct SipHash {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    /// The checksum of `bytes` under the key (`key0`, `key1`), in O(bytes).
    package static func checksum(of bytes: Span<UInt8>, key0: UInt64, key1: UInt64) -> UInt64 {
        var state = SipHash(key0: key0, key1: key1)
        let wholeWords = bytes.count / 8
        for word in 0..<wholeWords {
            state.absorb(littleEndianWord(in: bytes, from: word * 8, byteCount: 8))
        }
        let tail = littleEndianWord(
            in: bytes,
            from: wholeWords * 8,
            byteCount: bytes.count - wholeWords * 8
        )
        state.absorb(tail | UInt64(truncatingIfNeeded: bytes.count) << 56)
        return state.finish()
    }

    private init(key0: UInt64, key1: UInt64) {
        v0 = key0 ^ 0x736f_6d65_7073_6575
        v1 = key1 ^ 0x646f_7261_6e64_6f6d
        v2 = key0 ^ 0x6c79_6765_6e65_7261
        v3 = key1 ^ 0x7465_6462_7974_6573
    }

    private mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    private mutating func finish() -> UInt64 {
        v2 ^= 0xff
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
        v0 &+= v1
        v1 = v1.rotated(left: 13) ^ v0
        v0 = v0.rotated(left: 32)
        v2 &+= v3
        v3 = v3.rotated(left: 16) ^ v2
        v0 &+= v3
        v3 = v3.rotated(left: 21) ^ v0
        v2 &+= v1
        v1 = v1.rotated(left: 17) ^ v2
        v2 = v2.rotated(left: 32)
    }

    private static func littleEndianWord(
        in bytes: Span<UInt8>,
        from start: Int,
        byteCount: Int
    ) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<byteCount {
            word |= UInt64(bytes[start + index]) << UInt64(8 * index)
        }
        return word
    }
}

extension UInt64 {
    fileprivate func rotated(left count: UInt64) -> UInt64 {
        self << count | self >> (64 - count)
    }
}
