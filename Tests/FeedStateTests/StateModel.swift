import FeedAccounts
import FeedJournal
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
        case .evictedChannel(let number):
            channels[number] = nil
            outcomes[number] = nil
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

    init(_ database: StateDatabase) throws {
        var model = StateModel()
        try database.visit(
            { (entry) throws(StorageError) in model.apply(entry) },
            { channel, outcomes in
                model.channels[channel.number] = channel
                for outcome in outcomes { model.apply(.outcome(outcome)) }
            },
            { _, _ in }
        )
        self = model
    }

    private init() {}
}

/// The users that vote, the accounts with their sessions, and the marks, in dictionaries.
struct ViewerModel: Equatable {
    struct MarkKey: Hashable {
        var viewer: UInt32
        /// The post, or what tells marks through posts from one another.
        var numbers: [UInt64]
    }

    var users: [UInt32: UInt64] = [:]
    var accounts: [UInt64: AccountRow] = [:]
    var generations: [UInt64: UInt64] = [:]
    var sessions: [TokenHash: SessionRow] = [:]
    var marks: [MarkKey: PostMarks] = [:]
    var throughs: [MarkKey: MarkThrough] = [:]

    /// Whether a service would log an entry of accounts: its account is there, and its generation is
    /// the account's, or the next one where it ends the sessions; a changed account's version is the next.
    func allows(_ entry: LogEntry) -> Bool {
        switch entry {
        case .session(let session):
            accounts[session.userID] != nil
                && session.generation == generations[session.userID] ?? 0
        case .sessionsEnded(let user, let generation):
            accounts[user] != nil && generation == (generations[user] ?? 0) + 1
        case .account(let account) where account.version > 0:
            accounts[account.id]?.version == account.version - 1
        default: true
        }
    }

    /// Takes a log entry; each is newer than the ones before.
    mutating func apply(_ entry: LogEntry) {
        switch entry {
        case .userVoter(let voter, let user): users[voter.rawValue] = user
        case .account(let account):
            guard account.version >= accounts[account.id]?.version ?? 0 else { return }
            accounts[account.id] = account
        case .session(let session): sessions[session.tokenHash] = session
        case .sessionEnded(let hash): sessions[hash] = nil
        case .sessionsEnded(let user, let generation):
            generations[user] = generation
            sessions = sessions.filter {
                $0.value.userID != user || $0.value.generation >= generation
            }
        case .marks(let news):
            let key = MarkKey(viewer: news.viewer.rawValue, numbers: [news.post.rawValue])
            marks[key] = news.marks.isEmpty ? nil : news
        case .markThrough(let mark):
            let topic: UInt64 = mark.mark == .read || mark.mark == .unread ? 0 : 1
            let feed = mark.feed.map { UInt64($0.rawValue) } ?? .max
            let numbers = [feed, topic, UInt64(mark.place)]
            throughs[MarkKey(viewer: mark.viewer.rawValue, numbers: numbers)] = mark
        default: break
        }
    }
}

extension ViewerModel {
    /// The accounts and sessions, as a start hands them over.
    var accountsState: AccountsState {
        var state = AccountsState()
        state.accounts = Array(accounts.values)
        state.generations = generations
        state.sessions = Array(sessions.values)
        return state
    }
}

extension AccountsState {
    /// Whether both have the same rows, in any order.
    func isAlike(_ other: AccountsState) -> Bool {
        func ordered(_ state: AccountsState) -> AccountsState {
            var state = state
            state.accounts.sort { $0.id < $1.id }
            state.sessions.sort { $0.tokenHash.word0 < $1.tokenHash.word0 }
            return state
        }
        return ordered(self) == ordered(other)
    }
}
