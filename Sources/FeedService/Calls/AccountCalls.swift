internal import FeedAccounts
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// The calls about accounts and sessions.
///
/// SignUp and SignIn are answered later, as their passwords are hashed on another thread: the handler
/// checks the request (``signUp(_:id:timeout:from:)``), the loop has the password hashed, and the
/// handler ends the call with the outcome (``finish(_:_:for:)``).
struct AccountCalls {
    /// The shared parts of all calls of the loop.
    let environment: CallEnvironment

    private var accounts: Accounts { environment.context.accounts }
    private var limits: ServiceLimits { environment.context.limits }

    /// Checks the request of a new account.
    func signUp(
        _ request: SignUpRequest,
        id: UInt64,
        timeout: Duration,
        from caller: borrowing Caller
    ) throws(Status) -> SignIn {
        if !request.displayName.isEmpty {
            try environment.rules.checkDisplayName(request.displayName)
        }
        let signIn = try admit(
            email: request.email,
            password: request.password,
            goal: .signUp(displayName: request.displayName),
            id: id,
            timeout: timeout,
            from: caller
        )
        // The attempt stays a failure: a caller that asks for many e-mails is slowed.
        guard signIn.account == nil else { throw .emailTaken }
        return signIn
    }

    /// Checks the request to sign in.
    func signIn(
        _ request: SignInRequest,
        id: UInt64,
        timeout: Duration,
        from caller: borrowing Caller
    ) throws(Status) -> SignIn {
        try admit(
            email: request.email,
            password: request.password,
            goal: request.createsIfMissing ? .signInOrUp : .signIn,
            id: id,
            timeout: timeout,
            from: caller
        )
    }

    /// The session of the connection, which was renewed if its last logged use is a day ago.
    func getSession(from caller: inout Caller) throws(Status) -> Answer {
        environment.lookUpLogin(of: &caller)
        guard !caller.login.isOver else { throw .sessionExpired }
        guard let session = caller.login.session else { throw .sessionRequired }
        let answer = UserSession(
            user: try environment.user(of: session),
            expireTimeMilliseconds: session.expireTimeMilliseconds
        )
        return .response(.session(answer), revision: environment.store.revision)
    }

    /// Ends the session of the connection, or all sessions of its user.
    func signOut(_ request: SignOutRequest, from caller: inout Caller) throws(Status) -> Answer {
        guard let session = caller.login.session else { throw .sessionRequired }
        try environment.admitChange()
        environment.changeLog.transaction {
            if request.endsEverywhere {
                accounts.endAllSessions(of: session.userID, environment.changeLog)
            } else {
                accounts.end(session.tokenHash, environment.changeLog)
            }
        }
        caller.login = .none
        return .response(.empty, revision: environment.store.revision)
    }

    /// Checks the rules and limits of a sign-in before its password is hashed.
    private func admit(
        email: String,
        password: SecretText,
        goal: SignIn.Goal,
        id: UInt64,
        timeout: Duration,
        from caller: borrowing Caller
    ) throws(Status) -> SignIn {
        try environment.admitChange()
        guard let address = EmailAddress(email) else { throw .badEmail(email.utf8.count) }
        try environment.rules.checkPassword(password)
        let account = accounts.account(for: address)
        let attempt = try admitAttempt(
            address,
            mayCreate: account == nil && goal.mayCreate,
            from: caller
        )
        return SignIn(
            requestID: id,
            goal: goal,
            email: address,
            password: Secret(copying: password.utf8),
            account: account,
            peer: caller.peer,
            attempt: attempt,
            timeout: timeout,
            deadline: MonotonicInstant.now.advanced(by: timeout)
        )
    }

    /// Counts an attempt for the limits of its e-mail and of the caller's host.
    private func admitAttempt(
        _ email: EmailAddress,
        mayCreate: Bool,
        from caller: borrowing Caller
    ) throws(Status) -> SignInLimits<ClientIdentity>.Attempt {
        let peer = caller.isService ? nil : caller.peer
        let limits = accounts.limits
        switch environment.context.signInLimits.begin(email, from: peer, mayCreate: mayCreate) {
        case .allowed(let attempt): return attempt
        case .wait(let wait):
            throw .tooManyFailures(limit: limits.failuresPerWindow, wait: wait)
        case .waitToCreate(let wait):
            throw .tooManyCreations(limit: limits.creationsPerWindow, wait: wait)
        }
    }
}
