internal import FeedAccounts
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto

/// How the sessions of users are found, and checked while their connections are open.
extension CallEnvironment {
    /// The session of a token that a Hello has shown; none for an empty token.
    func login(token bytes: [UInt8]) throws(Status) -> Login {
        guard !bytes.isEmpty else { return .none }
        guard let token = SessionToken(bytes: bytes) else { throw .badToken(bytes.count) }
        let count = context.accounts.revocationCount
        let now = context.clock.now()
        guard let session = context.accounts.session(of: token, at: now) else {
            throw .sessionExpired
        }
        return current(renewed(session, at: now), at: now, revocationCount: count)
    }

    /// The login of a session that was found current, which is looked up again after a while.
    func current(_ session: SessionRow, at now: Int64, revocationCount: UInt64) -> Login {
        let quiet = min(context.accounts.quietTime(of: session, at: now), Self.longestQuietTime)
        return .current(
            session,
            revocationCount: revocationCount,
            until: context.now.advanced(by: quiet)
        )
    }

    /// How long a session is not looked up at most; the time of day may be corrected meanwhile.
    private static var longestQuietTime: Duration { .seconds(60) }

    /// Checks the session of an open connection before its requests are executed.
    ///
    /// As long as no session has ended anywhere, that is a comparison of two numbers and of two
    /// instants. No clock is read for it.
    func checkLogin(of caller: inout Caller, at instant: MonotonicInstant) {
        guard case .current(_, let count, let end) = caller.login else { return }
        if context.accounts.revocationCount == count, instant < end { return }
        lookUpLogin(of: &caller)
    }

    /// Looks the session of an open connection up: it may have ended, or a use is to be logged.
    func lookUpLogin(of caller: inout Caller) {
        guard let session = caller.login.session else { return }
        let count = context.accounts.revocationCount
        let now = context.clock.now()
        guard let found = context.accounts.session(session.tokenHash, at: now) else {
            caller.login = .over
            return
        }
        caller.login = current(renewed(found, at: now), at: now, revocationCount: count)
    }

    /// The session, which expires later now where its last logged use is a day ago.
    private func renewed(_ session: SessionRow, at now: Int64) -> SessionRow {
        guard context.accounts.isDue(session, at: now), takesChanges else { return session }
        return changeLog.transaction {
            context.accounts.renew(session, at: now, changeLog) ?? session
        }
    }

    /// Refuses a call of a caller whose session has ended.
    ///
    /// The calls by which a caller becomes another one are let in.
    func requireLoginNotOver(of caller: borrowing Caller, for method: Method) throws(Status) {
        guard caller.login.isOver else { return }
        switch method {
        case .hello, .ping, .signUp, .signIn: return
        default: throw .sessionExpired
        }
    }

    /// The user of the caller's session, as the wire shows users.
    func user(of session: SessionRow) throws(Status) -> User {
        guard let account = context.accounts.account(session.userID) else { throw .sessionExpired }
        return User(account)
    }
}

extension User {
    /// The user of an account.
    init(_ account: AccountRow) {
        self.init(
            id: account.id,
            displayName: account.displayName,
            createTimeMilliseconds: account.createTimeMilliseconds
        )
    }
}
