internal import FeedSpans

/// For services: a `ClientFrame` that casts one vote, which is the most frequent call.
public struct VoteFrame: Equatable, Sendable {
    /// Names the call; above 0 and strictly increasing on a connection.
    public var id: UInt64
    /// How long the answer may take; 0 is the service's default.
    public var timeoutMilliseconds: UInt32
    /// Names a change on its channel; 0 means that the change is executed at most once.
    ///
    /// The service remembers the outcomes of a window of a channel's latest sequences, and executes
    /// none of these changes twice.
    public var sequence: UInt64
    /// The oldest revision of the state that the answer may reflect; 0 allows any.
    public var minimumRevision: UInt64
    /// The user that a service acts for; 0 is the caller itself.
    public var actingUserID: UserID
    /// The vote.
    public var vote: CastVoteRequest

    /// A frame with the service's default deadline, executed at most once, on any state.
    public init(
        id: UInt64,
        vote: CastVoteRequest,
        timeoutMilliseconds: UInt32 = 0,
        sequence: UInt64 = 0,
        minimumRevision: UInt64 = 0,
        actingUserID: UserID = 0
    ) {
        self.id = id
        self.timeoutMilliseconds = timeoutMilliseconds
        self.sequence = sequence
        self.minimumRevision = minimumRevision
        self.actingUserID = actingUserID
        self.vote = vote
    }
}

extension VoteFrame {
    /// Reads a body without a message decoder, if it is a vote in the form that every encoder
    /// writes.
    ///
    /// In that form the fields are in order, each at most once, none of them is zero, and the
    /// numbers have their shortest form. nil says nothing else about the body: a `MessageDecoder`
    /// must read it. A returned frame equals what that decoder would make of the body.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes; more than the body, so that words can be read at once.
    ///   - body: The range of the body in them.
    @inline(__always)
    public init?(scanning bytes: RawSpan, in body: Range<Int>) {
        var scan = FieldScan(of: body, in: bytes)
        id = scan.varint(tag: 0x08, in: bytes)
        timeoutMilliseconds = 0
        sequence = 0
        minimumRevision = 0
        actingUserID = 0
        // Most votes have none of the fields in between.
        if !scan.enterMessage(tag: 0xC2, 0x02, in: bytes) {
            let timeout = scan.varint(tag: 0x10, in: bytes)
            timeoutMilliseconds = UInt32(truncatingIfNeeded: timeout)
            sequence = scan.varint(tag: 0x18, in: bytes)
            minimumRevision = scan.varint(tag: 0x20, in: bytes)
            actingUserID = UserID(rawValue: scan.varint(tag: 0x28, in: bytes))
            guard timeout <= UInt32.max, scan.enterMessage(tag: 0xC2, 0x02, in: bytes) else {
                return nil
            }
        }
        let postID = PostID(rawValue: scan.varint(tag: 0x08, in: bytes))
        let direction = scan.lastByte(tag: 0x10, in: bytes)
        guard id != 0, postID != 0, 1...3 ~= direction else { return nil }
        vote = CastVoteRequest(postID: postID, direction: VoteDirection(rawValue: Int32(direction)))
    }
}

extension ClientFrame {
    /// The same call in the form of any other call.
    public init(_ frame: VoteFrame) {
        self.init(
            id: frame.id,
            request: .castVote(frame.vote),
            timeoutMilliseconds: frame.timeoutMilliseconds,
            sequence: frame.sequence,
            minimumRevision: frame.minimumRevision,
            actingUserID: frame.actingUserID
        )
    }
}

/// For programs that vote much: a `ServerFrame` that answers one vote, which is the most frequent
/// answer.
public struct VoteAnswerFrame: Equatable, Sendable {
    /// The id of the frame that this answers; above 0.
    public var id: UInt64
    /// The revision of the state that the answer reflects.
    public var revision: UInt64
    /// The counts of the post.
    public var vote: CastVoteResponse

    /// Reads a body without a message decoder, if it is the answer to a vote in the form that every
    /// encoder writes.
    ///
    /// nil says nothing else about the body: a `MessageDecoder` must read it. A returned frame equals what
    /// that decoder would make of the body.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes; more than the body, so that words can be read at once.
    ///   - body: The range of the body in them.
    @inline(__always)
    public init?(scanning bytes: RawSpan, in body: Range<Int>) {
        var scan = FieldScan(of: body, in: bytes)
        id = scan.varint(tag: 0x08, in: bytes)
        revision = scan.varint(tag: 0x10, in: bytes)
        guard scan.enterMessage(tag: 0xC2, 0x02, in: bytes) else { return nil }
        let postID = PostID(rawValue: scan.varint(tag: 0x08, in: bytes))
        let score = Int64(bitPattern: scan.varint(tag: 0x10, in: bytes))
        let upvoteCount = scan.varint(tag: 0x18, in: bytes)
        let downvoteCount = scan.varint(tag: 0x20, in: bytes)
        let ballot = scan.lastByte(tag: 0x28, in: bytes)
        guard id != 0, ballot != 0 || scan.rest.isEmpty else { return nil }
        vote = CastVoteResponse(
            postID: postID,
            score: score,
            upvoteCount: upvoteCount,
            downvoteCount: downvoteCount,
            vote: VoteDirection(rawValue: Int32(ballot))
        )
    }
}

extension ServerFrame {
    /// The same answer in the form of any other answer.
    @inline(__always)
    public init(_ frame: VoteAnswerFrame) {
        self.init(id: frame.id, revision: frame.revision, response: .castVote(frame.vote))
    }
}

/// For services: votes that were received one after another, all read before the first is executed.
///
/// The wait for its post's memory is most of the cost of a vote. A service that knows the next
/// votes can request their memory meanwhile, and then the waits overlap.
public struct VoteRun: ~Copyable {
    /// The most votes of a run.
    public static var capacity: Int { 64 }

    /// One vote, and where it ends in the received bytes.
    public struct Entry {
        /// The call.
        public var frame = VoteFrame(
            id: 0,
            vote: CastVoteRequest(postID: 0, direction: .unspecified)
        )
        /// Where the next frame begins.
        public var endOffset = 0
    }

    // Public, so that a service that reads each vote twice does not call a function to do so. An
    // array of fixed size: the compiler copies the whole of an `InlineArray` to read one of its
    // elements.
    /// Places for votes; the first `count` are in use.
    public private(set) var entries = [Entry](repeating: Entry(), count: capacity)
    /// How many votes there are.
    public private(set) var count = 0

    /// An empty run.
    public init() {}

    /// Finds the votes in `bytes` from `offset` on, up to the first other frame.
    ///
    /// Bytes that are no frame end a run, too: the service refuses them after the votes.
    public mutating func find(
        in bytes: RawSpan,
        at offset: Int,
        limit: Int,
        _ scanner: borrowing FrameScanner
    ) {
        var offset = offset
        var taken = 0
        var places = entries.mutableSpan
        while taken < min(limit, places.count),
            let body = (try? scanner.nextBody(in: bytes, at: offset)) ?? nil,
            let frame = VoteFrame(scanning: bytes, in: body)
        {
            offset = body.upperBound
            places[taken] = Entry(frame: frame, endOffset: offset)
            taken += 1
        }
        count = taken
    }

    /// The vote at the front of `bytes`; nil if the first frame is no vote.
    public static func firstVote(
        in bytes: RawSpan,
        _ scanner: borrowing FrameScanner
    ) -> VoteFrame? {
        guard let body = (try? scanner.nextBody(in: bytes, at: 0)) ?? nil else { return nil }
        return VoteFrame(scanning: bytes, in: body)
    }
}

/// A position in a message whose fields are read one after another, for messages that justify a
/// path around the general decoder.
///
/// It reads only what every encoder writes: fields in order, numbers in their shortest form. It
/// leaves other bytes in place, so a scan that did not reach the end has not read the whole
/// message.
struct FieldScan {
    private var offset: Int
    private let end: Int
    /// The last offset from which eight bytes can be read at once.
    private let lastWordOffset: Int

    /// The start of the message that lies in `range` of `bytes`.
    @inline(__always)
    init(of range: Range<Int>, in bytes: RawSpan) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= bytes.byteCount,
            "A message lies within its bytes."
        )
        offset = range.lowerBound
        end = range.upperBound
        lastWordOffset = bytes.byteCount - MemoryLayout<UInt64>.size
    }

    /// Takes a number with a tag of one byte; 0 if another field follows, or the number is not
    /// plain.
    @inline(__always)
    mutating func varint(tag: UInt8, in bytes: RawSpan) -> UInt64 {
        guard offset < end, byte(at: offset, in: bytes) == tag else { return 0 }
        let start = offset + 1
        guard start <= lastWordOffset else { return varintOfBytes(at: start, in: bytes) }
        let word = word(at: start, in: bytes)
        let stops = ~word & 0x8080_8080_8080_8080
        guard stops != 0 else { return longVarint(word, at: start, in: bytes) }
        let bitCount = UInt64(truncatingIfNeeded: stops.trailingZeroBitCount) &+ 1
        let taken = word & (.max &>> (64 &- bitCount))
        let next = start &+ Int(truncatingIfNeeded: bitCount &>> 3)
        guard next <= end, taken &>> (bitCount &- 8) != 0 else { return 0 }
        offset = next
        return taken.joiningSevens
    }

    /// The number of one byte, with a tag of one byte, that ends the message; 0 if there is
    /// none.
    @inline(__always)
    func lastByte(tag: UInt8, in bytes: RawSpan) -> UInt8 {
        guard offset + 2 == end, byte(at: offset, in: bytes) == tag else { return 0 }
        let value = byte(at: offset + 1, in: bytes)
        return value < 0x80 ? value : 0
    }

    /// Takes the tag, of two bytes, and the length of a message that ends where this one does.
    @inline(__always)
    mutating func enterMessage(tag first: UInt8, _ second: UInt8, in bytes: RawSpan) -> Bool {
        let start = offset + 3
        guard start <= end,
            byte(at: offset, in: bytes) == first,
            byte(at: offset + 1, in: bytes) == second,
            byte(at: offset + 2, in: bytes) < 0x80,
            start + Int(byte(at: offset + 2, in: bytes)) == end
        else { return false }
        offset = start
        return true
    }

    /// Takes the tag, of two bytes, and the length of a message of up to 16,383 bytes that ends
    /// where this one does.
    @inline(__always)
    mutating func enterLongMessage(tag first: UInt8, _ second: UInt8, in bytes: RawSpan) -> Bool {
        guard offset + 3 <= end,
            byte(at: offset, in: bytes) == first,
            byte(at: offset + 1, in: bytes) == second
        else { return false }
        var length = Int(byte(at: offset + 2, in: bytes))
        var start = offset + 3
        if length >= 0x80 {
            guard start < end, 1..<0x80 ~= byte(at: start, in: bytes) else { return false }
            length = length & 0x7F | Int(byte(at: start, in: bytes)) << 7
            start += 1
        }
        guard start + length == end else { return false }
        offset = start
        return true
    }

    /// Takes a message of at most 127 bytes with a tag of one byte; nil if the next field is
    /// another.
    @inline(__always)
    mutating func takeMessage(tag: UInt8, in bytes: RawSpan) -> FieldScan? {
        guard offset + 2 <= end,
            byte(at: offset, in: bytes) == tag,
            byte(at: offset + 1, in: bytes) < 0x80
        else { return nil }
        let start = offset + 2
        let messageEnd = start + Int(byte(at: offset + 1, in: bytes))
        guard messageEnd <= end else { return nil }
        offset = messageEnd
        return FieldScan(of: start..<messageEnd, in: bytes)
    }

    /// Takes a text of at most 127 bytes with a tag of one byte; empty if the next field is another, nil
    /// if the text is not ASCII or has a NUL.
    mutating func text(tag: UInt8, in bytes: RawSpan) -> String? {
        guard let text = takeMessage(tag: tag, in: bytes)?.rest else { return "" }
        guard text.allSatisfy({ 1..<0x80 ~= byte(at: $0, in: bytes) }) else { return nil }
        return unsafe bytes.extracting(text).withUnsafeBytes {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    @inline(__always)
    var rest: Range<Int> { offset..<end }

    /// Like `varint`, if the number takes nine or ten bytes, of which the word has the first eight.
    ///
    /// A service's own users have such ids.
    private mutating func longVarint(_ word: UInt64, at start: Int, in bytes: RawSpan) -> UInt64 {
        guard start + 9 <= end else { return 0 }
        let ninth = byte(at: start + 8, in: bytes)
        let value = word.joiningSevens | UInt64(ninth & 0x7F) &<< 56
        if ninth < 0x80 {
            guard ninth != 0 else { return 0 }
            offset = start + 9
            return value
        }
        // The tenth byte has room for one bit.
        guard start + 10 <= end, byte(at: start + 9, in: bytes) == 1 else { return 0 }
        offset = start + 10
        return value | 1 &<< 63
    }

    /// Like `varint`, if the message ends near the end of the bytes.
    private mutating func varintOfBytes(at start: Int, in bytes: RawSpan) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        for place in start..<end {
            let byte = byte(at: place, in: bytes)
            // The tenth byte has room for one bit.
            guard shift < 63 || (shift == 63 && byte == 1) else { return 0 }
            value |= UInt64(byte & 0x7F) &<< shift
            shift += 7
            guard byte < 0x80 else { continue }
            guard byte != 0 else { return 0 }
            offset = place + 1
            return value
        }
        return 0
    }

    @inline(__always)
    private func byte(at offset: Int, in bytes: RawSpan) -> UInt8 {
        precondition(offset >= 0 && offset < end, "A byte lies within its message.")
        return unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    private func word(at offset: Int, in bytes: RawSpan) -> UInt64 {
        precondition(offset >= 0 && offset <= lastWordOffset, "A word lies within the bytes.")
        return unsafe UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset,
                as: UInt64.self
            )
        )
    }
}

// Varints of up to eight bytes, all of them at once: neighbours are joined, then pairs, then fours.
extension UInt64 {
    /// The number whose groups of seven bits are the low bits of these bytes.
    @inline(__always)
    fileprivate var joiningSevens: UInt64 {
        let pairs = self & 0x007F_007F_007F_007F | (self & 0x7F00_7F00_7F00_7F00) &>> 1
        let fours = pairs & 0x0000_3FFF_0000_3FFF | (pairs & 0x3FFF_0000_3FFF_0000) &>> 2
        return fours & 0x0000_0000_0FFF_FFFF | (fours & 0x0FFF_FFFF_0000_0000) &>> 4
    }

    /// The low 56 bits in groups of seven, one group a byte: the inverse.
    @inline(__always)
    var splittingSevens: UInt64 {
        let fours = self & 0x0FFF_FFFF | (self & 0x00FF_FFFF_F000_0000) &<< 4
        let pairs = fours & 0x0000_3FFF_0000_3FFF | (fours & 0x0FFF_C000_0FFF_C000) &<< 2
        return pairs & 0x007F_007F_007F_007F | (pairs & 0x3F80_3F80_3F80_3F80) &<< 1
    }
}
