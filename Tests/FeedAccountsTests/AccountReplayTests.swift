import FeedAccounts
import FeedConcurrency
import FeedTestSupport
import Testing

/// The log entries of accounts put the same state back, in whatever order a commit batch has them.
@Suite struct AccountReplayTests {
    @Test(arguments: TestEnvironment.seeds(1...3))
    func entriesReplayInAnyOrder(number: UInt64) throws {
        var generator = SeededGenerator(seed: number)
        let seed: Comment = "seed \(number)"
        let sink = RecordingSink()
        let accounts = Accounts()
        var tokens: [SessionToken] = []
        for step in 0..<2_000 {
            let now = Int64(step) * 3_600_000
            let users = 1...UInt64(max(40, accounts.accountCount))
            let user = UInt64.random(in: users, using: &generator)
            switch Int.random(in: 0..<14, using: &generator) {
            case 13 where step % 3 == 0:
                _ = accounts.delete(user, erasing: step % 2 == 0 ? .author : .posts, sink)
                if step % 9 == 0 { accounts.endErasure(of: user, sink) }
            case 10:
                let email = try #require(EmailAddress("user\(user)@\(step % 3)"))
                _ = try? accounts.changeEmail(of: user, to: email, sink) { _ in true }
            case 11:
                _ = accounts.change(user, endsSessions: step % 2 == 0, sink) {
                    $0.passwordHash = "\(step)"
                    $0.status = step % 5 == 0 ? .suspended : .active
                    return true
                }
            case 12: _ = accounts.beginReset(of: user, at: now, sink)
            case 0..<2:
                let email = try #require(EmailAddress("user\(user)@x"))
                _ = try? accounts.create(
                    email,
                    displayName: "name",
                    passwordHash: "",
                    at: now,
                    sink
                )
            case 2..<5:
                if let begun = accounts.beginSession(of: user, at: now, sink) {
                    tokens.append(begun.token)
                }
            case 5..<8:
                if let token = tokens.randomElement(using: &generator),
                    let session = accounts.session(token.hash, at: now),
                    accounts.isDue(session, at: now)
                {
                    _ = accounts.renew(session, at: now, sink)
                }
            case 8:
                if let token = tokens.randomElement(using: &generator) {
                    accounts.end(token.hash, sink)
                }
            default:
                if step % 7 == 0 { accounts.endAllSessions(of: user, sink) }
                _ = accounts.sweep(at: now, limit: 10, sink)
            }
        }
        let expected = accounts.state().sorted
        #expect(expected.sessions.count > 20, seed)
        #expect(expected.sessions.contains { $0.kind == .passwordReset }, seed)
        #expect(expected.accounts.contains { $0.version > 2 }, seed)
        #expect(Set(expected.accounts.map(\.status)).count == 6, seed)
        #expect(RecordingSink.replayed(sink.entries) == expected, seed)
        let shuffled = sink.entries.shuffled(using: &generator)
        #expect(RecordingSink.replayed(shuffled) == expected, seed)

        let restored = Accounts()
        try restored.restore(expected)
        #expect(restored.state().sorted == expected, seed)
        let end = Int64(2_000) * 3_600_000
        for token in tokens {
            let session = accounts.session(token.hash, at: end)
            #expect(restored.session(token.hash, at: end) == session, seed)
        }
        let next = try restored.create(
            try #require(EmailAddress("next@x")),
            displayName: "name",
            passwordHash: "",
            at: end,
            sink
        )
        #expect(next.id == UInt64(expected.accounts.count + 1), seed)
    }

    @Test func sessionsOfAnEarlierGenerationAreNotPutBack() throws {
        let sink = RecordingSink()
        let accounts = Accounts()
        let email = try #require(EmailAddress("a@x"))
        _ = try accounts.create(email, displayName: "name", passwordHash: "", at: 0, sink)
        let begun = try #require(accounts.beginSession(of: 1, at: 0, sink))
        var state = accounts.state()
        state.generations[1] = 1
        let restored = Accounts()
        try restored.restore(state)
        #expect(restored.session(begun.token.hash, at: 1) == nil)
        #expect(restored.sessionCount == 0)
    }

    @Test func doubledAccountsAreRefused() throws {
        let row = AccountRow(
            id: 1,
            email: "a@x",
            displayName: "a",
            passwordHash: "",
            createTimeMilliseconds: 0
        )
        var other = row
        other.id = 2
        other.email = "A@X"
        var state = AccountsState()
        state.accounts = [row, other]
        #expect(throws: AccountError.badAccount(id: 2)) { try Accounts().restore(state) }
        other.email = "b@x"
        other.id = 1
        state.accounts = [row, other]
        #expect(throws: AccountError.badAccount(id: 1)) { try Accounts().restore(state) }
    }

    /// Records come in their order, and a record's accounts in any.
    @Test func laterVersionsArePutBackWhereOthersRead() throws {
        func row(_ id: UInt64, _ email: String, version: UInt64) -> AccountRow {
            AccountRow(
                id: id,
                email: email,
                displayName: "",
                passwordHash: "",
                createTimeMilliseconds: 0,
                version: version
            )
        }
        let accounts = Accounts()
        try accounts.restore([row(1, "a@x", version: 0), row(2, "b@x", version: 0)])
        // They have changed places, by way of another e-mail.
        let news = [row(1, "B@x", version: 2), row(2, "a@x", version: 1)]
        for rows in [news, news.reversed()] { try accounts.restore(rows) }
        try accounts.restore([row(1, "a@x", version: 0)])
        let (first, second) = (try #require(EmailAddress("b@x")), try #require(EmailAddress("a@x")))
        #expect(accounts.account(for: first) == news[0])
        #expect(accounts.account(for: second) == news[1])
        #expect(accounts.accountCount == 2)
        #expect(throws: AccountError.badAccount(id: 2)) {
            try accounts.restore([row(2, "c@x", version: 1)])
        }
        // A deletion frees the e-mail for another account of the record; one with texts is damage.
        var deleted = row(1, "", version: 3)
        deleted.status = .erasingPosts
        try accounts.restore([row(3, "b@x", version: 0), deleted])
        #expect(accounts.account(for: first)?.id == 3 && accounts.account(1) == nil)
        #expect(accounts.erasures == [1: .posts])
        (deleted.version, deleted.status, deleted.email) = (4, .erasedPosts, "d@x")
        #expect(throws: AccountError.badAccount(id: 1)) { try accounts.restore([deleted]) }
        #expect(throws: AccountError.badAccount(id: 1)) {
            try accounts.restore([row(1, "a@x", version: 9)])
        }
    }

    /// Threads that create accounts of the same e-mails at the same time make one of each.
    @Test func threadsMakeOneAccountAnEMail() throws {
        let accounts = Accounts()
        let sink = RecordingSink()
        let emails = try (0..<500).map { try #require(EmailAddress("user\($0)@x")) }
        let threads = (0..<4).map { NamedThread("accounts-\($0)") }
        for thread in threads {
            try thread.start {
                for email in emails {
                    guard
                        let row = try? accounts.create(
                            email,
                            displayName: "name",
                            passwordHash: "",
                            at: 0,
                            sink
                        )
                    else { continue }
                    _ = accounts.beginSession(of: row.id, at: 0, sink)
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(accounts.accountCount == 500)
        #expect(accounts.sessionCount == 500)
        #expect(RecordingSink.replayed(sink.entries) == accounts.state().sorted)
    }
}

/// A sink that keeps all changes, and puts them together again in any order.
final class RecordingSink: AccountChangeSink, Sendable {
    enum Entry: Sendable {
        case account(AccountRow)
        case session(SessionRow)
        case end(TokenHash)
        case endOfAll(UInt64, generation: UInt64)
    }

    private let kept = Locked<[Entry]>([])

    var entries: [Entry] { kept.withLock { $0 } }

    func append(_ account: AccountRow) { keep(.account(account)) }
    func append(_ session: SessionRow) { keep(.session(session)) }
    func append(endOf session: TokenHash) { keep(.end(session)) }
    func append(endOfSessionsOf userID: UInt64, generation: UInt64) {
        keep(.endOfAll(userID, generation: generation))
    }

    private func keep(_ entry: Entry) { kept.withLock { $0.append(entry) } }

    /// The state that the entries leave in the order of a replay, by the rules of AccountChangeSink.
    static func replayed(_ entries: [Entry]) -> AccountsState {
        var accounts: [UInt64: AccountRow] = [:]
        var sessions: [TokenHash: SessionRow] = [:]
        var ended: Set<TokenHash> = []
        var state = AccountsState()
        for entry in entries {
            switch entry {
            case .account(let row):
                if row.version >= accounts[row.id]?.version ?? 0 { accounts[row.id] = row }
            case .session(let row):
                let time = sessions[row.tokenHash]?.expireTimeMilliseconds ?? .min
                if row.expireTimeMilliseconds > time { sessions[row.tokenHash] = row }
            case .end(let hash): ended.insert(hash)
            case .endOfAll(let id, let generation):
                state.generations[id] = max(state.generations[id] ?? 0, generation)
            }
        }
        state.accounts = Array(accounts.values)
        // A reset that has ended with its generation has an end of its own, as a session has.
        state.sessions = sessions.values.filter { !ended.contains($0.tokenHash) }
        return state.sorted
    }
}

extension AccountsState {
    /// The same state with its rows in one order.
    var sorted: AccountsState {
        var state = self
        state.accounts.sort { $0.id < $1.id }
        state.sessions.sort { $0.tokenHash.bytes.lexicographicallyPrecedes($1.tokenHash.bytes) }
        return state
    }
}
