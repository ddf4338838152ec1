internal import FeedAccounts
internal import FeedLog
internal import FeedProto

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
                    displayName: signIn.displayName(environment.rules),
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

    /// Refuses another session while the service takes no changes, or has as many sessions as it may.
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
