import FeedProto
import FeedTestSupport

extension VoteFrame {
    /// A vote that every encoder writes with all its fields; numbers are of every length.
    static func random(using random: inout SeededGenerator) -> VoteFrame {
        VoteFrame(
            id: max(1, .anyWidth(using: &random)),
            vote: CastVoteRequest(
                postID: max(1, .anyWidth(using: &random)),
                direction: VoteDirection(rawValue: .random(in: 1...3, using: &random))
            ),
            timeoutMilliseconds: UInt32(truncatingIfNeeded: UInt64.anyWidth(using: &random)),
            sequence: .anyWidth(using: &random),
            minimumRevision: .anyWidth(using: &random),
            actingUserID: random.oneIn(2) ? 0 : .anyWidth(using: &random)
        )
    }
}
