internal import FeedCalls
internal import FeedProto

/// The accounts and sessions of a service in memory; passwords are kept as they are.
struct MemoryAccounts {
    struct Account {
        var user: User
        var password: SecretText
    }

    private struct Session {
        let user: User
        var expireTime: Int64
    }

    /// The accounts by the bytes of their e-mails, with ASCII letters in lower case.
    private var accounts: [[UInt8]: Account] = [:]
    private var names: [UInt64: String] = [:]
    private var sessions: [[UInt8]: Session] = [:]
    private var sessionCount: UInt64 = 0
    private static let sessionMilliseconds: Int64 = 30 * 86_400_000

    /// The account of an e-mail; nil where there is none.
    func account(_ email: String) -> Account? { accounts[Self.key(email)] }

    /// The name of a user's account; nil where there is none.
    func name(of userID: UInt64) -> String? { names[userID] }

    var counts: (accounts: Int, sessions: Int) { (accounts.count, sessions.count) }

    mutating func create(
        _ email: String,
        _ password: SecretText,
        name: String,
        at now: Int64
    ) -> User {
        let id = UInt64(accounts.count) + 1
        let user = User(id: id, displayName: name, createTimeMilliseconds: now)
        accounts[Self.key(email)] = Account(user: user, password: password)
        names[user.id] = name
        return user
    }

    /// Begins a session; its token is a number, as nobody has to guess it.
    mutating func begin(of user: User, at now: Int64, isNew: Bool) -> UserSession {
        sessionCount += 1
        let token = (0..<32).map {
            $0 < 8 ? UInt8(truncatingIfNeeded: sessionCount >> (8 * $0)) : 7
        }
        let expireTime = now + Self.sessionMilliseconds
        sessions[token] = Session(user: user, expireTime: expireTime)
        return UserSession(
            token: token,
            user: user,
            expireTimeMilliseconds: expireTime,
            createdUser: isNew
        )
    }

    /// Looks a session up and extends it; nil where it has expired or ended.
    mutating func session(_ token: [UInt8], at now: Int64) -> UserSession? {
        guard var session = sessions[token], session.expireTime > now else { return nil }
        session.expireTime = now + Self.sessionMilliseconds
        sessions[token] = session
        return UserSession(user: session.user, expireTimeMilliseconds: session.expireTime)
    }

    /// Ends a session, or all sessions of its user.
    mutating func end(_ token: [UInt8], everywhere: Bool) {
        guard let session = sessions.removeValue(forKey: token), everywhere else { return }
        sessions = sessions.filter { $0.value.user.id != session.user.id }
    }

    private static func key(_ email: String) -> [UInt8] {
        email.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }
}

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

    mutating func requireSession(of caller: MemoryCaller) throws(Status) -> UserSession {
        guard let session = try session(of: caller) else { throw .sessionRequired }
        return session
    }

    mutating func signUp(
        _ request: SignUpRequest,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        try rules.texts.checkDisplayName(request.displayName)
        try check(request.email, request.password)
        guard accounts.account(request.email) == nil else { throw .emailTaken }
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
        let name = displayName.isEmpty ? rules.texts.displayName(ofEmail: email) : displayName
        return accounts.create(email, password, name: name, at: clock())
    }

    private func check(_ email: String, _ password: SecretText) throws(Status) {
        let at = UInt8(ascii: "@")
        let bytes = email.utf8
        let limit = 254
        guard bytes.count <= limit, bytes.count(where: { $0 == at }) == 1, bytes.first != at,
            bytes.last != at, !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7f })
        else { throw .badEmail(bytes.count, limit: limit) }
        try rules.texts.checkPassword(password)
    }
}
