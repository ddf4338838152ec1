internal import FeedRanking

/// Writes page tokens, and reads those that it wrote.
///
/// A token holds a cursor and ends in a checksum under a secret key over the cursor and the scope:
/// feed, order, window and caller. A client cannot forge or alter a token or use it on another list. The
/// checksum is verified before any other field is read. Tokens last as long as the key.
///
/// Layout: version (1), direction (1), rank, primary key, secondary key, post id (8 each,
/// big-endian), title (the rest), checksum (8).
struct PageTokenCoder: Sendable {
    private static let version: UInt8 = 1
    private static let fixedByteCount = 2 + 4 * 8
    private static let checksumByteCount = 8

    private let key0: UInt64
    private let key1: UInt64

    /// A coder with a key; tokens of another key are not understood.
    init(key0: UInt64, key1: UInt64) {
        self.key0 = key0
        self.key1 = key1
    }

    /// The token that stands for a cursor in a scope.
    func token(for cursor: PageCursor, in scope: PageTokenScope) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            Self.fixedByteCount + cursor.position.title.count + Self.checksumByteCount
        )
        bytes.append(Self.version)
        bytes.append(cursor.direction == .after ? 0 : 1)
        bytes.append(bigEndian: cursor.rank)
        bytes.append(bigEndian: cursor.position.primary)
        bytes.append(bigEndian: cursor.position.secondary)
        bytes.append(bigEndian: cursor.position.id.rawValue)
        bytes.append(contentsOf: cursor.position.title)
        bytes.append(bigEndian: checksum(of: bytes, in: scope))
        return bytes
    }

    /// The cursor of a token; nil for one that was not written here for this scope.
    func cursor(from token: [UInt8], in scope: PageTokenScope) -> PageCursor? {
        let contentCount = token.count - Self.checksumByteCount
        guard contentCount >= Self.fixedByteCount else { return nil }
        let content = Array(token[..<contentCount])
        guard
            content[0] == Self.version,
            token.bigEndianUInt64(at: contentCount) == checksum(of: content, in: scope)
        else { return nil }
        return PageCursor(
            feed: scope.feed,
            order: scope.order,
            window: scope.window,
            direction: content[1] == 0 ? .after : .before,
            position: ListPosition(
                primary: content.bigEndianUInt64(at: 10),
                secondary: content.bigEndianUInt64(at: 18),
                id: PostID(rawValue: content.bigEndianUInt64(at: 26)),
                title: Array(content[Self.fixedByteCount...])
            ),
            rank: content.bigEndianUInt64(at: 2)
        )
    }

    private func checksum(of content: [UInt8], in scope: PageTokenScope) -> UInt64 {
        var bytes = content
        bytes.append(scope.order.tokenCode)
        bytes.append(bigEndian: scope.feed.map { UInt64($0.rawValue) } ?? .max)
        bytes.append(scope.device == nil ? 0 : 1)
        bytes.append(bigEndian: scope.device?.high ?? 0)
        bytes.append(bigEndian: scope.device?.low ?? 0)
        if let window = scope.window { bytes.append(window.rawValue) }
        return SipHash.checksum(of: bytes, key0: key0, key1: key1)
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
    fileprivate mutating func append(bigEndian value: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    fileprivate func bigEndianUInt64(at offset: Int) -> UInt64 {
        self[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
