import FeedConcurrency

/// The feeds by name and number; feeds are never removed.
struct FeedTable: ~Copyable, Sendable {
    /// The feeds that every store makes for itself.
    static let builtIn = [FeedPolicy.posts, .tweets]

    struct State {
        var policies: [FeedPolicy] = []
        var numbers: [String: FeedID] = [:]
        /// Feeds of an earlier run that came before one of a lower number.
        var early: [UInt32: FeedPolicy] = [:]

        /// Adds a feed whose name is free, or its own already.
        mutating func append(_ policy: FeedPolicy) -> FeedID {
            let id = FeedID(rawValue: UInt32(policies.count))
            policies.append(policy)
            numbers[policy.name] = id
            return id
        }
    }

    private let state = Lock(State())

    /// Adds a feed; O(1).
    func create(_ policy: FeedPolicy, _ sink: some ChangeSink) throws(RankingError) -> FeedID {
        try state.withLock { (state) throws(RankingError) -> FeedID in
            guard state.numbers[policy.name] == nil else { throw .feedExists(name: policy.name) }
            let limit = RankingLimits.maximumFeedCount
            guard state.policies.count < limit else { throw .tooManyFeeds(limit: limit) }
            let id = state.append(policy)
            sink.append(id, policy)
            return id
        }
    }

    /// Puts a feed of an earlier run back, also in the place of a built-in one; O(1).
    ///
    /// The feeds of two loops may come in another order than they were made in; one is there once
    /// all before it are.
    func restore(_ feed: FeedID, _ policy: FeedPolicy) throws(RecoveryError) {
        try state.withLock { (state) throws(RecoveryError) -> Void in
            let number = Int(feed.rawValue)
            guard number < RankingLimits.maximumFeedCount,
                state.numbers[policy.name] ?? feed == feed,
                state.early[feed.rawValue] ?? policy == policy
            else { throw .badFeedDefinition(feed) }
            if number < state.policies.count {
                let isSame = state.policies[number] == policy
                guard isSame || number < Self.builtIn.count else { throw .badFeedDefinition(feed) }
                state.numbers[state.policies[number].name] = nil
                state.policies[number] = policy
            } else {
                state.early[feed.rawValue] = policy
            }
            state.numbers[policy.name] = feed
            while let next = state.early.removeValue(forKey: UInt32(state.policies.count)) {
                _ = state.append(next)
            }
        }
    }

    func feed(named name: String) -> FeedID? { state.withLock { $0.numbers[name] } }

    /// The rules of a feed; O(1).
    func policy(of feed: FeedID) -> FeedPolicy? {
        state.withLock { state in
            let number = Int(feed.rawValue)
            return number < state.policies.count ? state.policies[number] : nil
        }
    }

    /// All feeds in the order of their creation.
    func policies() -> [FeedPolicy] { state.withLock { $0.policies } }
}
