internal import FeedAccounts
internal import FeedLog
internal import FeedRanking
internal import FeedTransport

/// Deletes the posts of deleted accounts, or takes their author off them: some in a step, so that no loop
/// iteration takes long.
///
/// A pass looks at all posts once, for all accounts that were deleted before it. At its end the accounts note
/// that it is done; until then a start, or the next leader of a cluster, begins anew.
final class AccountErasure {
    /// How often a pass goes on.
    private static let interval = Duration.milliseconds(5)

    private let context: ServiceContext
    private let store: FeedStore
    /// The accounts of the pass under way; empty if there is none.
    private var accounts: [UInt64: AccountRow.Erasure] = [:]
    /// The last post that the pass has looked at.
    private var lastID: UInt64 = 0
    private var timer: LoopTimer?

    init(_ context: ServiceContext, of store: FeedStore) {
        self.context = context
        self.store = store
    }

    /// Begins a pass if one is due; to be called now and then, on the loop that makes the changes.
    func goOn(_ loop: EventLoop) {
        guard timer == nil, context.changeRefusal == nil else { return }
        accounts = context.accounts.erasures
        guard !accounts.isEmpty else { return }
        lastID = 0
        // A post of such an author that another loop is about to make is made then, and the next is refused.
        for number in context.counters.indices { context.changeLog(number).transaction {} }
        // Where there is no timer, the next call tries it again.
        timer = try? loop.addTimer(every: Self.interval) { [self] in
            guard step() else { return }
            timer?.cancel()
            timer = nil
        }
    }

    /// Looks at some posts; whether the pass is over, or can do nothing for now.
    private func step() -> Bool {
        let changes = context.changeLog(0)
        // As of a correction of times, whose limits it has.
        let byteCount = context.limits.longestCorrectionByteCount
        guard context.longTransactionRoom.reserve(byteCount) else { return false }
        return changes.transaction {
            defer {
                changes.countWaitingBytes()
                context.longTransactionRoom.release(byteCount)
            }
            guard context.changeRefusal == nil else { return true }
            erasePosts(changes)
            guard lastID >= store.highestID else { return false }
            for account in accounts.keys.prefix(context.limits.maximumDeletedPostCount) {
                context.accounts.endErasure(of: account, changes)
                accounts[account] = nil
            }
            return accounts.isEmpty
        }
    }

    private func erasePosts(_ changes: ChangeLog) {
        let limits = context.limits
        let end = min(store.highestID, lastID + UInt64(limits.correctedIDCount))
        var (count, textByteCount) = (0, 0)
        while lastID < end, count < limits.maximumDeletedPostCount,
            textByteCount < limits.correctedTextByteCount
        {
            lastID += 1
            let id = PostID(rawValue: lastID)
            guard let author = try? store.author(of: id), author != 0,
                let erasure = accounts[author]
            else { continue }
            count += 1
            switch erasure {
            case .posts: _ = try? store.deletePost(id, sink: changes)
            case .author: textByteCount += store.removeAuthor(author, of: id, sink: changes) ?? 0
            }
        }
    }
}
