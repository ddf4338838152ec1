internal import FeedCalls
internal import FeedProto
internal import FeedRanking

/// The accounts and sessions of a service in memory; passwords are kept as they are.
struct MemoryAccounts {
    struct Account {
        let user: User
        var email: String
        var password: SecretText
        var isSuspended = false
    }

    /// A session, or a token that resets a password.
    private struct Token {
        /// Its number, in the order in which they were made.
        let number: UInt64
        let userID: UserID
        var expireTime: Int64
        var isReset = false
    }

    private var accounts: [UserID: Account] = [:]
    /// The accounts' numbers by the bytes of their e-mails, with ASCII letters in lower case.
    private var byEmail: [[UInt8]: UserID] = [:]
    private var tokens: [[UInt8]: Token] = [:]
    private var lastID: UInt64 = 0
    private var lastToken: UInt64 = 0
    private static let sessionMilliseconds: Int64 = 30 * 86_400_000
    private static let resetMilliseconds: Int64 = 3_600_000

    /// The account of an e-mail; nil where there is none.
    func account(_ email: String) -> Account? {
        byEmail[Self.key(email)].flatMap { accounts[$0] }
    }

    /// The account of a user; nil if there is none, or it was deleted.
    func account(_ userID: UserID) -> Account? { accounts[userID] }

    /// The name of a user's account; nil where there is none.
    func name(of userID: UserID) -> String? { accounts[userID]?.user.displayName }

    var counts: (accounts: Int, sessions: Int) { (Int(lastID), tokens.count) }

    mutating func create(
        _ email: String,
        _ password: SecretText,
        name: String,
        at now: Int64
    ) -> User {
        lastID += 1
        let id = UserID(rawValue: lastID)
        let user = User(id: id, displayName: name, createTimeMilliseconds: now)
        accounts[id] = Account(user: user, email: email, password: password)
        byEmail[Self.key(email)] = id
        return user
    }

    /// Begins a session.
    mutating func begin(of user: User, at now: Int64, isNew: Bool) -> UserSession {
        let expireTime = now + Self.sessionMilliseconds
        return UserSession(
            token: add(of: user.id, until: expireTime),
            user: user,
            expireTimeMilliseconds: expireTime,
            createdUser: isNew
        )
    }

    /// Makes a token that resets a password, in place of an earlier one.
    mutating func makeReset(of user: User, at now: Int64) -> PasswordReset {
        tokens = tokens.filter { $0.value.userID != user.id || !$0.value.isReset }
        let expireTime = now + Self.resetMilliseconds
        return PasswordReset(
            token: add(of: user.id, until: expireTime, isReset: true),
            user: user,
            expireTimeMilliseconds: expireTime
        )
    }

    /// A new token, which is a number, as nobody has to guess it.
    private mutating func add(
        of userID: UserID,
        until expireTime: Int64,
        isReset: Bool = false
    ) -> [UInt8] {
        lastToken += 1
        let token = (0..<32).map {
            $0 < 8 ? UInt8(truncatingIfNeeded: lastToken >> (8 * $0)) : 7
        }
        tokens[token] = Token(
            number: lastToken,
            userID: userID,
            expireTime: expireTime,
            isReset: isReset
        )
        return token
    }

    /// Looks a session up and extends it; nil where it has expired or ended.
    mutating func session(_ token: [UInt8], at now: Int64) -> UserSession? {
        guard var session = tokens[token], !session.isReset, session.expireTime > now,
            let user = accounts[session.userID]?.user
        else { return nil }
        session.expireTime = now + Self.sessionMilliseconds
        tokens[token] = session
        return UserSession(user: user, expireTimeMilliseconds: session.expireTime)
    }

    /// The account of a token that resets its password; nil if there is none.
    func account(resetBy token: [UInt8], at now: Int64) -> Account? {
        guard let reset = tokens[token], reset.isReset, reset.expireTime > now else { return nil }
        return accounts[reset.userID]
    }

    /// The sessions of a user, the oldest first.
    func sessions(of userID: UserID, current token: [UInt8], at now: Int64) -> [SessionInfo] {
        let own = tokens.filter {
            $0.value.userID == userID && !$0.value.isReset && $0.value.expireTime > now
        }
        return own.sorted { $0.value.number < $1.value.number }.map {
            SessionInfo(
                id: SessionID(rawValue: $0.value.number),
                useTimeMilliseconds: $0.value.expireTime - Self.sessionMilliseconds,
                expireTimeMilliseconds: $0.value.expireTime,
                isCurrent: $0.key == token
            )
        }
    }

    mutating func endSession(_ id: SessionID, of userID: UserID) {
        tokens = tokens.filter {
            $0.value.number != id.rawValue || $0.value.userID != userID || $0.value.isReset
        }
    }

    /// Ends a session, or all of its user.
    mutating func end(_ token: [UInt8], everywhere: Bool) {
        guard let session = tokens.removeValue(forKey: token), everywhere else { return }
        endAll(of: session.userID)
    }

    /// Ends all sessions of a user, and the token that resets the password.
    mutating func endAll(of userID: UserID) {
        tokens = tokens.filter { $0.value.userID != userID }
    }

    /// Sets a password, and ends all sessions of the user.
    mutating func set(_ password: SecretText, of userID: UserID) {
        accounts[userID]?.password = password
        endAll(of: userID)
    }

    mutating func set(_ email: String, of userID: UserID) {
        guard let old = accounts[userID]?.email else { return }
        byEmail[Self.key(old)] = nil
        byEmail[Self.key(email)] = userID
        accounts[userID]?.email = email
    }

    mutating func set(isSuspended: Bool, of userID: UserID) {
        accounts[userID]?.isSuspended = isSuspended
        if isSuspended { endAll(of: userID) }
    }

    mutating func delete(_ userID: UserID) {
        guard let account = accounts.removeValue(forKey: userID) else { return }
        byEmail[Self.key(account.email)] = nil
        endAll(of: userID)
    }

    private static func key(_ email: String) -> [UInt8] {
        email.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }
}

/// Accounts and sessions.
extension MemoryState {
    /// Executes a call about accounts and sessions; nil if it is another one.
    mutating func executeOnAccounts(
        _ request: Request,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response? {
        switch request {
        case .signUp(let request): return try signUp(request, from: &caller)
        case .signIn(let request): return try signIn(request, from: &caller)
        case .getSession: return .session(try requireSession(of: caller))
        case .signOut(let request): return try signOut(request, from: &caller)
        case .changePassword(let request): return try changePassword(request, from: &caller)
        case .changeEmail(let request):
            let user = try requireUser(of: caller, with: request.password)
            try check(request.email)
            try compare(request.password, of: user)
            guard accounts.account(request.email).map({ $0.user.id == user.id }) ?? true else {
                throw .emailTaken
            }
            accounts.set(request.email, of: user.id)
            return .empty
        case .deleteAccount(let request):
            let user = try requireUser(of: caller, with: request.password)
            try compare(request.password, of: user)
            delete(user.id, keepsPosts: request.keepsPosts)
            caller.token = []
            return .empty
        case .listSessions:
            let id = try requireSession(of: caller).user?.id ?? 0
            let sessions = accounts.sessions(of: id, current: caller.token, at: clock())
            return .listSessions(ListSessionsResponse(sessions: sessions))
        case .endSession(let request):
            let id = try requireSession(of: caller).user?.id ?? 0
            accounts.endSession(request.id, of: id)
            return .empty
        case .changeUser(let request): return try changeUser(request, caller)
        case .makePasswordReset(let request):
            let account = try account(request.userID, request.email, caller)
            guard !account.isSuspended else { throw .userSuspended }
            return .passwordReset(accounts.makeReset(of: account.user, at: clock()))
        case .resetPassword(let request):
            try rules.texts.checkPassword(request.newPassword, field: "new_password")
            guard let user = accounts.account(resetBy: request.token, at: clock())?.user else {
                throw .badResetToken
            }
            accounts.set(request.newPassword, of: user.id)
            return begin(of: user, isNew: false, for: &caller)
        default: return nil
        }
    }

    /// The session of a caller; nil where it has none.
    mutating func session(of caller: MemoryCaller) throws(Status) -> UserSession? {
        guard !caller.token.isEmpty else { return nil }
        guard let session = accounts.session(caller.token, at: clock()) else {
            throw .sessionExpired
        }
        return session
    }

    private mutating func requireSession(of caller: MemoryCaller) throws(Status) -> UserSession {
        guard let session = try session(of: caller) else { throw .sessionRequired }
        return session
    }

    /// The user of a caller who shows what may be the password.
    private mutating func requireUser(
        of caller: MemoryCaller,
        with password: SecretText
    ) throws(Status) -> User {
        guard let user = try requireSession(of: caller).user else { throw .sessionRequired }
        try rules.texts.checkPassword(password)
        return user
    }

    private func compare(_ password: SecretText, of user: User) throws(Status) {
        guard accounts.account(user.id)?.password == password else { throw .wrongPassword }
    }

    private mutating func signUp(
        _ request: SignUpRequest,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        try rules.texts.checkDisplayName(request.displayName)
        try check(request.email)
        try rules.texts.checkPassword(request.password)
        guard accounts.account(request.email) == nil else { throw .emailTaken }
        let user = create(request.email, request.password, request.displayName)
        return begin(of: user, isNew: true, for: &caller)
    }

    /// Signs in, and creates the account where that is asked for.
    private mutating func signIn(
        _ request: SignInRequest,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        try check(request.email)
        try rules.texts.checkPassword(request.password)
        if let account = accounts.account(request.email) {
            guard account.password == request.password else { throw .badCredentials }
            guard !account.isSuspended else { throw .userSuspended }
            return begin(of: account.user, isNew: false, for: &caller)
        }
        guard request.createsIfMissing else { throw .badCredentials }
        return begin(of: create(request.email, request.password, ""), isNew: true, for: &caller)
    }

    private mutating func signOut(
        _ request: SignOutRequest,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        _ = try requireSession(of: caller)
        accounts.end(caller.token, everywhere: request.endsEverywhere)
        caller.token = []
        return .empty
    }

    private mutating func changePassword(
        _ request: ChangePasswordRequest,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        let user = try requireUser(of: caller, with: request.password)
        try rules.texts.checkPassword(request.newPassword, field: "new_password")
        try compare(request.password, of: user)
        accounts.set(request.newPassword, of: user.id)
        return begin(of: user, isNew: false, for: &caller)
    }

    private mutating func changeUser(
        _ request: ChangeUserRequest,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        guard caller.isService else { throw .serviceOnly }
        guard request.change.rawValue > 0,
            request.change.rawValue <= UserChange.deleteKeepingPosts.rawValue
        else { throw .noUserChange }
        let id = try account(request.userID, request.email, caller).user.id
        switch request.change {
        case .suspend: accounts.set(isSuspended: true, of: id)
        case .restore: accounts.set(isSuspended: false, of: id)
        case .delete: delete(id, keepsPosts: false)
        case .deleteKeepingPosts: delete(id, keepsPosts: true)
        default: accounts.endAll(of: id)
        }
        return .empty
    }

    /// The account that a service names, by its number or else by its e-mail.
    private func account(
        _ id: UserID,
        _ email: String,
        _ caller: MemoryCaller
    ) throws(Status) -> MemoryAccounts.Account {
        guard caller.isService else { throw .serviceOnly }
        if id == 0 { try check(email) }
        guard let found = id == 0 ? accounts.account(email) : accounts.account(id) else {
            throw .userNotFound
        }
        return found
    }

    /// Deletes an account, and at once its posts or their author.
    private mutating func delete(_ userID: UserID, keepsPosts: Bool) {
        accounts.delete(userID)
        guard store.highestID > 0 else { return }
        for id in (1...store.highestID).map(PostID.init(rawValue:))
        where (try? store.author(of: id)) == userID.rawValue {
            if keepsPosts {
                _ = store.removeAuthor(userID.rawValue, of: id)
            } else {
                _ = try? store.deletePost(id)
            }
        }
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

    private func check(_ email: String) throws(Status) {
        let at = UInt8(ascii: "@")
        let bytes = email.utf8
        let limit = 254
        guard bytes.count <= limit, bytes.count(where: { $0 == at }) == 1, bytes.first != at,
            bytes.last != at, !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7f })
        else { throw .badEmail(bytes.count, limit: limit) }
    }
}
