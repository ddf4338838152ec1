import FeedProto

/// The answer to a vote, read from the bytes of its frame without decoding a message.
package struct VoteAnswer: Sendable, Equatable {
    /// The request.
    package let id: UInt64
    /// The post voted on.
    package let postID: UInt64
    /// Its score with this vote.
    package let score: Int64
    /// Its upvotes with this vote.
    package let upvoteCount: UInt64
    /// Its downvotes with this vote.
    package let downvoteCount: UInt64
    /// The voter's ballot now, as its direction on the wire; 0 where none stands, and on a feed
    /// without ballots.
    package let standingBallot: UInt64

    /// An answer with these counts.
    package init(
        id: UInt64 = 0,
        postID: UInt64 = 0,
        score: Int64 = 0,
        upvoteCount: UInt64 = 0,
        downvoteCount: UInt64 = 0,
        standingBallot: UInt64 = 0
    ) {
        self.id = id
        self.postID = postID
        self.score = score
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.standingBallot = standingBallot
    }
}

extension VoteAnswer {
    /// Reads the frame at `offset` if all of it is there and it is a plain answer to a vote; moves the
    /// offset behind it, where it is one.
    @inline(__always)
    package init?(scanning bytes: RawSpan, at offset: inout Int) {
        let start = offset &+ FrameHeader.byteCount
        guard start < bytes.byteCount else { return nil }
        let length = UInt32(
            bigEndian: unsafe bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset,
                as: UInt32.self
            )
        )
        guard bytes.byteCount &- start >= Int(length) else { return nil }
        let end = start &+ Int(length)
        self.init(scanning: bytes, in: start..<end)
        offset = end
    }

    /// Reads the frame body in `range` if it is a plain answer to a vote.
    ///
    /// A plain answer is what every encoder writes: the id, the revision, then the vote with its
    /// fields in order. nil says nothing else about the frame: `MessageDecoder` must read it.
    @inline(__always)
    package init?(scanning bytes: RawSpan, in range: Range<Int>) {
        precondition(range.upperBound <= bytes.byteCount, "The frame lies within the bytes.")
        var offset = range.lowerBound
        let end = range.upperBound
        guard bytes.take(0x08, &offset, end), let id = bytes.takeVarint(&offset, end) else {
            return nil
        }
        if bytes.take(0x10, &offset, end), !bytes.skipVarint(&offset, end) { return nil }
        guard bytes.take(0xC2, &offset, end), bytes.take(0x02, &offset, end),
            let length = bytes.takeVarint(&offset, end), offset <= end,
            length == UInt64(end &- offset)
        else { return nil }
        self.init(scanning: bytes, at: &offset, end: end, id: id)
    }

    /// Reads the counts after a vote between `offset` and `end`; moves the offset behind them.
    @inline(__always)
    init?(scanning bytes: RawSpan, at offset: inout Int, end: Int, id: UInt64) {
        guard bytes.take(0x08, &offset, end), let postID = bytes.takeVarint(&offset, end) else {
            return nil
        }
        var score: UInt64 = 0
        if bytes.take(0x10, &offset, end) {
            guard let found = bytes.takeVarint(&offset, end) else { return nil }
            score = found
        }
        var upvoteCount: UInt64 = 0
        if bytes.take(0x18, &offset, end) {
            guard let found = bytes.takeVarint(&offset, end) else { return nil }
            upvoteCount = found
        }
        var rest: (downvoteCount: UInt64, standingBallot: UInt64) = (0, 0)
        if offset != end {
            guard let found = Self.rest(bytes, offset, end) else { return nil }
            rest = found
            offset = end
        }
        self.init(
            id: id,
            postID: postID,
            score: Int64(bitPattern: score),
            upvoteCount: upvoteCount,
            downvoteCount: rest.downvoteCount,
            standingBallot: rest.standingBallot
        )
    }

    /// Reads what an answer has after its upvotes, where there were votes down or the post's feed takes
    /// ballots.
    @inline(never)
    private static func rest(
        _ bytes: RawSpan,
        _ start: Int,
        _ end: Int
    ) -> (downvoteCount: UInt64, standingBallot: UInt64)? {
        var offset = start
        var downvoteCount: UInt64 = 0
        if bytes.take(0x20, &offset, end) {
            guard let found = bytes.takeVarint(&offset, end) else { return nil }
            downvoteCount = found
        }
        var standingBallot: UInt64 = 0
        if bytes.take(0x28, &offset, end) {
            guard let found = bytes.takeVarint(&offset, end) else { return nil }
            standingBallot = found
        }
        return offset == end ? (downvoteCount, standingBallot) : nil
    }
}

extension RawSpan {
    @inline(__always)
    func take(_ byte: UInt8, _ offset: inout Int, _ end: Int) -> Bool {
        guard offset < end,
            unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self) == byte
        else { return false }
        offset &+= 1
        return true
    }

    /// Reads a number: most have one byte to three, and are not the last bytes of the span.
    ///
    /// A number that is cut off by `end` may be read beyond it, within the span, so that the offset is
    /// beyond it then: a caller checks the end once, behind the last number.
    @inline(__always)
    func takeVarint(_ offset: inout Int, _ end: Int) -> UInt64? {
        guard let (value, next) = varint(offset, end) else { return nil }
        offset = next
        return value
    }

    @inline(__always)
    private func varint(_ offset: Int, _ end: Int) -> (value: UInt64, next: Int)? {
        guard byteCount &- offset >= 3 else { return longVarint(offset, end) }
        let first = byte(offset)
        if first < 0x80 { return (first, offset &+ 1) }
        let second = byte(offset &+ 1)
        let two = first &- 0x80 &+ second << 7
        if second < 0x80 { return (two, offset &+ 2) }
        let third = byte(offset &+ 2)
        if third < 0x80 { return (two &- 0x4000 &+ third << 14, offset &+ 3) }
        return longVarint(offset, end)
    }

    /// The most bytes of a number of 64 bits.
    private static var longestVarint: Int { 10 }

    /// Passes a number.
    @inline(__always)
    func skipVarint(_ offset: inout Int, _ end: Int) -> Bool {
        let last = min(end, offset &+ Self.longestVarint)
        var next = offset
        while next < last, byte(next) >= 0x80 { next &+= 1 }
        offset = next &+ 1
        return next < last
    }

    @inline(__always)
    private func byte(_ offset: Int) -> UInt64 {
        UInt64(unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self))
    }

    @inline(never)
    private func longVarint(_ offset: Int, _ end: Int) -> (value: UInt64, next: Int)? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        var next = offset
        while next < end && shift < 64 {
            let byte = byte(next)
            next &+= 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80 { return (value, next) }
            shift &+= 7
        }
        return nil
    }
}

/// The answer to a batch whose votes were all counted, read from the bytes of its frame without
/// decoding a message.
package struct VoteBatchAnswer: ~Copyable {
    /// The request.
    package private(set) var id: UInt64 = 0
    /// Places for the counts after each vote; the first `count` are in use.
    package private(set) var votes = [VoteAnswer](repeating: VoteAnswer(), count: 256)
    /// The number of results.
    package private(set) var count = 0

    /// No answer.
    package init() {}

    /// Reads the frame body in `range` if it is a plain answer to a batch in which no vote failed.
    ///
    /// A plain answer is what every encoder writes: the id, the revision, then the results in
    /// order. Where the result is false, `MessageDecoder` must read the frame, and this answer
    /// means nothing. O(votes).
    package mutating func scan(_ bytes: RawSpan, in range: Range<Int>) -> Bool {
        precondition(range.upperBound <= bytes.byteCount, "The frame lies within the bytes.")
        var offset = range.lowerBound
        let end = range.upperBound
        guard bytes.take(0x08, &offset, end), let id = bytes.takeVarint(&offset, end) else {
            return false
        }
        if bytes.take(0x10, &offset, end), !bytes.skipVarint(&offset, end) { return false }
        guard bytes.take(0xCA, &offset, end), bytes.take(0x02, &offset, end),
            let length = bytes.takeVarint(&offset, end), offset <= end,
            length == UInt64(end &- offset)
        else { return false }
        self.id = id
        count = 0
        while offset < end {
            guard count < votes.count, bytes.take(0x0A, &offset, end),
                let resultLength = bytes.takeVarint(&offset, end),
                offset <= end, resultLength <= UInt64(end &- offset)
            else { return false }
            let resultEnd = offset &+ Int(resultLength)
            guard bytes.take(0x12, &offset, resultEnd),
                let voteLength = bytes.takeVarint(&offset, resultEnd),
                offset <= resultEnd, voteLength == UInt64(resultEnd &- offset),
                let vote = VoteAnswer(scanning: bytes, at: &offset, end: resultEnd, id: id)
            else { return false }
            votes[count] = vote
            count &+= 1
        }
        return count > 0
    }
}

extension Tallied {
    /// The value, in an answer, of the count that its vote belongs to.
    @inline(__always)
    func count(_ answer: VoteAnswer, _ number: UInt32) -> Int64 {
        guard self == .directions else { return answer.score }
        return Int64(
            truncatingIfNeeded: number & 1 == 1 ? answer.downvoteCount : answer.upvoteCount
        )
    }
}
