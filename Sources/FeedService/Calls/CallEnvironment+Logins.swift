internal import FeedAccounts
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
        return .current(renewed(session, at: now), revocationCount: count)
    }

    /// Checks the session of an open connection before its requests are executed.
    ///
    /// As long as no session has ended anywhere, that is a comparison of two numbers and of two times.
    func checkLogin(of caller: inout Caller) {
        guard case .current(let session, let count) = caller.login else { return }
        let accounts = context.accounts
        let latest = accounts.revocationCount
        let now = context.clock.now()
        if latest == count, session.expireTimeMilliseconds > now,
            !accounts.isDue(session, at: now)
        {
            return
        }
        guard let current = accounts.session(session.tokenHash, at: now) else {
            caller.login = .over
            return
        }
        caller.login = .current(renewed(current, at: now), revocationCount: latest)
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
