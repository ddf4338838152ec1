import FeedAccounts
import FeedRanking
import FeedSQLite

/// Users that vote, accounts and their sessions.
extension CheckpointWriter {
    /// Writes a voter that is a user.
    func write(_ voter: VoterID, user: UInt64) throws(SQLiteError) {
        let old = try statements.userVoter.sum.number(of: UInt64(voter.rawValue))
        let new = try UserVoterRow.write(voter, user, with: statements.userVoter.upsert)
        replace(.userVoters, old, by: new)
    }

    /// Writes an account that is new or whose sessions have ended, and deletes these sessions.
    func writeAccount(_ id: UInt64, of accounts: PendingAccounts) throws(StateError) {
        let stored = try readAccount(id)
        guard let account = accounts.accounts[id] ?? stored?.account else { return }
        let generation = max(stored?.generation ?? 0, accounts.generations[id] ?? 0)
        try databaseErrors { () throws(SQLiteError) in
            let row = statements.account.upsert
            let new = try AccountsRow.write(account, generation, with: row)
            let byteCount = account.email.utf8.count + account.passwordHash.utf8.count
            replace(.accounts, stored?.sum, by: new, byteCount: byteCount)
            if generation > 0 { try deleteSessions(of: id, below: generation) }
        }
    }

    /// Writes a session, or deletes one that has ended.
    ///
    /// A session of a generation that has ended is deleted with its account's row, so accounts are
    /// written before sessions.
    func write(
        _ hash: TokenHash,
        _ session: SessionRow?,
        of accounts: PendingAccounts
    ) throws(StateError) {
        let stored = try readSession(hash)
        let isVoid = session.map { $0.generation < accounts.generations[$0.userID] ?? 0 } ?? true
        try databaseErrors { () throws(SQLiteError) in
            if !isVoid, let session {
                // An interrupted checkpoint may have written a later expiry.
                if let expiry = stored?.session.expireTimeMilliseconds,
                    expiry > session.expireTimeMilliseconds
                {
                    return
                }
                let new = try SessionsRow.write(session, with: statements.session.upsert)
                replace(.sessions, stored?.sum, by: new, byteCount: TokenHash.byteCount)
            } else if let stored {
                let row = statements.session.delete
                try row.bind(hash.bytes, at: 1)
                try row.run()
                replace(.sessions, stored.sum, by: nil)
            }
        }
    }

    private func deleteSessions(of user: UInt64, below generation: UInt64) throws(SQLiteError) {
        let sums = statements.sessionsBelow.sums
        try sums.bind(user, at: 1)
        try sums.bind(generation, at: 2)
        while try sums.step() { replace(.sessions, sums.uint64(0), by: nil) }
        let row = statements.sessionsBelow.delete
        try row.bind(user, at: 1)
        try row.bind(generation, at: 2)
        try row.run()
    }

    private func readAccount(
        _ id: UInt64
    ) throws(StateError) -> (account: AccountRow, generation: UInt64, sum: UInt64)? {
        let row = statements.account.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(id, at: 1)
            return try row.step()
        }
        return found ? try AccountsRow.read(row) : nil
    }

    private func readSession(
        _ hash: TokenHash
    ) throws(StateError) -> (session: SessionRow, sum: UInt64)? {
        let row = statements.session.one
        defer { row.reset() }
        let found = try databaseErrors { () throws(SQLiteError) in
            try row.bind(hash.bytes, at: 1)
            return try row.step()
        }
        guard found else { return nil }
        let (session, sum) = try SessionsRow.read(row)
        return (session, sum)
    }
}
