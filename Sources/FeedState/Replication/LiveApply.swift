package import FeedAccounts
package import FeedJournal
package import FeedLog
package import FeedRanking

/// Applies the records of a leader's log to the state of a follower, whose readers use it meanwhile.
///
/// One thread applies whole records in their order, as `Replay` does at a start. Within a record the entries
/// come in the order of their revisions, over the logs of all loops: each stripe has the leader's changes in
/// the leader's order. A reader may see a part of a record; the revision that it is shown has none of it
/// (`FollowedLog`).
///
/// The outcomes of a record come last, and then the channels that it evicts: the outcome of a call that
/// changed nothing has no revision, and may stand before its channel. Accounts and sessions come to their
/// last values of the record, in any order. So of a record these are held, beside a few entries: some ten
/// times its bytes, of which there are 8 MiB at most.
package struct LiveApply {
    /// The entries whose posts' memory is asked for together.
    private static let groupCount = 64
    /// The entries after which a due stripe is refreshed within a record.
    private static let refreshInterval = 1_024
    /// The outcomes whose memory is kept for the next record.
    private static let keptOutcomeCount = 4_096

    private let store: FeedStore
    private let accounts: Accounts
    private let channels: (LogEntry) -> Void
    private var group: [LogEntry] = []
    private var outcomes: [ChannelOutcome] = []
    private var evictions: [LogEntry] = []
    private var pendingAccounts = PendingAccounts()
    private var appliedCount = 0
    private var nextStripe = 0

    /// Follows the log from behind the records that a start has put into the store, accounts and channels.
    ///
    /// The chain is that up to the last of them; its time bounds those of posts to come. `channels` takes
    /// a channel, then its outcomes, then its eviction.
    package init(
        store: FeedStore,
        accounts: Accounts,
        after chain: RecordChain,
        channels: @escaping (LogEntry) -> Void
    ) {
        self.store = store
        self.accounts = accounts
        self.channels = channels
        group.reserveCapacity(Self.groupCount)
        store.beginFollowing(at: Self.milliseconds(chain))
    }

    /// Applies a whole record, which may be without bytes, then shows its revision to readers; O(entries).
    ///
    /// Where this throws, the state is of no use.
    package mutating func apply(
        _ body: Span<UInt8>,
        at position: JournalPosition,
        _ chain: inout RecordChain
    ) throws(StorageError) {
        let number = position.number
        let head = try headErrors { () throws(RecordHeadError) in
            try chain.take(body, record: number)
        }
        let record = RecordEntries(of: number, head)
        _ = try record.read(body) { (entry) throws(StorageError) in
            try take(entry, of: number)
            return true
        }
        try applyGroup(of: number)
        do throws(AccountError) {
            try pendingAccounts.move(to: accounts)
        } catch {
            throw .brokenRecord(number, reason: "applied: \(error)")
        }
        for outcome in outcomes { channels(.outcome(outcome)) }
        outcomes.removeAll(keepingCapacity: outcomes.count <= Self.keptOutcomeCount)
        for eviction in evictions { channels(eviction) }
        evictions.removeAll()
        store.showRecord(at: Self.milliseconds(chain))
        store.refreshDueStripe(from: &nextStripe)
    }

    /// Lets the store take changes of its own: it has all records of the log.
    package consuming func end() { store.endFollowing() }

    private mutating func take(_ entry: LogEntry, of number: UInt64) throws(StorageError) {
        switch entry {
        case .channel: channels(entry)
        case .outcome(let outcome): outcomes.append(outcome)
        case .evictedChannel: evictions.append(entry)
        case .account, .session, .sessionEnded, .sessionsEnded: pendingAccounts.add(entry)
        case .counts(let counts):
            store.prefetch(counts.id)
            group.append(entry)
        case .ballot(let counts, let voter, _):
            store.prefetch(counts.id)
            store.prefetchBallot(of: voter, on: counts.id)
            group.append(entry)
        case .post, .deletion, .feed, .voter, .userVoter, .marks, .markThrough, .counters:
            group.append(entry)
        }
        if group.count == Self.groupCount { try applyGroup(of: number) }
    }

    private mutating func applyGroup(of number: UInt64) throws(StorageError) {
        do throws(RecoveryError) {
            for entry in group { try store.apply(entry) }
        } catch {
            throw .brokenRecord(number, reason: "applied: \(error)")
        }
        appliedCount += group.count
        group.removeAll(keepingCapacity: true)
        guard appliedCount >= Self.refreshInterval else { return }
        appliedCount = 0
        store.refreshDueStripe(from: &nextStripe)
    }

    private static func milliseconds(_ chain: RecordChain) -> Int64 {
        Int64(clamping: chain.microseconds / 1_000)
    }
}
