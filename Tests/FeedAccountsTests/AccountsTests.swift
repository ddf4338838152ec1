import FeedAccounts
import FeedTestSupport
import Testing

@Suite struct AccountsTests {
    private let sink = RecordingSink()
    private let day: Int64 = 86_400_000

    private func email(_ text: String) throws -> EmailAddress { try #require(EmailAddress(text)) }

    private func created(_ text: String, in accounts: Accounts) throws -> AccountRow {
        try accounts.create(
            try email(text),
            displayName: "name of \(text)",
            passwordHash: "hash of \(text)",
            at: 5,
            sink
        )
    }

    @Test func accountsAreFoundByEMailWithoutRegardToCase() throws {
        let accounts = Accounts()
        let row = try created("Ann@Example.org", in: accounts)
        #expect(row.id == 1)
        #expect(row.email == "Ann@Example.org")
        #expect(row.displayName == "name of Ann@Example.org")
        #expect(accounts.account(for: try email("aNN@eXAMPLE.ORG")) == row)
        #expect(accounts.account(1) == row)
        #expect(accounts.account(for: try email("bob@example.org")) == nil)
        #expect(accounts.account(2) == nil)
        #expect(try created("bob@example.org", in: accounts).id == 2)
    }

    @Test func anEMailHasOneAccount() throws {
        let accounts = Accounts()
        _ = try created("ann@example.org", in: accounts)
        #expect(throws: AccountError.emailTaken) { try created("ANN@example.org", in: accounts) }
        #expect(accounts.accountCount == 1)
        #expect(sink.entries.count == 1)
    }

    /// Letters beyond ASCII are not folded, as their folding changes with the version of Unicode.
    @Test func onlyASCIILettersAreFolded() throws {
        #expect(try email("Ärger@Example.org").key == Array("Ärger@example.org".utf8))
        #expect(try email("@[`{Z@x".dropFirst().description).key == Array("[`{z@x".utf8))
    }

    /// Swift takes both texts of each pair for equal: a letter composed and not, and the Kelvin sign.
    @Test(arguments: [
        ("\u{e9}@x", "e\u{301}@x"), ("\u{212a}@x", "K@x"), ("a@\u{2126}", "a@\u{3a9}"),
    ])
    func eMailsAreComparedByteByByte(first: String, second: String) throws {
        try #require(first == second)
        let accounts = Accounts()
        let row = try created(first, in: accounts)
        #expect(accounts.account(for: try email(second)) == nil)
        #expect(try created(second, in: accounts).id == 2)
        #expect(accounts.account(for: try email(first))?.id == row.id)
        let again = Accounts()
        try again.restore(accounts.state())
        #expect(again.account(for: try email(second))?.id == 2)
    }

    @Test(arguments: [
        "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\n", "a\u{7f}@b", "a@b\t",
        String(repeating: "x", count: 253) + "@y",
    ])
    func badEMailsAreNone(text: String) {
        #expect(EmailAddress(text) == nil)
    }

    @Test(arguments: ["a@b", "ä@ö.de", String(repeating: "x", count: 252) + "@y"])
    func goodEMailsAreTaken(text: String) {
        #expect(EmailAddress(text)?.text == text)
    }

    @Test func accountsHaveALimit() throws {
        var limits = AccountLimits()
        limits.maximumAccountCount = 2
        let accounts = Accounts(limits)
        _ = try created("a@x", in: accounts)
        _ = try created("b@x", in: accounts)
        #expect(throws: AccountError.tooManyAccounts(limit: 2)) { try created("c@x", in: accounts) }
        #expect(accounts.accountCount == 2)
    }

    @Test func aSessionLastsThirtyDaysFromItsLastUse() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        let (token, session) = try #require(accounts.beginSession(of: 1, at: 0, sink))
        #expect(session.expireTimeMilliseconds == 30 * day)
        #expect(accounts.session(token.hash, at: 30 * day - 1) == session)
        #expect(accounts.session(token.hash, at: 30 * day) == nil)
        let renewed = try #require(accounts.renew(session, at: 7 * day, sink))
        #expect(renewed.expireTimeMilliseconds == 37 * day)
        #expect(accounts.session(token.hash, at: 37 * day - 1) == renewed)
    }

    /// A use within a day of the last one that was logged costs no log entry.
    @Test func usesAreLoggedOnceADay() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        let (_, session) = try #require(accounts.beginSession(of: 1, at: 0, sink))
        #expect(!accounts.isDue(session, at: day - 1))
        #expect(accounts.isDue(session, at: day))
        let count = sink.entries.count
        let renewed = try #require(accounts.renew(session, at: day, sink))
        #expect(!accounts.isDue(renewed, at: 2 * day - 1))
        #expect(sink.entries.count == count + 1)
        // Another connection with the same session has renewed it.
        #expect(accounts.renew(session, at: day, sink) == renewed)
        #expect(sink.entries.count == count + 1)
    }

    @Test func anEndedSessionStaysEnded() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        let (token, session) = try #require(accounts.beginSession(of: 1, at: 0, sink))
        let (other, _) = try #require(accounts.beginSession(of: 1, at: 0, sink))
        let before = accounts.revocationCount
        accounts.end(session.tokenHash, sink)
        #expect(accounts.revocationCount > before)
        #expect(accounts.session(token.hash, at: 1) == nil)
        #expect(accounts.renew(session, at: 2 * day, sink) == nil)
        #expect(accounts.session(other.hash, at: 1) != nil)
        let count = sink.entries.count
        accounts.end(session.tokenHash, sink)
        #expect(sink.entries.count == count)
    }

    @Test func allSessionsOfAUserEndAtOnce() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        _ = try created("b@x", in: accounts)
        let tokens = try (0..<3).map { _ in
            try #require(accounts.beginSession(of: 1, at: 0, sink)).token
        }
        let others = try #require(accounts.beginSession(of: 2, at: 0, sink)).token
        let before = accounts.revocationCount
        accounts.endAllSessions(of: 1, sink)
        #expect(accounts.revocationCount > before)
        for token in tokens { #expect(accounts.session(token.hash, at: 1) == nil) }
        #expect(accounts.session(others.hash, at: 1) != nil)
        let next = try #require(accounts.beginSession(of: 1, at: 0, sink)).token
        #expect(accounts.session(next.hash, at: 1) != nil)
    }

    @Test func theOldestSessionEndsBeyondTheLimit() throws {
        var limits = AccountLimits()
        limits.maximumSessionsPerUser = 2
        let accounts = Accounts(limits)
        _ = try created("a@x", in: accounts)
        let tokens = try (0..<3).map { time in
            try #require(accounts.beginSession(of: 1, at: time, sink)).token
        }
        #expect(accounts.session(tokens[0].hash, at: 5) == nil)
        #expect(accounts.session(tokens[1].hash, at: 5) != nil)
        #expect(accounts.session(tokens[2].hash, at: 5) != nil)
        #expect(accounts.sessionCount == 2)
    }

    @Test func expiredSessionsAreForgotten() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        for time in 0..<20 { _ = accounts.beginSession(of: 1, at: Int64(time) * day, sink) }
        let removed = (0..<64).reduce(0) { sum, _ in
            sum + accounts.sweep(at: 40 * day, limit: 100, sink)
        }
        #expect(removed == 11)
        #expect(accounts.sessionCount == 9)
        #expect(RecordingSink.replayed(sink.entries) == accounts.state().sorted)
    }

    @Test("a look for expired sessions is bounded, and continues where the last one ended")
    func looksAtSoManySessionsAndNoMore() throws {
        var limits = AccountLimits()
        limits.maximumSessionsPerUser = .max
        let accounts = Accounts(limits)
        _ = try created("a@x", in: accounts)
        // Half of them expire 30 days later, and the others 60.
        for number in 0..<6_400 {
            _ = accounts.beginSession(of: 1, at: number % 2 == 0 ? 0 : 30 * day, sink)
        }
        var counts: [Int] = []
        while accounts.sessionCount > 3_200, counts.count < 10_000 {
            counts.append(accounts.sweep(at: 40 * day, limit: 5, sink))
        }
        // A part has about a hundred sessions, so a look at each of them takes 20 sweeps of the part.
        #expect(counts.allSatisfy { $0 <= 5 })
        #expect((64 * 18..<64 * 40).contains(counts.count), "\(counts.count)")
        #expect(accounts.sessionCount == 3_200)
        #expect(RecordingSink.replayed(sink.entries) == accounts.state().sorted)
    }

    @Test func aChangeRaisesTheVersionAndMayEndTheSessions() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        let token = try #require(accounts.beginSession(of: 1, at: 0, sink)).token
        let reset = try #require(accounts.beginReset(of: 1, at: 0, sink)).token
        let first = accounts.change(1, endsSessions: false, sink) { row in
            row.displayName = "Ann"
            return true
        }
        #expect(first?.version == 1 && accounts.account(1) == first)
        #expect(accounts.session(token.hash, at: 1) != nil)
        #expect(accounts.reset(reset.hash, at: 1) != nil)
        let before = accounts.revocationCount
        let second = accounts.change(1, endsSessions: true, sink) { row in
            row.passwordHash = "another"
            return true
        }
        #expect(second?.version == 2 && accounts.revocationCount > before)
        #expect(accounts.session(token.hash, at: 1) == nil && accounts.sessionCount == 0)
        #expect(accounts.reset(reset.hash, at: 1) == nil)
        let count = sink.entries.count
        #expect(accounts.change(1, endsSessions: true, sink) { _ in false } == nil)
        #expect(accounts.change(9, endsSessions: true, sink) { _ in true } == nil)
        #expect(sink.entries.count == count)
        #expect(RecordingSink.replayed(sink.entries) == accounts.state().sorted)
    }

    /// The password was changed, or the user suspended, while another one's was hashed.
    @Test func aSessionBeginsOnlyWithThePasswordThatWasChecked() throws {
        let accounts = Accounts()
        let row = try created("a@x", in: accounts)
        #expect(accounts.beginSession(of: 1, checked: row.passwordHash, at: 0, sink) != nil)
        _ = accounts.change(1, endsSessions: true, sink) { row in
            row.passwordHash = "another"
            return true
        }
        #expect(accounts.beginSession(of: 1, checked: row.passwordHash, at: 0, sink) == nil)
        #expect(accounts.beginSession(of: 1, checked: "another", at: 0, sink) != nil)
        _ = accounts.change(1, endsSessions: true, sink) { row in
            row.status = .suspended
            return true
        }
        #expect(accounts.beginSession(of: 1, checked: "another", at: 0, sink) == nil)
        #expect(accounts.beginReset(of: 1, at: 0, sink) == nil)
    }

    @Test func anEMailIsFreeOnceItsAccountHasAnother() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        _ = try created("b@x", in: accounts)
        func change(_ id: UInt64, _ text: String, isAllowed: Bool = true) throws -> AccountRow? {
            try accounts.changeEmail(of: id, to: email(text), sink) { _ in isAllowed }
        }
        #expect(throws: AccountError.emailTaken) { try change(1, "B@x") }
        #expect(try change(1, "c@x", isAllowed: false) == nil)
        #expect(try change(9, "c@x") == nil)
        // A refused change has taken nothing.
        #expect(try change(2, "c@x")?.email == "c@x")
        #expect(try change(1, "A@x")?.email == "A@x")
        #expect(accounts.account(for: try email("a@x"))?.version == 1)
        #expect(try change(1, "b@x")?.id == 1)
        #expect(accounts.account(for: try email("a@x")) == nil)
        #expect(try created("a@x", in: accounts).id == 3)
        #expect(RecordingSink.replayed(sink.entries) == accounts.state().sorted)
    }

    @Test func aDeletedAccountLeavesItsNumberAlone() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        let token = try #require(accounts.beginSession(of: 1, at: 0, sink)).token
        let reset = try #require(accounts.beginReset(of: 1, at: 0, sink)).token
        #expect(!accounts.delete(1, erasing: .author, sink) { _ in false })
        #expect(!accounts.delete(2, erasing: .author, sink))
        #expect(accounts.account(1) != nil && accounts.erasures.isEmpty)
        #expect(accounts.delete(1, erasing: .author, sink))
        #expect(try accounts.account(1) == nil && accounts.account(for: email("a@x")) == nil)
        #expect(accounts.session(token.hash, at: 1) == nil && accounts.sessionCount == 0)
        #expect(accounts.reset(reset.hash, at: 1) == nil)
        #expect(accounts.erasures == [1: .author])
        // What began before it ends without effect.
        #expect(accounts.beginSession(of: 1, at: 1, sink) == nil)
        #expect(accounts.beginReset(of: 1, at: 1, sink) == nil)
        #expect(accounts.change(1, endsSessions: true, sink) { _ in true } == nil)
        #expect(try accounts.changeEmail(of: 1, to: email("b@x"), sink) { _ in true } == nil)
        #expect(!accounts.delete(1, erasing: .posts, sink))
        #expect(try created("a@x", in: accounts).id == 2)
        let row = try #require(accounts.state().accounts.first { $0.id == 1 })
        #expect(row.hasNoTexts && row.status == .erasingAuthor && row.version == 1)
        // A start goes on with it.
        let started = Accounts()
        try started.restore(accounts.state())
        #expect(started.erasures == [1: .author] && started.account(1) == nil)
        for accounts in [accounts, started] {
            accounts.endErasure(of: 1, sink)
            #expect(accounts.erasures.isEmpty)
        }
        #expect(accounts.state().accounts.first { $0.id == 1 }?.status == .erasedAuthor)
        #expect(RecordingSink.replayed(sink.entries) == accounts.state().sorted)
    }

    /// It is no session, and no session is one.
    @Test func aResetIsOneToken() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        let session = try #require(accounts.beginSession(of: 1, at: 0, sink))
        let first = try #require(accounts.beginReset(of: 1, at: 0, sink)).token
        let second = try #require(accounts.beginReset(of: 1, at: 0, sink)).token
        #expect(accounts.reset(first.hash, at: 1) == nil)
        #expect(accounts.reset(second.hash, at: 3_599_999)?.userID == 1)
        #expect(accounts.reset(second.hash, at: 3_600_000) == nil)
        #expect(accounts.session(second.hash, at: 1) == nil)
        #expect(accounts.reset(session.token.hash, at: 1) == nil)
        #expect(accounts.sessions(of: 1, at: 1) == [session.session])
        for _ in 0..<40 { _ = accounts.beginReset(of: 1, at: 0, sink) }
        #expect(accounts.session(session.token.hash, at: 1) != nil && accounts.sessionCount == 2)
        for _ in 0..<64 { _ = accounts.sweep(at: day, limit: 100, sink) }
        #expect(accounts.sessionCount == 1)
        #expect(RecordingSink.replayed(sink.entries) == accounts.state().sorted)
    }

    /// It was sent to the old address, which may be somebody else's by now.
    @Test func aResetEndsWithTheEMail() throws {
        let accounts = Accounts()
        _ = try created("a@x", in: accounts)
        _ = try created("b@x", in: accounts)
        let session = try #require(accounts.beginSession(of: 1, at: 0, sink)).token.hash
        let reset = try #require(accounts.beginReset(of: 1, at: 0, sink)).token.hash
        #expect(throws: AccountError.emailTaken) {
            try accounts.changeEmail(of: 1, to: email("b@x"), sink) { _ in true }
        }
        #expect(try accounts.changeEmail(of: 1, to: email("c@x"), sink) { _ in false } == nil)
        #expect(accounts.reset(reset, at: 1) != nil)
        #expect(try accounts.changeEmail(of: 1, to: email("c@x"), sink) { _ in true } != nil)
        #expect(accounts.reset(reset, at: 1) == nil && accounts.session(session, at: 1) != nil)
        #expect(RecordingSink.replayed(sink.entries) == accounts.state().sorted)
    }

    /// A session of no user cannot begin: ids of a service's own users have no account.
    @Test func sessionsAreOfUsers() {
        #expect(Accounts().beginSession(of: 1 << 63 | 5, at: 0, sink) == nil)
    }
}

@Suite struct SessionTokenTests {
    /// BLAKE2b of 32 zero bytes, as other implementations compute it.
    @Test func tokenHashIsBLAKE2b() throws {
        let token = try #require(SessionToken(bytes: [UInt8](repeating: 0, count: 32)))
        #expect(
            hex(token.hash.bytes)
                == "89eb0d6a8a691dae2cd15ed0369931ce0a949ecafa5c3f93f8121833646e15c3"
        )
    }

    @Test(arguments: [0, 1, 31, 33, 1 << 20])
    func tokenOfAnotherLengthIsNone(byteCount: Int) {
        #expect(SessionToken(bytes: [UInt8](repeating: 7, count: byteCount)) == nil)
    }

    @Test func newTokensDiffer() {
        let tokens = (0..<64).map { _ in SessionToken().bytes }
        #expect(Set(tokens).count == 64)
        #expect(tokens.allSatisfy { $0.count == 32 })
    }

    @Test func hashKeepsItsBytes() throws {
        let bytes = (0..<32).map { UInt8($0 * 8 + 1) }
        let hash = try #require(TokenHash(bytes: bytes))
        #expect(hash.bytes == bytes)
        #expect(TokenHash(bytes: Array(bytes.dropLast())) == nil)
        for place in 0..<32 {
            var other = bytes
            other[place] ^= 0x10
            #expect(TokenHash(bytes: other) != hash)
        }
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
