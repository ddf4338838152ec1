internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// The calls about accounts and sessions.
///
/// SignUp and SignIn are answered later, as their passwords are hashed on another thread: the handler
/// checks the request (``signUp(_:_:from:)``), the loop has the password hashed, and the
/// handler ends the call with the outcome (``finish(_:_:for:)``).
struct AccountCalls {
    let environment: CallEnvironment

    private var accounts: Accounts { environment.context.accounts }

    func signUp(
        _ request: SignUpRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> SignIn {
        if !request.displayName.isEmpty {
            try environment.rules.texts.checkDisplayName(request.displayName)
        }
        let signIn = try admit(
            email: request.email,
            password: request.password,
            goal: .signUp(displayName: request.displayName),
            envelope,
            from: caller
        )
        // The attempt stays a failure: a caller that asks for many e-mails is slowed.
        guard signIn.account == nil else { throw .emailTaken }
        return signIn
    }

    func signIn(
        _ request: SignInRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> SignIn {
        try admit(
            email: request.email,
            password: request.password,
            goal: request.createsIfMissing ? .signInOrUp : .signIn,
            envelope,
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

    private func admit(
        email: String,
        password: SecretText,
        goal: SignIn.Goal,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> SignIn {
        try environment.admitChange()
        guard let address = EmailAddress(email) else {
            throw .badEmail(email.utf8.count, limit: EmailAddress.maximumByteCount)
        }
        try environment.rules.texts.checkPassword(password)
        let account = accounts.account(for: address)
        let timeout = environment.context.timeout(milliseconds: envelope.timeoutMilliseconds)
        let limits = accounts.limits
        let attempt: SignInLimits<ClientIdentity>.Attempt
        switch environment.context.signInLimits.begin(
            address,
            from: caller.isService ? nil : caller.peer,
            mayCreate: account == nil && goal.mayCreate
        ) {
        case .allowed(let allowed): attempt = allowed
        case .wait(let wait):
            throw .tooManyFailures(limit: limits.failuresPerWindow, wait: wait)
        case .waitToCreate(let wait):
            throw .tooManyCreations(limit: limits.creationsPerWindow, wait: wait)
        }
        return SignIn(
            requestID: envelope.id,
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
}

/// How a sign-in ends once its password was hashed.
extension AccountCalls {
    /// The end of a call, or what it needs before its end.
    enum End {
        /// The user has this session, which is the connection's now.
        case session(UserSession, Login)
        /// Another call has created the account meanwhile: the password is compared with its own.
        case verify(SignIn)
    }

    /// Ends a call with the outcome of its hash.
    ///
    /// An attempt stays a failure only if the password is wrong or the e-mail is taken.
    func finish(_ signIn: SignIn, _ outcome: PasswordJob.Outcome) throws(Status) -> End {
        let limits = environment.context.signInLimits
        do throws(Status) {
            let end = try end(signIn, outcome)
            if case .session(let session, _) = end {
                limits.withdraw(signIn.attempt, created: session.createdUser)
            }
            return end
        } catch {
            let isFailure = error.reason == .badCredentials || error.reason == .emailTaken
            if !isFailure { limits.withdraw(signIn.attempt) }
            throw error
        }
    }

    private func end(_ signIn: SignIn, _ outcome: PasswordJob.Outcome) throws(Status) -> End {
        switch outcome {
        case .hashed(let hash): return try create(signIn, hash)
        case .matches:
            guard let account = signIn.account else {
                preconditionFailure("A password matches that of an account.")
            }
            try admitSession()
            return environment.changeLog.transaction { begin(account, isNew: false) }
        case .differs: throw .badCredentials
        case .skipped: throw .signInTooLate(signIn.timeout)
        case .crowdedOut:
            let passwords = environment.context.passwords
            throw .tooManySignIns(limit: passwords.queueLimit, wait: passwords.retryTime)
        case .noMemory: throw .outOfMemory
        }
    }

    /// Creates the account and begins its first session, in one transaction.
    private func create(_ signIn: SignIn, _ hash: String) throws(Status) -> End {
        try admitSession()
        do throws(AccountError) {
            return try environment.changeLog.transaction { () throws(AccountError) -> End in
                let account = try environment.context.accounts.create(
                    signIn.email,
                    displayName: signIn.displayName(environment.rules.texts),
                    passwordHash: hash,
                    at: environment.context.clock.now(),
                    environment.changeLog
                )
                return begin(account, isNew: true)
            }
        } catch {
            switch error {
            case .emailTaken: return try retry(signIn)
            case .tooManyAccounts(let limit): throw .tooManyAccounts(limit: limit)
            case .badAccount, .badSession: preconditionFailure("\(error)")
            }
        }
    }

    private func admitSession() throws(Status) {
        try environment.admitChange()
        let accounts = environment.context.accounts
        guard accounts.hasRoomForSession else {
            throw .tooManySessions(limit: accounts.limits.maximumSessionCount)
        }
    }

    /// Another call has created the account while the password was hashed.
    private func retry(_ signIn: SignIn) throws(Status) -> End {
        switch signIn.goal {
        case .signUp: throw .emailTaken
        case .signIn, .signInOrUp:
            var signIn = signIn
            signIn.account = environment.context.accounts.account(for: signIn.email)
            return .verify(signIn)
        }
    }

    /// Begins a session; within a transaction.
    private func begin(_ account: AccountRow, isNew: Bool) -> End {
        let accounts = environment.context.accounts
        let count = accounts.revocationCount
        let now = environment.context.clock.now()
        guard let begun = accounts.beginSession(of: account.id, at: now, environment.changeLog)
        else {
            preconditionFailure("An account stays.")
        }
        let session = UserSession(
            token: begun.token.bytes,
            user: User(account),
            expireTimeMilliseconds: begun.session.expireTimeMilliseconds,
            createdUser: isNew
        )
        let login = environment.current(begun.session, at: now, revocationCount: count)
        return .session(session, login)
    }
}

/// A SignUp or SignIn that was let in, until its password is checked.
struct SignIn {
    enum Goal {
        /// A new account with this name; an empty one is made of the e-mail.
        case signUp(displayName: String)
        case signIn
        /// A session of an account, which is created if there is none.
        case signInOrUp

        /// Whether the call creates an account where there is none.
        var mayCreate: Bool { if case .signIn = self { false } else { true } }
    }

    let requestID: UInt64
    let goal: Goal
    let email: EmailAddress
    /// The password, which is overwritten once nothing holds it.
    let password: Secret
    /// The account that the password is compared with; nil where there is none.
    var account: AccountRow?
    /// Who takes turns with others for the hash.
    let peer: ClientIdentity
    let attempt: SignInLimits<ClientIdentity>.Attempt
    let timeout: Duration
    /// When that is over.
    let deadline: MonotonicInstant

    var purpose: PasswordJob.Purpose {
        switch goal {
        case .signUp: .create
        case .signIn: .verify(account?.passwordHash)
        case .signInOrUp: account.map { .verify($0.passwordHash) } ?? .create
        }
    }

    var method: Method { if case .signUp = goal { .signUp } else { .signIn } }

    /// The name of a new account: the one that was asked for, or what is before the `@` of the e-mail.
    func displayName(_ rules: TextRules) -> String {
        if case .signUp(let name) = goal, !name.isEmpty { return name }
        return rules.displayName(ofEmail: email.text)
    }
}
