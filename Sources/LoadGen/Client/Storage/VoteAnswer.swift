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
        if bytes.take(0x10, &offset, end), bytes.takeVarint(&offset, end) == nil { return nil }
        guard bytes.take(0xC2, &offset, end), bytes.take(0x02, &offset, end),
            let length = bytes.takeVarint(&offset, end), length == UInt64(end &- offset)
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
        var counts: (ups: UInt64, downs: UInt64) = (0, 0)
        if bytes.take(0x18, &offset, end) {
            guard let found = bytes.takeVarint(&offset, end) else { return nil }
            counts.ups = found
        }
        if bytes.take(0x20, &offset, end) {
            guard let found = bytes.takeVarint(&offset, end) else { return nil }
            counts.downs = found
        }
        var standing: UInt64 = 0
        if bytes.take(0x28, &offset, end) {
            guard let found = bytes.takeVarint(&offset, end) else { return nil }
            standing = found
        }
        guard offset == end else { return nil }
        self.init(
            id: id,
            postID: postID,
            score: Int64(bitPattern: score),
            upvoteCount: counts.ups,
            downvoteCount: counts.downs,
            standingBallot: standing
        )
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

    @inline(__always)
    func takeVarint(_ offset: inout Int, _ end: Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < end && shift < 64 {
            let byte = unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
            offset &+= 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
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
        if bytes.take(0x10, &offset, end), bytes.takeVarint(&offset, end) == nil { return false }
        guard bytes.take(0xCA, &offset, end), bytes.take(0x02, &offset, end),
            let length = bytes.takeVarint(&offset, end), length == UInt64(end &- offset)
        else { return false }
        self.id = id
        count = 0
        while offset < end {
            guard count < votes.count, bytes.take(0x0A, &offset, end),
                let resultLength = bytes.takeVarint(&offset, end),
                resultLength <= UInt64(end &- offset)
            else { return false }
            let resultEnd = offset &+ Int(resultLength)
            guard bytes.take(0x12, &offset, resultEnd),
                let voteLength = bytes.takeVarint(&offset, resultEnd),
                voteLength == UInt64(resultEnd &- offset),
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
