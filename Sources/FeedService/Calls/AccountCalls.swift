internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// The calls about accounts and sessions.
///
/// The calls with a password are answered later, as it is hashed on another thread: the handler checks the
/// request (``signUp(_:_:from:)``), the loop has the password hashed, and the handler ends the call with the
/// outcome (``finish(_:_:)``). A change of the password takes two hashes: that of the old one is compared,
/// then the new one gets its own.
struct AccountCalls {
    let environment: CallEnvironment

    private var accounts: Accounts { environment.context.accounts }

    func signUp(
        _ request: SignUpRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        if !request.displayName.isEmpty {
            try environment.rules.texts.checkDisplayName(request.displayName)
        }
        return try admit(
            email: request.email,
            password: request.password,
            goal: .signUp(displayName: request.displayName),
            envelope,
            from: caller
        )
    }

    func signIn(
        _ request: SignInRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
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

    /// The sessions of the connection's user.
    func listSessions(from caller: borrowing Caller) throws(Status) -> Answer {
        guard let session = caller.login.session else { throw .sessionRequired }
        let now = environment.context.clock.now()
        let sessions = accounts.sessions(of: session.userID, at: now).map { other in
            SessionInfo(
                id: SessionID(rawValue: other.id),
                useTimeMilliseconds: accounts.useTime(of: other),
                expireTimeMilliseconds: other.expireTimeMilliseconds,
                isCurrent: other.tokenHash == session.tokenHash
            )
        }
        return .response(
            .listSessions(ListSessionsResponse(sessions: sessions)),
            revision: environment.store.revision
        )
    }

    /// Ends one session of the connection's user; a connection that has it learns it as others do.
    func endSession(
        _ request: EndSessionRequest,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        guard let session = caller.login.session else { throw .sessionRequired }
        try environment.admitChange()
        let now = environment.context.clock.now()
        let ended = accounts.sessions(of: session.userID, at: now).first {
            $0.id == request.id.rawValue
        }
        if let ended {
            environment.changeLog.transaction {
                accounts.end(ended.tokenHash, environment.changeLog)
            }
            // It may be the connection's own, and more of its requests may have been read.
            environment.lookUpLogin(of: &caller)
        }
        return .response(.empty, revision: environment.store.revision)
    }

    /// Ends the sessions of a user, suspends it or takes that back, or deletes it.
    func changeUser(_ request: ChangeUserRequest) throws(Status) -> Answer {
        guard let change = UserAction(request.change) else { throw .noUserChange }
        let id = try account(request.userID, request.email).id
        let log = environment.changeLog
        switch change {
        case .endSessions:
            try environment.admitChange()
            log.transaction { accounts.endAllSessions(of: id, log) }
        case .become(let status):
            try environment.admitAccountChange()
            let endsSessions = status == .suspended
            _ = log.transaction {
                accounts.change(id, endsSessions: endsSessions, log) { row in
                    guard row.status != status else { return false }
                    row.status = status
                    return true
                }
            }
        case .delete(let erasure):
            try environment.admitAccountChange()
            _ = log.transaction { accounts.delete(id, erasing: erasure, log) }
        }
        return .response(.empty, revision: environment.store.revision)
    }

    /// Makes a token for a user who has forgotten the password.
    func makePasswordReset(_ request: MakePasswordResetRequest) throws(Status) -> Answer {
        let account = try account(request.userID, request.email)
        try environment.admitAccountChange()
        try requireRoomForSession()
        let now = environment.context.clock.now()
        let log = environment.changeLog
        let begun = log.transaction { accounts.beginReset(of: account.id, at: now, log) }
        guard let begun else { throw .userSuspended }
        let reset = PasswordReset(
            token: begun.token.bytes,
            user: User(account),
            expireTimeMilliseconds: begun.session.expireTimeMilliseconds
        )
        return .response(.passwordReset(reset), revision: environment.store.revision)
    }

    /// The account that a service names, by its number or else by its e-mail.
    private func account(_ id: UserID, _ email: String) throws(Status) -> AccountRow {
        let found =
            try id == 0 ? accounts.account(for: address(email)) : accounts.account(id.rawValue)
        guard let found else { throw .userNotFound }
        return found
    }

    private func address(_ email: String) throws(Status) -> EmailAddress {
        guard let address = EmailAddress(email) else {
            throw .badEmail(email.utf8.count, limit: EmailAddress.maximumByteCount)
        }
        return address
    }
}

/// The calls with a password, until it is hashed.
extension AccountCalls {
    func changePassword(
        _ request: ChangePasswordRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try change(
            .changePassword(to: newPassword(request.newPassword)),
            request.password,
            envelope,
            from: caller
        )
    }

    func changeEmail(
        _ request: ChangeEmailRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try change(
            .changeEmail(to: address(request.email)),
            request.password,
            envelope,
            from: caller
        )
    }

    func deleteAccount(
        _ request: DeleteAccountRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let goal = SignIn.Goal.deleteAccount(request.keepsPosts ? .author : .posts)
        return try change(goal, request.password, envelope, from: caller)
    }

    func resetPassword(
        _ request: ResetPasswordRequest,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try environment.admitAccountChange()
        let password = try newPassword(request.newPassword)
        let now = environment.context.clock.now()
        guard let token = SessionToken(bytes: request.token)?.hash,
            let reset = accounts.reset(token, at: now),
            let account = accounts.account(reset.userID), let email = EmailAddress(account.email)
        else { throw .badResetToken }
        let goal = SignIn.Goal.setPassword(.reset(token))
        return try begin(goal, (account, email), password, envelope, from: caller)
    }

    private func newPassword(_ text: SecretText) throws(Status) -> Secret {
        try environment.rules.texts.checkPassword(text, field: "new_password")
        return Secret(copying: text.utf8)
    }

    /// Begins a change of the account of a caller who has signed in, and shows what may be its password.
    ///
    /// What is wrong with the change itself is told last.
    private func change(
        _ goal: @autoclosure () throws(Status) -> SignIn.Goal,
        _ password: SecretText,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try environment.admitAccountChange()
        guard let session = caller.login.session else { throw .sessionRequired }
        guard let account = accounts.account(session.userID),
            let email = EmailAddress(account.email)
        else { throw .sessionExpired }
        try environment.rules.texts.checkPassword(password)
        let secret = Secret(copying: password.utf8)
        return try begin(goal(), (account, email), secret, envelope, from: caller)
    }

    private func admit(
        email: String,
        password: SecretText,
        goal: SignIn.Goal,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try environment.admitChange()
        let address = try address(email)
        try environment.rules.texts.checkPassword(password)
        let user = (accounts.account(for: address), address)
        let secret = Secret(copying: password.utf8)
        return try begin(goal, user, secret, envelope, from: caller)
    }

    /// Counts an attempt for the limits.
    private func begin(
        _ goal: SignIn.Goal,
        _ user: (account: AccountRow?, email: EmailAddress),
        _ password: Secret,
        _ envelope: Envelope,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let timeout = environment.context.timeout(milliseconds: envelope.timeoutMilliseconds)
        let limits = accounts.limits
        let attempt: SignInLimits<ClientIdentity>.Attempt
        switch environment.context.signInLimits.begin(
            user.email,
            from: caller.isService ? nil : caller.peer,
            mayCreate: user.account == nil && goal.mayCreate
        ) {
        case .allowed(let allowed): attempt = allowed
        case .wait(let wait):
            throw .tooManyFailures(limit: limits.failuresPerWindow, wait: wait)
        case .waitToCreate(let wait):
            throw .tooManyCreations(limit: limits.creationsPerWindow, wait: wait)
        }
        // The attempt stays a failure: a caller that asks for many e-mails is slowed.
        if case .signUp = goal, user.account != nil { throw .emailTaken }
        let signIn = SignIn(
            requestID: envelope.id,
            method: envelope.method,
            goal: goal,
            email: user.email,
            password: password,
            account: user.account,
            peer: caller.peer,
            attempt: attempt,
            timeout: timeout,
            deadline: MonotonicInstant.now.advanced(by: timeout)
        )
        return .later(.signIn(signIn))
    }
}

/// How a call with a password ends once that was hashed.
extension AccountCalls {
    /// The end of a call, or what it needs before its end.
    enum End {
        /// The user has this session, which is the connection's now.
        case session(UserSession, Login)
        /// The account was changed, and the connection's session stays.
        case done
        /// The account of this user was deleted, whose session the connection does not have any more.
        case deleted(UInt64)
        /// Another hash is needed: that of a new password, or that of an account which another call has
        /// created or changed meanwhile.
        case hash(SignIn)
    }

    /// Ends a call with the outcome of its hash.
    ///
    /// An attempt stays a failure only if the password is wrong or the e-mail is taken.
    func finish(_ signIn: SignIn, _ outcome: PasswordJob.Outcome) throws(Status) -> End {
        let limits = environment.context.signInLimits
        do throws(Status) {
            let end = try end(signIn, outcome)
            switch end {
            case .session(let session, _):
                limits.withdraw(signIn.attempt, created: session.createdUser)
            case .done, .deleted: limits.withdraw(signIn.attempt)
            case .hash: break
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
        case .hashed(let hash):
            guard case .setPassword(let right) = signIn.goal else {
                return try create(signIn, hash)
            }
            return try setPassword(signIn, by: right, hash)
        case .matches:
            guard let account = signIn.account else {
                preconditionFailure("A password matches that of an account.")
            }
            switch signIn.goal {
            case .changePassword(let password):
                var rest = signIn
                (rest.goal, rest.password) = (.setPassword(.password), password)
                return .hash(rest)
            case .changeEmail(let email): return try changeEmail(of: account, to: email)
            case .deleteAccount(let erasure): return try delete(account, erasure)
            case .signUp, .signIn, .signInOrUp, .setPassword:
                try admitSession()
                return try environment.changeLog.transaction { () throws(Status) -> End in
                    if let end = try begin(account, isNew: false) { return end }
                    return try retry(signIn)
                }
            }
        case .differs: throw signIn.goal.isOfUser ? .wrongPassword : .badCredentials
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
        return try environment.changeLog.transaction { () throws(Status) -> End in
            let account: AccountRow
            do throws(AccountError) {
                account = try accounts.create(
                    signIn.email,
                    displayName: signIn.displayName(environment.rules.texts),
                    passwordHash: hash,
                    at: environment.context.clock.now(),
                    environment.changeLog
                )
            } catch {
                switch error {
                case .emailTaken: return try retry(signIn)
                case .tooManyAccounts(let limit): throw .tooManyAccounts(limit: limit)
                case .badAccount, .badSession: preconditionFailure("\(error)")
                }
            }
            if let end = try begin(account, isNew: true) { return end }
            return try retry(signIn)
        }
    }

    /// Sets the password, ends all sessions of the user and begins a new one, in one transaction.
    private func setPassword(
        _ signIn: SignIn,
        by right: SignIn.Right,
        _ hash: String
    ) throws(Status) -> End {
        try environment.admitAccountChange()
        try requireRoomForSession()
        guard let checked = signIn.account else {
            preconditionFailure("A password is set of an account.")
        }
        // The account as it is before the token is looked at: who uses the token changes it.
        let version = accounts.account(checked.id)?.version
        if case .reset(let token) = right,
            accounts.reset(token, at: environment.context.clock.now()) == nil
        {
            throw .badResetToken
        }
        let log = environment.changeLog
        return try log.transaction { () throws(Status) -> End in
            let changed = accounts.change(checked.id, endsSessions: true, log) { row in
                let isAllowed =
                    switch right {
                    case .password: row.passwordHash == checked.passwordHash
                    case .reset: row.version == version
                    }
                guard isAllowed, row.isActive else { return false }
                row.passwordHash = hash
                return true
            }
            guard let changed else {
                // Another call was faster, so the password or the token is not right any more.
                if accounts.account(checked.id)?.isSuspended == true { throw .userSuspended }
                switch right {
                case .password: throw .wrongPassword
                case .reset: throw .badResetToken
                }
            }
            if let end = try begin(changed, isNew: false) { return end }
            // Another call has changed it again; the password was set.
            var status = Status.sessionExpired
            status.isNotExecuted = false
            throw status
        }
    }

    private func changeEmail(
        of account: AccountRow,
        to email: EmailAddress
    ) throws(Status) -> End {
        try environment.admitAccountChange()
        let log = environment.changeLog
        return try log.transaction { () throws(Status) -> End in
            let changed: AccountRow?
            do throws(AccountError) {
                changed = try accounts.changeEmail(of: account.id, to: email, log) { row in
                    row.passwordHash == account.passwordHash && row.isActive
                }
            } catch {
                throw .emailTaken
            }
            guard changed != nil else { throw overtaken(account) }
            return .done
        }
    }

    private func delete(_ account: AccountRow, _ erasure: AccountRow.Erasure) throws(Status) -> End
    {
        try environment.admitAccountChange()
        let log = environment.changeLog
        let isDone = log.transaction {
            accounts.delete(account.id, erasing: erasure, log) { row in
                row.passwordHash == account.passwordHash && row.isActive
            }
        }
        guard isDone else { throw overtaken(account) }
        return .deleted(account.id)
    }

    /// Why a change is refused of an account that another call has changed since its password was compared.
    private func overtaken(_ account: AccountRow) -> Status {
        accounts.account(account.id)?.isSuspended == true ? .userSuspended : .wrongPassword
    }

    private func admitSession() throws(Status) {
        try environment.admitChange()
        try requireRoomForSession()
    }

    private func requireRoomForSession() throws(Status) {
        guard accounts.hasRoomForSession else {
            throw .tooManySessions(limit: accounts.limits.maximumSessionCount)
        }
    }

    /// Another call has created the account, or changed its password, while the password was hashed.
    ///
    /// If it was deleted, none is created: the attempt may not be counted as a creation.
    private func retry(_ signIn: SignIn) throws(Status) -> End {
        if case .signUp = signIn.goal { throw .emailTaken }
        guard let account = accounts.account(for: signIn.email) else { throw .badCredentials }
        var signIn = signIn
        signIn.account = account
        return .hash(signIn)
    }

    /// Begins a session, within a transaction; nil if the account has another password by now.
    private func begin(_ account: AccountRow, isNew: Bool) throws(Status) -> End? {
        let count = accounts.revocationCount
        let now = environment.context.clock.now()
        let begun = accounts.beginSession(
            of: account.id,
            checked: account.passwordHash,
            at: now,
            environment.changeLog
        )
        guard let begun else {
            if accounts.account(account.id)?.isSuspended == true { throw .userSuspended }
            return nil
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

/// A call with a password that was let in, until that is checked.
struct SignIn {
    /// What lets a call set a password.
    enum Right {
        /// The account's own password was shown.
        case password
        /// The token of this hash was shown.
        case reset(TokenHash)
    }

    enum Goal {
        /// A new account with this name; an empty one is made of the e-mail.
        case signUp(displayName: String)
        case signIn
        /// A session of an account, which is created if there is none.
        case signInOrUp
        /// The password of a user who has signed in, once the one that it has was shown.
        case changePassword(to: Secret)
        /// The same of the e-mail.
        case changeEmail(to: EmailAddress)
        /// The end of the user's account, once its password was shown.
        case deleteAccount(AccountRow.Erasure)
        /// A password for an account, and a session.
        case setPassword(Right)

        /// Whether it is of a user who has signed in, and so has shown the e-mail.
        var isOfUser: Bool {
            switch self {
            case .changePassword, .changeEmail, .deleteAccount: true
            case .signUp, .signIn, .signInOrUp, .setPassword: false
            }
        }

        /// Whether the call creates an account where there is none.
        var mayCreate: Bool {
            switch self {
            case .signUp, .signInOrUp: true
            case .signIn, .changePassword, .changeEmail, .deleteAccount, .setPassword: false
            }
        }
    }

    let requestID: UInt64
    let method: Method
    var goal: Goal
    let email: EmailAddress
    /// The password, which is overwritten once nothing holds it.
    var password: Secret
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
        case .signUp, .setPassword: .create
        case .signIn, .changePassword, .changeEmail, .deleteAccount:
            .verify(account?.passwordHash)
        case .signInOrUp: account.map { .verify($0.passwordHash) } ?? .create
        }
    }

    /// The name of a new account: the one that was asked for, or what is before the `@` of the e-mail.
    func displayName(_ rules: TextRules) -> String {
        if case .signUp(let name) = goal, !name.isEmpty { return name }
        return rules.displayName(ofEmail: email.text)
    }
}

/// What a service does with a user.
private enum UserAction {
    case endSessions
    case become(AccountRow.Status)
    case delete(AccountRow.Erasure)

    /// What a change asks for; nil if it is none that this version knows.
    init?(_ change: UserChange) {
        switch change {
        case .endSessions: self = .endSessions
        case .suspend: self = .become(.suspended)
        case .restore: self = .become(.active)
        case .delete: self = .delete(.posts)
        case .deleteKeepingPosts: self = .delete(.author)
        default: return nil
        }
    }
}
