package import FeedAccounts
package import FeedLog

/// Puts accounts and sessions together from the rows of `state.db` and the records after them.
package final class AccountsRecovery {
    private var found = PendingAccounts()
    /// The sessions that have ended in the record that is applied.
    private var ends: [TokenHash] = []

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
            var row = AccountsRow(account: account, generation: generations[account.id] ?? 0)
            hash &+= row.checksum()
        }
        for session in sessions {
            var row = SessionsRow(session: session)
            hash &+= row.checksum()
        }
        return hash
    }
}

/// The newest value of each account and each session that has changed.
///
/// The order of entries does not matter: of several of an account the latest version stands, of several of a
/// session the latest expiry, an end is final, and a generation only rises.
package struct PendingAccounts: Equatable {
    package private(set) var accounts: [UInt64: AccountRow] = [:]
    /// The users that have ended all sessions below a generation.
    package private(set) var generations: [UInt64: UInt64] = [:]
    /// The sessions that were begun or renewed, nil for those that have ended.
    package private(set) var sessions: [TokenHash: SessionRow?] = [:]
    private var textByteCount = 0

    /// Whether an account was deleted, or what it has written was: its texts are to leave the files.
    private(set) var erases = false

    package init() {}

    /// Takes an entry of an account or a session, and nothing of any other; O(1).
    package mutating func add(_ entry: LogEntry) {
        switch entry {
        case .account(let account):
            erases = erases || account.isDeleted
            guard account.version >= accounts[account.id]?.version ?? 0 else { return }
            textByteCount += account.byteCount - (accounts[account.id]?.byteCount ?? 0)
            accounts[account.id] = account
        case .session(let session): add(session)
        case .sessionEnded(let hash): sessions[hash] = .some(nil)
        case .sessionsEnded(let user, let generation):
            generations[user] = max(generations[user] ?? 0, generation)
        default: break
        }
    }

    private mutating func add(_ session: SessionRow) {
        if let known = sessions[session.tokenHash] {
            guard let known,
                known.expireTimeMilliseconds < session.expireTimeMilliseconds
            else { return }
        }
        sessions[session.tokenHash] = session
    }

    /// Gives all to accounts that other threads read, and forgets it.
    ///
    /// These are all entries of a record, whose order does not matter.
    mutating func move(to live: Accounts) throws(AccountError) {
        guard count > 0 else { return }
        try live.restore(accounts.values)
        for (user, generation) in generations {
            live.restore(endOfSessionsOf: user, generation: generation)
        }
        for (hash, session) in sessions where session == nil { live.restore(endOf: hash) }
        for case let session? in sessions.values { try live.restore(session) }
        self = PendingAccounts()
    }

    /// Forgets that a session has ended, once no further entry can name it.
    mutating func forgetEnd(of session: TokenHash) {
        sessions[session] = nil
    }

    var byteCount: Int {
        textByteCount + accounts.capacity * (MemoryLayout<AccountRow>.stride + 9)
            + generations.capacity * 17
            + sessions.capacity * (MemoryLayout<SessionRow?>.stride + TokenHash.byteCount + 1)
    }

    var count: Int { accounts.count + generations.count + sessions.count }
}

extension AccountRow {
    fileprivate var byteCount: Int {
        email.utf8.count + displayName.utf8.count + passwordHash.utf8.count
    }
}
