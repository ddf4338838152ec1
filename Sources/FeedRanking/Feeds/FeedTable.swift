import Synchronization

/// The feeds by name and number; feeds are never removed.
struct FeedTable: ~Copyable, Sendable {
    /// What the lock keeps.
    struct State {
        var policies: [FeedPolicy] = []
        var numbers: [String: FeedID] = [:]
    }

    private let state = Mutex(State())

    /// Adds a feed; O(1).
    func create(_ policy: FeedPolicy, _ log: EffectLog) throws(RankingError) -> FeedID {
        try state.withLock { (state) throws(RankingError) -> FeedID in
            guard state.numbers[policy.name] == nil else { throw .feedExists(name: policy.name) }
            let limit = RankingLimits.maximumFeedCount
            guard state.policies.count < limit else { throw .tooManyFeeds(limit: limit) }
            let id = FeedID(rawValue: UInt32(state.policies.count))
            state.policies.append(policy)
            state.numbers[policy.name] = id
            log.append(id, policy)
            return id
        }
    }

    /// The feed of a name; O(1).
    func feed(named name: String) -> FeedID? {
        state.withLock { $0.numbers[name] }
    }

    /// The rules of a feed; O(1).
    func policy(of feed: FeedID) -> FeedPolicy? {
        state.withLock { state in
            let number = Int(feed.rawValue)
            return number < state.policies.count ? state.policies[number] : nil
        }
    }

    /// All feeds in the order of their creation.
    func policies() -> [FeedPolicy] {
        state.withLock { $0.policies }
    }
}
