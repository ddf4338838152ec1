import FeedProto

/// A way in which clients do other than their model records, so that a right service looks wrong.
enum KillFault: CaseIterable, Sendable {
    /// Votes without a sequence are answered and not counted.
    case lost
    /// Votes without a sequence are counted twice.
    case doubled
    /// Calls that are sent again are executed again.
    case forgotten
    /// Votes without a sequence are answered before they are durable.
    case early

    /// The call that a client sends in place of a command; nil where it sends the command.
    func request(insteadOf command: KillCommand, sequence: UInt64) -> Request? {
        guard sequence == 0, case .vote(let vote) = command else { return nil }
        return switch self {
        case .lost: .ping(PingRequest())
        case .doubled: .batchCastVotes(BatchCastVotesRequest(votes: [vote, vote]))
        case .forgotten, .early: nil
        }
    }
}
