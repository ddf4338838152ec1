internal import FeedAccounts
internal import FeedConcurrency
internal import FeedJournal
internal import FeedRanking
internal import FeedState

/// The state of a service while it follows the leader of a cluster: it takes the records of the log.
///
/// The state's thread calls it, and nobody else.
final class FollowedState: Sendable {
    private let store: FeedStore
    private let accounts: Accounts
    private let channels: ChannelTable
    /// What applies them; nil before the first one.
    private let live = Lock<LiveApply?>(nil)

    init(_ store: FeedStore, _ accounts: Accounts, _ channels: ChannelTable) {
        self.store = store
        self.accounts = accounts
        self.channels = channels
    }

    /// Applies one whole record, which the readers see then.
    func apply(
        _ body: Span<UInt8>,
        at position: JournalPosition,
        _ chain: inout RecordChain
    ) throws(StorageError) {
        try live.withLock { (live) throws(StorageError) in
            if live == nil {
                live = LiveApply(
                    store: store,
                    accounts: accounts,
                    after: chain,
                    channels: { [channels] in channels.restore($0) }
                )
            }
            try live?.apply(body, at: position, &chain)
        }
    }

    /// All records before the service's own are applied: changes may be let in.
    func end() {
        live.withLock { live in
            live?.end()
            live = nil
        }
        channels.beginLeading()
    }
}
