internal import FeedConcurrency
internal import Synchronization

/// The accounts of users and their sessions.
///
/// Times are handed in, as Unix milliseconds. Each change goes to an ``AccountChangeSink`` and belongs
/// into a transaction of the log behind it. Threads may call everything at the same time.
package final class Accounts: Sendable {
    /// The limits of accounts and sessions.
    package let limits: AccountLimits
    private let accounts: AccountTable
    private let sessions = SessionTable()
    private let revocations = Atomic<UInt64>(0)
    private let sweptPart = Atomic(0)

    /// No accounts yet.
    package init(_ limits: AccountLimits = AccountLimits()) {
        self.limits = limits
        accounts = AccountTable(maximumCount: limits.maximumAccountCount)
    }

    /// The number of accounts.
    package var accountCount: Int { accounts.count }

    /// The number of sessions; some may have expired.
    package var sessionCount: Int { sessions.count }

    /// Whether another session may begin.
    ///
    /// Threads that ask at the same moment may each begin one.
    package var hasRoomForSession: Bool { sessions.count < limits.maximumSessionCount }

    /// A number that rises with each end of sessions.
    ///
    /// As long as it stays, a session that was current ends by its time only.
    package var revocationCount: UInt64 { revocations.load(ordering: .acquiring) }

    /// The account with an e-mail; nil if there is none.
    package func account(for email: EmailAddress) -> AccountRow? {
        accounts.id(for: email).flatMap { accounts.row($0) }
    }

    /// The account of a user; nil if there is none.
    package func account(_ id: UInt64) -> AccountRow? { accounts.row(id) }

    /// Creates an account unless there is one with the e-mail.
    package func create(
        _ email: EmailAddress,
        displayName: String,
        passwordHash: String,
        at now: Int64,
        _ sink: some AccountChangeSink
    ) throws(AccountError) -> AccountRow {
        try accounts.create(
            email,
            displayName: displayName,
            passwordHash: passwordHash,
            at: now,
            sink
        )
    }

    /// Begins a session of a user, whose token is known here only now; nil if there is no such user.
    ///
    /// Where the user has as many as the limit, the oldest one ends.
    package func beginSession(
        of userID: UInt64,
        at now: Int64,
        _ sink: some AccountChangeSink
    ) -> (token: SessionToken, session: SessionRow)? {
        while true {
            let token = SessionToken()
            let hash = token.hash
            let limit = limits.maximumSessionsPerUser
            guard
                let (generation, excess) = accounts.addSession(hash, of: userID, limit: limit)
            else { return nil }
            let session = SessionRow(
                tokenHash: hash,
                userID: userID,
                expireTimeMilliseconds: expireTime(now),
                generation: generation
            )
            let isNew = sessions.insert(session, sink)
            if let excess { end(excess, sink) }
            if isNew { return (token, session) }
            accounts.removeSession(hash, of: userID)
        }
    }

    /// The session of a token; nil if there is none, or it has expired or was ended.
    package func session(of token: SessionToken, at now: Int64) -> SessionRow? {
        session(token.hash, at: now)
    }

    /// The session of a token's hash; nil if there is none, or it has expired or was ended.
    package func session(_ hash: TokenHash, at now: Int64) -> SessionRow? {
        guard let row = sessions.row(hash), row.expireTimeMilliseconds > now,
            let generation = accounts.generation(of: row.userID), row.generation >= generation
        else { return nil }
        return row
    }

    /// Whether a use of the session is to be logged by ``renew(_:at:_:)``: the last one is a while ago.
    package func isDue(_ session: SessionRow, at now: Int64) -> Bool {
        let renewed = limits.renewalInterval.millisecondsRoundedDown
        return expireTime(now) - session.expireTimeMilliseconds >= renewed
    }

    /// How long a session needs no further look: it expires after that, or a use is to be logged.
    ///
    /// The time until a use is to be logged does not count where that is so already.
    package func quietTime(of session: SessionRow, at now: Int64) -> Duration {
        let lifetime = max(session.expireTimeMilliseconds - now, 0)
        guard !isDue(session, at: now) else { return .milliseconds(lifetime) }
        let used = expireTime(now) - session.expireTimeMilliseconds
        let undue = limits.renewalInterval.millisecondsRoundedDown - used
        return .milliseconds(min(lifetime, undue))
    }

    /// Lets a used session last for the whole duration from now; nil if it has ended.
    package func renew(
        _ session: SessionRow,
        at now: Int64,
        _ sink: some AccountChangeSink
    ) -> SessionRow? {
        sessions.renew(session.tokenHash, until: expireTime(now), sink)
    }

    /// Ends one session; without effect if it has ended.
    package func end(_ session: TokenHash, _ sink: some AccountChangeSink) {
        guard let row = sessions.remove(session, sink) else { return }
        accounts.removeSession(session, of: row.userID)
        revocations.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// Ends all sessions of a user, those too that begin at this moment.
    package func endAllSessions(of userID: UInt64, _ sink: some AccountChangeSink) {
        for hash in accounts.endGeneration(of: userID, sink) { _ = sessions.remove(hash, sink) }
        revocations.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// Looks at so many sessions of one part of the table, the next one with each call, and forgets those
    /// that have expired; O(limit).
    ///
    /// - Returns: The number of the sessions that were forgotten.
    package func sweep(at now: Int64, limit: Int, _ sink: some AccountChangeSink) -> Int {
        let part = sweptPart.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max
        let expired = sessions.removeExpired(inPart: part, at: now, lookingAt: limit, sink)
        for row in expired { accounts.removeSession(row.tokenHash, of: row.userID) }
        return expired.count
    }

    private func expireTime(_ now: Int64) -> Int64 {
        now + limits.sessionDuration.millisecondsRoundedDown
    }
}

extension Accounts {
    /// Puts the accounts and sessions of an earlier run back, before any other call.
    package func restore(_ state: AccountsState) throws(AccountError) {
        for row in state.accounts {
            try accounts.restore(row, generation: state.generations[row.id] ?? 0)
        }
        // The oldest session of a user is the one that expires first.
        let rows = state.sessions.sorted {
            $0.expireTimeMilliseconds < $1.expireTimeMilliseconds
        }
        for row in rows {
            guard let generation = accounts.generation(of: row.userID),
                row.generation >= generation
            else { continue }
            guard sessions.insert(row, NoAccountChanges()) else {
                throw .badSession(userID: row.userID)
            }
            _ = accounts.addSession(row.tokenHash, of: row.userID, limit: .max)
        }
    }

    /// Gives no account this number or one below it, before any other call but `restore`.
    package func skipNumbers(upTo id: UInt64) { accounts.skipNumbers(upTo: id) }

    /// All accounts and sessions; O(both), for tests.
    package func state() -> AccountsState {
        var state = AccountsState()
        accounts.visit { entry in
            state.accounts.append(entry.row)
            if entry.generation > 0 { state.generations[entry.row.id] = entry.generation }
        }
        sessions.visit { state.sessions.append($0) }
        return state
    }
}
