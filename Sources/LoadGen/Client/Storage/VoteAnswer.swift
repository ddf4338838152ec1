import FeedProto

/// The answer to a vote, read from the bytes of its frame without decoding a message.
package struct VoteAnswer: Sendable, Equatable {
    package let id: UInt64
    package let postID: UInt64
    package let score: Int64
    package let upvoteCount: UInt64
    package let downvoteCount: UInt64
    /// The voter's ballot now, as its direction on the wire; 0 where none stands, and on a feed
    /// without ballots.
    package let standingBallot: UInt64

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
        let end = start &+ Int(length)
        if bytes.byteCount &- end >= Self.padding {
            self.init(scanning: bytes, start, end, isPadded: true)
        } else {
            guard end <= bytes.byteCount, let answer = Self(scanning: bytes, in: start..<end)
            else { return nil }
            self = answer
        }
        offset = end
    }

    /// Reads the frame body in `range` if it is a plain answer to a vote.
    ///
    /// A plain answer is what every encoder writes: the id, the revision, then the vote with its
    /// fields in order. nil says nothing else about the frame: `MessageDecoder` must read it.
    @inline(never)
    package init?(scanning bytes: RawSpan, in range: Range<Int>) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= bytes.byteCount,
            "The frame lies within the bytes."
        )
        self.init(scanning: bytes, range.lowerBound, range.upperBound, isPadded: false)
    }

    @inline(__always)
    private init?(scanning bytes: RawSpan, _ start: Int, _ end: Int, isPadded: Bool) {
        var offset = start
        guard bytes.take(0x08, &offset, end, isPadded: isPadded),
            let id = bytes.takeVarint(&offset, end, isPadded: isPadded)
        else { return nil }
        if bytes.take(0x10, &offset, end, isPadded: isPadded),
            !bytes.skipVarint(&offset, end, isPadded: isPadded)
        {
            return nil
        }
        guard bytes.take(0xC2, &offset, end, isPadded: isPadded),
            bytes.take(0x02, &offset, end, isPadded: isPadded),
            let length = bytes.takeVarint(&offset, end, isPadded: isPadded),
            offset <= end, length == UInt64(end &- offset)
        else { return nil }
        self.init(scanning: bytes, at: &offset, end: end, id: id, isPadded: isPadded)
    }

    /// Reads the counts after a vote between `offset` and `end`; moves the offset behind them.
    @inline(__always)
    init?(
        scanning bytes: RawSpan,
        at offset: inout Int,
        end: Int,
        id: UInt64,
        isPadded: Bool = false
    ) {
        guard bytes.take(0x08, &offset, end, isPadded: isPadded),
            let postID = bytes.takeVarint(&offset, end, isPadded: isPadded)
        else { return nil }
        var score: UInt64 = 0
        if bytes.take(0x10, &offset, end, isPadded: isPadded) {
            guard let found = bytes.takeVarint(&offset, end, isPadded: isPadded) else { return nil }
            score = found
        }
        var upvoteCount: UInt64 = 0
        if bytes.take(0x18, &offset, end, isPadded: isPadded) {
            guard let found = bytes.takeVarint(&offset, end, isPadded: isPadded) else { return nil }
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

    /// How many bytes of the span behind an answer make it padded.
    ///
    /// A number of more than three bytes, or a skipped one of more than eight, is read up to the end only.
    /// All else is read at most 18 bytes beyond the end before the length of the counts is compared with it,
    /// and 12 bytes after that.
    private static var padding: Int { 32 }

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

// Where the bytes are padded, a step may read what lies behind the end and move the offset beyond it. A
// caller compares the two before it has read as many bytes beyond the end as the padding has.
extension RawSpan {
    @inline(__always)
    func take(_ byte: UInt8, _ offset: inout Int, _ end: Int, isPadded: Bool = false) -> Bool {
        guard isPadded || offset < end, self.byte(offset) == UInt64(byte) else { return false }
        offset &+= 1
        return true
    }

    /// Reads a number: most have one byte to three, and are not the last bytes of the span.
    ///
    /// A number that is cut off by `end` may be read beyond it, within the span, and the offset is beyond
    /// it then.
    @inline(__always)
    func takeVarint(_ offset: inout Int, _ end: Int, isPadded: Bool = false) -> UInt64? {
        guard let (value, next) = varint(offset, end, isPadded) else { return nil }
        offset = next
        return value
    }

    @inline(__always)
    private func varint(
        _ offset: Int,
        _ end: Int,
        _ isPadded: Bool
    ) -> (value: UInt64, next: Int)? {
        guard isPadded || byteCount &- offset >= 3 else { return longVarint(offset, end) }
        let first = byte(offset)
        if first < 0x80 { return (first, offset &+ 1) }
        let second = byte(offset &+ 1)
        let two = first &- 0x80 &+ second << 7
        if second < 0x80 { return (two, offset &+ 2) }
        let third = byte(offset &+ 2)
        if third < 0x80 { return (two &- 0x4000 &+ third << 14, offset &+ 3) }
        return longVarint(offset, end)
    }

    private static var longestVarint: Int { 10 }

    @inline(__always)
    func skipVarint(_ offset: inout Int, _ end: Int, isPadded: Bool = false) -> Bool {
        if isPadded {
            let word = UInt64(
                littleEndian: unsafe unsafeLoadUnaligned(
                    fromUncheckedByteOffset: offset,
                    as: UInt64.self
                )
            )
            // The last byte of a number is the first one without the highest bit.
            let lasts = ~word & 0x8080_8080_8080_8080
            if lasts != 0 {
                offset &+= lasts.trailingZeroBitCount &>> 3 &+ 1
                return true
            }
        }
        return skipLongVarint(&offset, end)
    }

    @inline(never)
    private func skipLongVarint(_ offset: inout Int, _ end: Int) -> Bool {
        let last = Swift.min(end, offset &+ Self.longestVarint)
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

/// The answer to a batch whose votes were all counted, read from the bytes of its frame without
/// decoding a message.
package struct VoteBatchAnswer: ~Copyable {
    package private(set) var id: UInt64 = 0
    /// Places for the counts after each vote; the first `count` are in use.
    package private(set) var votes = [VoteAnswer](repeating: VoteAnswer(), count: 256)
    package private(set) var count = 0

    package init() {}

    /// Reads the frame body in `range` if it is a plain answer to a batch in which no vote failed.
    ///
    /// A plain answer is what every encoder writes: the id, the revision, then the results in
    /// order. Where the result is false, `MessageDecoder` must read the frame, and this answer
    /// means nothing. O(votes).
    package mutating func scan(_ bytes: RawSpan, in range: Range<Int>) -> Bool {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= bytes.byteCount,
            "The frame lies within the bytes."
        )
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
