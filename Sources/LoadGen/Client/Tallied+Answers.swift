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
