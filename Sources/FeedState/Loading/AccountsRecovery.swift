package import FeedAccounts
package import FeedLog

/// Puts accounts and sessions together from the rows of `state.db` and the records after them.
package final class AccountsRecovery {
    private var found = PendingAccounts()
    /// The sessions that have ended in the record that is applied.
    private var ends: [TokenHash] = []

    /// No accounts yet.
    package init() {}

    /// Takes an entry of an account or a session, and nothing of any other; O(1).
    package func apply(_ entry: LogEntry) {
        if case .sessionEnded(let session) = entry { ends.append(session) }
        found.add(entry)
    }

    /// Learns that all log entries of a record were taken.
    ///
    /// A session that has ended is named by no later record, so its end need not be kept.
    package func endRecord() {
        for session in ends { found.forgetEnd(of: session) }
        ends.removeAll(keepingCapacity: true)
    }

    /// What the entries came to, without the sessions that have ended.
    package var state: AccountsState {
        var state = AccountsState()
        state.accounts = Array(found.accounts.values)
        state.generations = found.generations
        state.sessions = found.sessions.values.compactMap { session in
            session.flatMap { $0.generation < found.generations[$0.userID] ?? 0 ? nil : $0 }
        }
        return state
    }
}

extension AccountsState {
    /// A hash of all accounts and sessions; 0 where there are none.
    ///
    /// The hashes of the rows are added up, so their order does not matter. O(rows).
    package var stateHash: UInt64 {
        var hash: UInt64 = 0
        for account in accounts {
            hash &+= AccountsRow.sum(account, generations[account.id] ?? 0)
        }
        for session in sessions { hash &+= SessionsRow.sum(session) }
        return hash
    }
}

@available(*, unavailable)
extension AccountsRecovery: Sendable {}
