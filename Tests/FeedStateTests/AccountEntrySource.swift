import FeedAccounts
import FeedLog
import FeedRanking
import FeedTestSupport

/// Random log entries of accounts and sessions, each true of the model before it.
struct AccountEntrySource {
    private var time: Int64 = 1_000
    private var nextUser: UInt64 = 1

    mutating func next(
        _ model: ViewerModel,
        using generator: inout SeededGenerator
    ) -> [LogEntry] {
        time += 1
        let users = model.accounts.keys.sorted()
        guard let user = users.randomElement(using: &generator), !generator.oneIn(6) else {
            return signUp(using: &generator)
        }
        let hashes = model.sessions.keys.sorted { $0.word0 < $1.word0 }
        let session = hashes.randomElement(using: &generator).flatMap { model.sessions[$0] }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0..<3: return [begin(user, model.generations[user] ?? 0, using: &generator)]
        case 3, 4:
            guard var session else { return [] }
            session.expireTimeMilliseconds += 5
            return [.session(session)]
        case 5, 6: return session.map { [.sessionEnded($0.tokenHash)] } ?? []
        default:
            return [.sessionsEnded(userID: user, generation: (model.generations[user] ?? 0) + 1)]
        }
    }

    /// An account with its first session.
    private mutating func signUp(using generator: inout SeededGenerator) -> [LogEntry] {
        let user = nextUser
        nextUser += 1
        let account = AccountRow(
            id: user,
            email: "user\(user)@example.org",
            displayName: "Zoë \(user)",
            passwordHash: "$argon2id$v=19$\(generator.next())",
            createTimeMilliseconds: time
        )
        return [.account(account), begin(user, 0, using: &generator)]
    }

    private func begin(
        _ user: UInt64,
        _ generation: UInt64,
        using generator: inout SeededGenerator
    ) -> LogEntry {
        .session(
            SessionRow(
                tokenHash: TokenHash(
                    generator.next(),
                    generator.next(),
                    generator.next(),
                    generator.next()
                ),
                userID: user,
                expireTimeMilliseconds: time + 100,
                generation: generation
            )
        )
    }
}
