import FeedLog
import FeedRanking
import FeedState

/// The sum of log entries, in dictionaries: the model that the database is compared with.
struct StateModel: Equatable {
    var posts: [UInt64: PostState] = [:]
    var ballots: [UInt64: [UInt32: VoteDirection]] = [:]
    var voters: [UInt32: Device16] = [:]
    var viewers = ViewerModel()
    var feeds: [UInt32: FeedPolicy] = [:]
    var channels: [UInt64: ChannelState] = [:]
    var outcomes: [UInt64: [UInt64: ChannelOutcome]] = [:]
    var highestID: UInt64 = 0
    var highestRevision: UInt64 = 0

    /// The state of a new data directory.
    static var new: StateModel {
        var model = StateModel()
        model.feeds = [0: .posts, 1: .tweets]
        return model
    }

    /// Takes a log entry; each is newer than the ones before.
    mutating func apply(_ entry: LogEntry) {
        if let revision = entry.revision { highestRevision = max(highestRevision, revision) }
        switch entry {
        case .counts(let counts): posts[counts.id.rawValue]?.counts = counts
        case .ballot(let counts, let voter, let direction):
            posts[counts.id.rawValue]?.counts = counts
            ballots[counts.id.rawValue, default: [:]][voter.rawValue] = direction
            if ballots[counts.id.rawValue]?.isEmpty == true { ballots[counts.id.rawValue] = nil }
        case .post(let post):
            posts[post.counts.id.rawValue] = post
            highestID = max(highestID, post.counts.id.rawValue)
        case .deletion(let id, _):
            posts[id.rawValue] = nil
            ballots[id.rawValue] = nil
        case .feed(let id, let policy): feeds[id.rawValue] = policy
        case .voter(let voter, let device): voters[voter.rawValue] = device
        case .channel(let state): channels[state.number] = state
        case .outcome(let outcome): apply(outcome)
        case .userVoter, .account, .session, .sessionEnded, .sessionsEnded, .marks, .markThrough:
            viewers.apply(entry)
        case .counters(let id, let revision):
            highestID = max(highestID, id)
            highestRevision = max(highestRevision, revision)
        }
    }

    private mutating func apply(_ outcome: ChannelOutcome) {
        var ring = outcomes[outcome.channel] ?? [:]
        var joined = outcome
        if case .items(let new) = outcome.outcome,
            case .items(let old) = ring[outcome.sequence]?.outcome
        {
            var mask = new
            for item in 0..<256 where old[item] { mask[item] = true }
            joined.outcome = .items(mask)
        }
        ring[outcome.sequence] = joined
        let highest = ring.keys.max() ?? 0
        outcomes[outcome.channel] = ring.filter { $0.key + 256 > highest }
    }

    /// The same without some channels, of which a crash may have kept more or less.
    func without(_ evicted: Set<UInt64>) -> StateModel {
        var rest = self
        for number in evicted {
            rest.channels[number] = nil
            rest.outcomes[number] = nil
        }
        return rest
    }

    /// What a database holds.
    init(_ database: StateDatabase) throws {
        var model = StateModel()
        try database.visit(
            { (entry) throws(StateError) in model.apply(entry) },
            { channel, outcomes in
                model.channels[channel.number] = channel
                for outcome in outcomes { model.apply(.outcome(outcome)) }
            },
            { _ in }
        )
        self = model
    }

    private init() {}
}
