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
