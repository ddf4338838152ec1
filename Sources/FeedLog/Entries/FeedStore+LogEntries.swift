package import FeedRanking

extension FeedStore {
    /// Puts a log entry back; O(1) beside the post's texts, save for the order of a new title or
    /// time.
    ///
    /// An entry that is not newer than the store's state changes nothing. The store has no
    /// channels and no accounts, so their entries change nothing either. One thread calls this
    /// before any other uses the store.
    package func apply(_ entry: LogEntry) throws(RecoveryError) {
        switch entry {
        case .counts(let counts): try restore(counts)
        case .ballot(let counts, let voter, let direction):
            try restore(counts, voter, direction)
        case .post(let post): try restore(post)
        case .deletion(let id, let revision): try restore(deletionOf: id, revision: revision)
        case .feed(let feed, let policy): try restore(feed, policy)
        case .voter(let voter, let device): try restore(voter, device)
        case .counters(let lastID, let revision): try restore(lastID: lastID, revision: revision)
        case .channel, .outcome: break
        case .account, .session, .sessionEnded, .sessionsEnded: break
        case .userVoter(let voter, let user): try restore(voter, user: user)
        case .marks(let marks): try restore(marks)
        case .markThrough(let mark): try restore(mark)
        }
    }
}
