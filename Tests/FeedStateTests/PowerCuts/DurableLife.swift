import FeedAccounts
import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport

/// One life of a service without its threads and connections: what it recovered, and its calls.
struct DurableLife: ~Copyable {
    let store: FeedStore
    let channels: ChannelTable
    let accounts: AccountsState
    var state: RecoveredState
    var fault = StatePowerCutRun.Fault.none

    /// Starts on what the disk has; the disk dies before the life ends, as a process
    /// that dies closes nothing.
    init(
        _ disk: FakeDisk,
        _ journal: JournalConfiguration,
        clock: Locked<Int64>
    ) throws(StateStartError) {
        let store = FeedStore(stripeCount: 4) { clock.withLock { $0 } }
        let channels = ChannelTable()
        var accounts = AccountsState()
        state = try RecoveredState(
            Self.directory(disk, journal),
            into: store,
            channels: { channels.restore($0) },
            accounts: { accounts = $0 }
        )
        self.accounts = accounts
        self.store = store
        self.channels = channels
    }

    /// The hash of what the start has found, as a verification of the directory has it.
    var stateHash: UInt64 { store.stateHash() &+ accounts.stateHash }

    static func directory(_ disk: FakeDisk, _ journal: JournalConfiguration) -> StateDirectory {
        var options = StateOptions(path: ".", logCount: 2)
        options.journal = journal
        options.servesCluster = true
        return StateDirectory(options, disk, vfs: disk.databaseDiskName)
    }

    /// Takes the open commit batch and appends it, with a head in a cluster's directory; nil where nothing
    /// was logged.
    mutating func append() throws -> (body: [UInt8], position: JournalPosition)? {
        var body: [UInt8] = []
        let chain = state.checkpointWork.chain
        guard let batch = state.logs.takeBatch(into: &body, after: chain.headByteCount) else {
            return nil
        }
        let time = state.journal.recordTime(at: 0)
        chain.seal(&body, entryCount: batch.entryCount, at: time)
        let count = UInt32(batch.entryCount)
        return (body, try state.journal.append(body.span, count: count, at: 0))
    }

    /// Executes a command that is no batch, within a transaction; nil where it is refused.
    func execute(_ command: StoreCommand, _ log: ChangeLog) -> Outcome? {
        do throws(RankingError) {
            switch command {
            case .vote(let id, let direction, let key):
                let post = PostID(rawValue: id)
                let voter = try voter(key, direction, on: post, log)
                _ = try store.castVote(post, direction, voter: voter, sink: log)
            case .create(let content, let feed):
                var page = PostPage()
                try store.createPost(content, in: FeedID(rawValue: feed), sink: log, into: &page)
                return .id(page.rows[0].id.rawValue)
            case .update(let id, let changes):
                var page = PostPage()
                try store.updatePost(PostID(rawValue: id), changes, sink: log, into: &page)
            case .delete(let id): try store.deletePost(PostID(rawValue: id), sink: log)
            case .importPosts(let posts, let feed):
                let feed = FeedID(rawValue: feed)
                return .id(try store.importPosts(posts, in: feed, sink: log).firstID.rawValue)
            case .createFeed(let policy): _ = try store.createFeed(policy, sink: log)
            case .correctTimes(let bound, let time):
                let all = Int.max
                _ = store.postsAhead(
                    of: bound,
                    behind: PostID(rawValue: 0),
                    idCount: UInt64(all),
                    postCount: all,
                    correctingTo: time,
                    sink: log
                )
            case .account(let entries): for entry in entries { log.append(entry) }
            case .mark(let ids, let mark, let key):
                let viewer = try number(of: key, log)
                let posts = ids.map { PostID(rawValue: $0) }
                if fault == .forgottenMarks {
                    try store.mark(posts, as: mark, by: viewer)
                } else {
                    try store.mark(posts, as: mark, by: viewer, sink: log)
                }
            case .markThrough(let id, let feed, let mark, let key):
                let viewer = try number(of: key, log)
                let post = PostID(rawValue: id)
                try store.mark(through: post, in: feed, as: mark, by: viewer, sink: log)
            case .batch: preconditionFailure("A batch is executed item by item.")
            }
            return .done
        } catch {
            return nil
        }
    }

    /// Whose ballot a vote sets, where the post keeps ballots.
    private func voter(
        _ key: VoterKey,
        _ direction: VoteDirection,
        on post: PostID,
        _ log: ChangeLog
    ) throws(RankingError) -> VoterID? {
        let feed = try store.feed(of: post)
        switch (store.policy(of: feed)?.voteMode, key) {
        case (.ballot, _): break
        case (.userBallot, .user): return try number(of: key, log)
        default: return nil
        }
        guard direction != .clear else { return store.voter(ifKnown: key) }
        return try number(of: key, log)
    }

    /// The number of a voter, a new one on first sight.
    private func number(of key: VoterKey, _ log: ChangeLog) throws(RankingError) -> VoterID {
        if fault == .forgottenUsers, case .user = key { return try store.voter(for: key) }
        return try store.voter(for: key, sink: log)
    }
}
