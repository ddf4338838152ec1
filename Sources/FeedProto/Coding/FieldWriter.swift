internal import FeedSpans

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes the fields of one frame into room that was reserved for it, for messages that justify a
/// path around the general encoder.
///
/// The bytes are the same, without an intermediate C message.
@safe package struct FieldWriter: ~Copyable {
    /// The most bytes that a number takes with its tag.
    static var numberByteCount: Int { 11 }
    /// The bytes of a message's tag and length.
    static var messageHeadByteCount: Int { 3 }

    private let room: UnsafeMutableRawPointer
    private let roomByteCount: Int
    private(set) var byteCount: Int

    /// A frame to be written into reserved room, after its header.
    @inline(__always)
    init(room: UnsafeMutableRawPointer, byteCount: Int) {
        precondition(byteCount >= FrameHeader.byteCount, "There is room for a header.")
        unsafe self.room = unsafe room
        roomByteCount = byteCount
        self.byteCount = FrameHeader.byteCount
    }

    /// Writes a number; zero is left out, as everywhere in proto3.
    @inline(__always)
    mutating func varint(tag: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        precondition(roomByteCount &- byteCount >= Self.numberByteCount, "There is room left.")
        let place = unsafe room + byteCount
        unsafe place.storeBytes(of: tag, as: UInt8.self)
        guard value >= 0x80 else {
            unsafe (place + 1).storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            byteCount &+= 2
            return
        }
        guard value < 1 &<< 56 else {
            byteCount &+= unsafe Self.writeLong(value, to: place + 1) &+ 1
            return
        }
        // All bytes but the last announce another one; the excess stored behind them is
        // overwritten. A byte begins every seven bits, and 9/64 stands for a seventh, exactly
        // enough up to 64 bits.
        let highestBit = 63 &- UInt64(truncatingIfNeeded: value.leadingZeroBitCount)
        let followCount = (highestBit &* 9 &+ 9) &>> 6
        let follows = 0x8080_8080_8080_8080 & ((1 as UInt64) &<< (8 &* followCount) &- 1)
        unsafe (place + 1).storeBytes(
            of: (value.splittingSevens | follows).littleEndian,
            as: UInt64.self
        )
        byteCount &+= Int(truncatingIfNeeded: followCount) &+ 2
    }

    /// Begins a message of at most 127 bytes, which `endMessage(at:)` ends at the place that it returns.
    @inline(__always)
    mutating func beginMessage(tag first: UInt8, _ second: UInt8) -> Int {
        precondition(roomByteCount - byteCount >= Self.messageHeadByteCount, "There is room left.")
        unsafe (room + byteCount).storeBytes(of: first, as: UInt8.self)
        unsafe (room + byteCount + 1).storeBytes(of: second, as: UInt8.self)
        byteCount &+= Self.messageHeadByteCount
        return byteCount
    }

    /// The same with a tag of one byte.
    @inline(__always)
    mutating func beginMessage(tag: UInt8) -> Int {
        precondition(roomByteCount &- byteCount >= 2, "There is room left.")
        unsafe (room + byteCount).storeBytes(of: tag, as: UInt8.self)
        byteCount &+= 2
        return byteCount
    }

    /// Begins a message and leaves two bytes for its length; `endLongMessage(at:)` ends it at the place that
    /// it returns.
    @inline(__always)
    mutating func beginLongMessage(tag first: UInt8, _ second: UInt8) -> Int {
        precondition(roomByteCount - byteCount >= 4, "There is room left.")
        let start = beginMessage(tag: first, second)
        byteCount &+= 1
        return start &+ 1
    }

    /// The same with a tag of one byte.
    @inline(__always)
    mutating func beginLongMessage(tag: UInt8) -> Int {
        precondition(roomByteCount - byteCount >= 3, "There is room left.")
        let start = beginMessage(tag: tag)
        byteCount &+= 1
        return start &+ 1
    }

    /// Ends a message that `beginLongMessage` began; moves it if its length does not take two
    /// bytes.
    ///
    /// A message of 16,384 bytes or more needs room for the other bytes of its length: three at most.
    @inline(__always)
    mutating func endLongMessage(at start: Int) {
        let length = byteCount - start
        precondition(start > 2 && length >= 0, "A long message was begun.")
        if length >= 1 << 7 && length < 1 << 14 {
            let low = UInt8(truncatingIfNeeded: length) | 0x80
            unsafe (room + (start - 2)).storeBytes(of: low, as: UInt8.self)
            let high = UInt8(truncatingIfNeeded: length >> 7)
            unsafe (room + (start - 1)).storeBytes(of: high, as: UInt8.self)
        } else {
            moveMessage(at: start, length)
        }
    }

    /// Moves a message behind its length, which does not take two bytes.
    @inline(never)
    private mutating func moveMessage(at start: Int, _ length: Int) {
        let lengthByteCount = Self.byteCount(of: UInt64(length))
        let place = start - 2 + lengthByteCount
        precondition(roomByteCount - place >= length, "There is room left.")
        unsafe memmove(room + place, room + start, length)
        unsafe Self.writeSevens(of: UInt64(length), lengthByteCount, to: room + (start - 2))
        byteCount = place + length
    }

    /// Writes the tag, of one byte, and the length of what follows.
    @inline(__always)
    mutating func head(tag: UInt8, length: Int) {
        precondition(roomByteCount - byteCount >= 1, "There is room left.")
        unsafe (room + byteCount).storeBytes(of: tag, as: UInt8.self)
        byteCount &+= 1
        plainVarint(UInt64(length))
    }

    /// Writes a number without a tag, also zero.
    @inline(__always)
    private mutating func plainVarint(_ value: UInt64) {
        let valueByteCount = Self.byteCount(of: value)
        precondition(roomByteCount &- byteCount >= valueByteCount, "There is room left.")
        unsafe Self.writeSevens(of: value, valueByteCount, to: room + byteCount)
        byteCount &+= valueByteCount
    }

    /// Writes a truth with a tag of two bytes; false is left out.
    @inline(__always)
    private mutating func flag(tag first: UInt8, _ second: UInt8, _ value: Bool) {
        guard value else { return }
        precondition(roomByteCount &- byteCount >= 3, "There is room left.")
        unsafe (room + byteCount).storeBytes(of: first, as: UInt8.self)
        unsafe (room + (byteCount + 1)).storeBytes(of: second, as: UInt8.self)
        unsafe (room + (byteCount + 2)).storeBytes(of: 1, as: UInt8.self)
        byteCount &+= 3
    }

    /// Writes a number of eight bytes; zero is left out.
    mutating func fixed64(tag: UInt8, _ value: UInt64) {
        guard value != 0 else { return }
        precondition(roomByteCount - byteCount >= 9, "There is room left.")
        unsafe (room + byteCount).storeBytes(of: tag, as: UInt8.self)
        unsafe (room + (byteCount + 1)).storeBytes(of: value.littleEndian, as: UInt64.self)
        byteCount += 9
    }

    /// Writes ids packed, as proto3 packs numbers; none are left out.
    mutating func ids(tag: UInt8, _ ids: [PostID]) {
        guard !ids.isEmpty else { return }
        head(tag: tag, length: ids.reduce(0) { $0 + Self.byteCount(of: $1.rawValue) })
        for id in ids { plainVarint(id.rawValue) }
    }

    static func maximumByteCount(of ids: [PostID]) -> Int { (ids.count + 1) * numberByteCount }

    /// Writes a text that lies among others; an empty one is left out.
    @inline(__always)
    mutating func text(tag: UInt8, _ range: TextRange, of texts: Span<UInt8>) {
        guard range.byteCount > 0 else { return }
        let start = Int(range.offset)
        let count = Int(range.byteCount)
        precondition(start + count <= texts.count, "A text lies within the texts.")
        head(tag: tag, length: count)
        bytes(copying: texts.extracting(start..<start + count))
    }

    /// Writes the status of a failed vote, of `count` bytes, as one of the results of a batch.
    mutating func result(count: Int, _ pack: (UnsafeMutablePointer<UInt8>) -> Void) {
        head(tag: 0x0A, length: 1 + Self.byteCount(of: UInt64(count)) + count)
        head(tag: 0x0A, length: count)
        unsafe bytes(count: count, pack)
    }

    /// The same of bytes that are there.
    mutating func result(of status: Span<UInt8>) {
        head(tag: 0x0A, length: 1 + Self.byteCount(of: UInt64(status.count)) + status.count)
        head(tag: 0x0A, length: status.count)
        bytes(copying: status)
    }

    /// Writes `count` bytes, which `pack` puts into the place that it gets.
    @inline(__always)
    mutating func bytes(count: Int, _ pack: (UnsafeMutablePointer<UInt8>) -> Void) {
        precondition(count >= 0 && roomByteCount - byteCount >= count, "There is room left.")
        unsafe pack((room + byteCount).assumingMemoryBound(to: UInt8.self))
        byteCount += count
    }

    @inline(__always)
    mutating func bytes(copying source: Span<UInt8>) {
        unsafe bytes(count: source.count) { place in
            unsafe source.withUnsafeBufferPointer { source in
                guard let base = source.baseAddress else { return }
                unsafe place.initialize(from: base, count: source.count)
            }
        }
    }

    /// Writes a number of a known number of bytes, seven bits a byte.
    @inline(__always)
    private static func writeSevens(
        of value: UInt64,
        _ valueByteCount: Int,
        to place: UnsafeMutableRawPointer
    ) {
        var rest = value
        for number in 0..<(valueByteCount - 1) {
            let byte = UInt8(truncatingIfNeeded: rest) | 0x80
            unsafe (place + number).storeBytes(of: byte, as: UInt8.self)
            rest >>= 7
        }
        let last = UInt8(truncatingIfNeeded: rest)
        unsafe (place + (valueByteCount - 1)).storeBytes(of: last, as: UInt8.self)
    }

    /// How many bytes a number takes without a tag.
    static func byteCount(of value: UInt64) -> Int { (70 - (value | 1).leadingZeroBitCount) / 7 }

    /// Ends the message that began at a place.
    @inline(__always)
    mutating func endMessage(at start: Int) {
        let length = byteCount - start
        precondition(start > 0 && length >= 0 && length < 128, "A short message was begun.")
        let place = unsafe room + (start - 1)
        unsafe place.storeBytes(of: UInt8(truncatingIfNeeded: length), as: UInt8.self)
    }

    /// Writes the header; returns the length of the frame's body.
    @inline(__always)
    consuming func end() -> Int {
        let length = byteCount - FrameHeader.byteCount
        unsafe room.storeBytes(of: UInt32(truncatingIfNeeded: length).bigEndian, as: UInt32.self)
        return length
    }

    /// Writes a number of more than 56 bits; returns its length of 9 or 10 bytes.
    private static func writeLong(_ value: UInt64, to place: UnsafeMutableRawPointer) -> Int {
        let low = (value & (1 &<< 56 &- 1)).splittingSevens | 0x8080_8080_8080_8080
        unsafe place.storeBytes(of: low.littleEndian, as: UInt64.self)
        let high = UInt8(truncatingIfNeeded: value &>> 56)
        unsafe (place + 8).storeBytes(of: high, as: UInt8.self)
        guard high >= 0x80 else { return 9 }
        unsafe (place + 9).storeBytes(of: 1, as: UInt8.self)
        return 10
    }
}

// Posts, in the bytes that protobuf-c would write. With a C message for each post a page takes twice
// to three times as long to write.
extension FieldWriter {
    static func maximumByteCount(of posts: Span<PostFields>) -> Int {
        var byteCount = 0
        for index in posts.indices { byteCount += posts[index].maximumEncodedByteCount }
        return byteCount
    }

    static let pagePostTag: UInt8 = 0x0A

    /// Writes the posts of a repeated field, whose texts lie in `texts`.
    ///
    /// They take at most the sum of their `maximumEncodedByteCount`.
    mutating func posts(tag: UInt8, _ posts: Span<PostFields>, texts: Span<UInt8>) {
        for index in posts.indices {
            let start = beginLongMessage(tag: tag)
            fields(of: posts[index], texts: texts)
            endLongMessage(at: start)
        }
    }

    /// Writes the posts of a page that are encoded, each with what the caller has made of it.
    ///
    /// `viewers` has one for each post, or none for a caller without identity.
    mutating func posts(_ posts: EncodedPosts, viewers: Span<Viewer>) {
        let bytes = posts.bytes.span
        guard !viewers.isEmpty else {
            self.bytes(copying: bytes.extracting(droppingFirst: FrameHeader.byteCount))
            return
        }
        for index in posts.bodies.indices {
            let message = beginLongMessage(tag: Self.pagePostTag)
            self.bytes(copying: bytes.extracting(posts.bodies[index]))
            viewer(viewers[index])
            endLongMessage(at: message)
        }
    }

    /// Writes the fields of a page beside its posts; its tokens lie in `texts`.
    mutating func fields(of page: ListPostsFields, texts: Span<UInt8>) {
        text(tag: 0x12, page.nextPageToken, of: texts)
        text(tag: 0x1A, page.previousPageToken, of: texts)
        text(tag: 0x22, page.refreshToken, of: texts)
        varint(tag: 0x28, page.firstRank)
        varint(tag: 0x30, page.totalSize)
        varint(tag: 0x38, UInt64(page.newerCount))
        varint(tag: 0x40, page.consistency.wireNumber)
    }

    /// Writes the fields of a post, whose texts lie in `texts`.
    @inline(__always)
    mutating func fields(of post: PostFields, texts: Span<UInt8>) {
        varint(tag: 0x08, post.id.rawValue)
        text(tag: 0x12, post.feed, of: texts)
        author(of: post, texts: texts)
        text(tag: 0x22, post.title, of: texts)
        text(tag: 0x2A, post.text, of: texts)
        text(tag: 0x32, post.linkURL, of: texts)
        text(tag: 0x3A, post.thumbnailURL, of: texts)
        text(tag: 0x42, post.imageURL, of: texts)
        varint(tag: 0x48, UInt64(bitPattern: post.score))
        varint(tag: 0x50, post.upvoteCount)
        varint(tag: 0x58, post.downvoteCount)
        varint(tag: 0x60, post.commentCount)
        varint(tag: 0x68, UInt64(bitPattern: post.createTimeMilliseconds))
        varint(tag: 0x70, UInt64(bitPattern: post.updateTimeMilliseconds))
        varint(tag: 0x78, post.revision)
        flag(tag: 0x80, 0x01, post.isDeleted)
        if let viewer = post.viewer { self.viewer(viewer) }
    }

    private mutating func author(of post: PostFields, texts: Span<UInt8>) {
        guard post.authorID > 0 || post.authorName.byteCount > 0 else { return }
        let nameByteCount = Int(post.authorName.byteCount)
        var length = 0
        if post.authorID > 0 { length += 1 + Self.byteCount(of: post.authorID.rawValue) }
        if nameByteCount > 0 {
            length += 1 + Self.byteCount(of: UInt64(nameByteCount)) + nameByteCount
        }
        head(tag: 0x1A, length: length)
        varint(tag: 0x08, post.authorID.rawValue)
        text(tag: 0x12, post.authorName, of: texts)
    }

    /// Writes what the caller has made of a post, the last field of a post.
    private mutating func viewer(_ viewer: Viewer) {
        let start = beginMessage(tag: 0x8A, 0x01)
        varint(tag: 0x08, viewer.vote.wireNumber)
        varint(tag: 0x10, viewer.isRead ? 1 : 0)
        varint(tag: 0x18, viewer.isDismissed ? 1 : 0)
        endMessage(at: start)
    }
}

extension ListPostsFields {
    var maximumEncodedByteCount: Int {
        7 * FieldWriter.numberByteCount + Int(nextPageToken.byteCount)
            + Int(previousPageToken.byteCount) + Int(refreshToken.byteCount)
    }
}

/// For services: posts of a page that are encoded once, to be sent to many callers.
public struct EncodedPosts: Equatable, Sendable {
    /// The posts as fields of a page, behind the room of a frame's header.
    let bytes: [UInt8]
    /// Where the fields of each post lie in the bytes.
    let bodies: [Range<Int>]

    /// Encodes posts, whose texts lie in `texts`, without what a caller has made of them.
    public init(_ posts: Span<PostFields>, texts: Span<UInt8>) {
        var encoder = FrameEncoder()
        bodies = encoder.append(bodiesOf: posts, texts: texts)
        bytes = encoder.bytes()
    }

    /// The bytes that the posts take.
    public var byteCount: Int { bytes.count + bodies.count * MemoryLayout<Range<Int>>.size }

    /// The most bytes that the posts take on a page, with what a caller has made of them: beside their
    /// fields the tags and lengths of a post and of a viewer, and three numbers.
    var maximumEncodedByteCount: Int {
        bytes.count + bodies.count * 5 * FieldWriter.numberByteCount
    }
}
