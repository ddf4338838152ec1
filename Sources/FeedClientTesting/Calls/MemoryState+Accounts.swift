internal import FeedProto

/// Accounts and sessions.
extension MemoryState {
    /// The session of a caller; nil where it has none.
    mutating func session(of caller: MemoryCaller) throws(Status) -> UserSession? {
        guard !caller.token.isEmpty else { return nil }
        guard let session = accounts.session(caller.token, at: clock()) else {
            throw .sessionExpired
        }
        return session
    }

    /// The session of a caller that needs one.
    mutating func requireSession(of caller: MemoryCaller) throws(Status) -> UserSession {
        guard let session = try session(of: caller) else {
            throw .identityRequired("The client has no session: sign in first.")
        }
        return session
    }

    /// Creates an account.
    mutating func signUp(
        _ request: SignUpRequest,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        try TextRules.checkName(request.displayName, "display_name")
        try check(request.email, request.password)
        guard accounts.account(request.email) == nil else {
            throw Status(
                code: .alreadyExists,
                reason: .emailTaken,
                message: "There is an account with this e-mail."
            )
        }
        let user = create(request.email, request.password, request.displayName)
        return begin(of: user, isNew: true, for: &caller)
    }

    /// Signs in, and creates the account where that is asked for.
    mutating func signIn(
        _ request: SignInRequest,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        try check(request.email, request.password)
        if let account = accounts.account(request.email) {
            guard account.password == request.password else { throw .badCredentials }
            return begin(of: account.user, isNew: false, for: &caller)
        }
        guard request.createsIfMissing else { throw .badCredentials }
        return begin(of: create(request.email, request.password, ""), isNew: true, for: &caller)
    }

    /// Ends the session of a caller.
    mutating func signOut(
        _ request: SignOutRequest,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        _ = try requireSession(of: caller)
        accounts.end(caller.token, everywhere: request.endsEverywhere)
        caller.token = []
        return .empty
    }

    private mutating func begin(
        of user: User,
        isNew: Bool,
        for caller: inout MemoryCaller
    ) -> Response {
        let session = accounts.begin(of: user, at: clock(), isNew: isNew)
        caller.token = session.token
        return .session(session)
    }

    private mutating func create(
        _ email: String,
        _ password: SecretText,
        _ displayName: String
    ) -> User {
        let local = String(decoding: email.utf8.prefix { $0 != UInt8(ascii: "@") }, as: UTF8.self)
        let name =
            displayName.isEmpty
            ? String(local.prefix(MemoryLimits.nameCharacterCount)) : displayName
        return accounts.create(email, password, name: name, at: clock())
    }

    private func check(_ email: String, _ password: SecretText) throws(Status) {
        let at = UInt8(ascii: "@")
        let bytes = email.utf8
        let limit = MemoryLimits.emailByteCount
        guard bytes.count <= limit, bytes.count(where: { $0 == at }) == 1, bytes.first != at,
            bytes.last != at, !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7f })
        else {
            throw .invalid(.badEmail, "email", limit: limit, actual: UInt64(bytes.count))
        }
        try TextRules.checkPassword(password)
    }
}
