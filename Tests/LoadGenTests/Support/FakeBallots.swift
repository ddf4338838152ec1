import FeedProto

/// The ballots of a fake service, one of each user on each post.
struct FakeBallots {
    /// Who sent the call that is executed.
    struct Caller {
        var user: UInt64 = 0
        var channel: FakeChannels.Key?
    }

    private struct Key: Hashable {
        var user: UInt64
        var post: UInt64
    }

    var caller = Caller()
    /// Whether the next answer has another ballot than the caller's.
    var isAnswerWrong = false
    private var standing: [Key: VoteDirection] = [:]
    /// The connections over which each user voted.
    private(set) var channels: [UInt64: Set<FakeChannels.Key>] = [:]

    /// How many ballots stand.
    var count: Int { standing.count }

    /// Why the caller may not vote; nil where it may.
    func refusal(_ faults: FakeFaults) -> Reason? {
        if faults.refusesUsers { return .serviceOnly }
        return caller.user >> 63 == 1 ? nil : .identityRequired
    }

    /// Sets the caller's ballot on a post; a `count` above 1 counts it as often.
    mutating func cast(_ direction: VoteDirection, _ count: Int64, on post: inout Post) {
        let key = Key(user: caller.user, post: post.id)
        if let channel = caller.channel { channels[caller.user, default: []].insert(channel) }
        let next = direction == .clear ? nil : direction
        if let last = standing[key] { post.add(last, -1) }
        if let next { post.add(next, count) }
        standing[key] = next
    }

    /// The caller's ballot in an answer.
    func answer(on post: UInt64) -> VoteDirection {
        let ballot = standing[Key(user: caller.user, post: post)] ?? .unspecified
        guard isAnswerWrong else { return ballot }
        return ballot == .up ? .down : .up
    }

    /// Takes a ballot up away and returns its post; nil where there is none.
    mutating func removeOne() -> UInt64? {
        guard let key = standing.first(where: { $0.value == .up })?.key else { return nil }
        standing[key] = nil
        return key.post
    }
}
