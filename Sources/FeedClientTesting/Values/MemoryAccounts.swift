internal import FeedProto

/// The accounts and sessions of a service in memory; passwords are kept as they are.
struct MemoryAccounts {
    /// An account.
    struct Account {
        var user: User
        var password: SecretText
    }

    private struct Session {
        var userID: UInt64
        var expireTime: Int64
    }

    /// The accounts by the bytes of their e-mails, with ASCII letters in lower case.
    private var accounts: [[UInt8]: Account] = [:]
    private var names: [UInt64: String] = [:]
    private var sessions: [[UInt8]: Session] = [:]
    private var sessionCount: UInt64 = 0

    /// The account of an e-mail; nil where there is none.
    func account(_ email: String) -> Account? { accounts[Self.key(email)] }

    /// The name of a user's account; nil where there is none.
    func name(of userID: UInt64) -> String? { names[userID] }

    /// How many accounts and sessions there are.
    var counts: (accounts: Int, sessions: Int) { (accounts.count, sessions.count) }

    /// Makes an account.
    mutating func create(
        _ email: String,
        _ password: SecretText,
        name: String,
        at now: Int64
    ) -> User {
        let user = User(
            id: UInt64(accounts.count) + 1,
            displayName: name,
            createTimeMilliseconds: now
        )
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
        let expireTime = now + MemoryLimits.sessionMilliseconds
        sessions[token] = Session(userID: user.id, expireTime: expireTime)
        return UserSession(
            token: token,
            user: user,
            expireTimeMilliseconds: expireTime,
            createdUser: isNew
        )
    }

    /// Looks a session up and extends it; nil where it has expired or ended.
    mutating func session(_ token: [UInt8], at now: Int64) -> UserSession? {
        guard let session = sessions[token], session.expireTime > now,
            let account = accounts.values.first(where: { $0.user.id == session.userID })
        else { return nil }
        let expireTime = now + MemoryLimits.sessionMilliseconds
        sessions[token]?.expireTime = expireTime
        return UserSession(user: account.user, expireTimeMilliseconds: expireTime)
    }

    /// Ends a session, or all sessions of its user.
    mutating func end(_ token: [UInt8], everywhere: Bool) {
        guard let session = sessions.removeValue(forKey: token), everywhere else { return }
        sessions = sessions.filter { $0.value.userID != session.userID }
    }

    private static func key(_ email: String) -> [UInt8] {
        email.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }
}
