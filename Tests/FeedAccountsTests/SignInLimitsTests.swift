import FeedAccounts
import FeedConcurrency
import FeedTestSupport
import Testing

@Suite struct SignInLimitsTests {
    private final class Clock: Sendable {
        private let nanoseconds = Locked<UInt64>(1_000_000_000_000)
        var now: MonotonicInstant {
            MonotonicInstant(nanoseconds: nanoseconds.withLock { $0 })
        }
        func advance(_ duration: Duration) {
            nanoseconds.withLock { value in
                value = MonotonicInstant(nanoseconds: value).advanced(by: duration).nanoseconds
            }
        }
    }

    private let clock = Clock()
    private let limits: SignInLimits<Int>

    init() {
        let clock = clock
        limits = SignInLimits(AccountLimits()) { clock.now }
    }

    private func begin(_ email: String, from peer: Int?) throws -> SignInLimits<Int>.Decision {
        limits.begin(try #require(EmailAddress(email)), from: peer)
    }

    private func wait(_ decision: SignInLimits<Int>.Decision) -> Duration? {
        if case .wait(let duration) = decision { duration } else { nil }
    }

    /// Begins attempts that may create accounts; the time to wait where one was refused.
    private func create(_ numbers: Range<Int>, from peer: Int?, created: Bool) throws -> Duration? {
        for number in numbers {
            let email = try #require(EmailAddress("\(number)@x"))
            switch limits.begin(email, from: peer, mayCreate: true) {
            case .allowed(let attempt): limits.withdraw(attempt, created: created)
            case .wait(let wait), .waitToCreate(let wait): return wait
            }
        }
        return nil
    }

    @Test func anEMailHasSixFailuresAMinute() throws {
        for peer in 0..<6 { #expect(wait(try begin("a@x", from: peer)) == nil) }
        clock.advance(.seconds(20))
        #expect(wait(try begin("A@x", from: 100)) == .seconds(40))
        #expect(wait(try begin("b@x", from: 100)) == nil)
        #expect(limits.refusedCount == 1)
        clock.advance(.seconds(40))
        #expect(wait(try begin("a@x", from: 100)) == nil)
    }

    @Test func aPeerHasSixFailuresAMinute() throws {
        for number in 0..<6 { #expect(wait(try begin("\(number)@x", from: 7)) == nil) }
        #expect(wait(try begin("fresh@x", from: 7)) == .seconds(60))
        #expect(wait(try begin("fresh@x", from: 8)) == nil)
    }

    /// A service acts for many people, so only e-mails are counted for it.
    @Test func aServiceIsNoPeer() throws {
        for number in 0..<50 { #expect(wait(try begin("\(number)@x", from: nil)) == nil) }
        for _ in 0..<5 { #expect(wait(try begin("0@x", from: nil)) == nil) }
        #expect(wait(try begin("0@x", from: nil)) != nil)
    }

    /// In no minute are there more than six, also where they are spread.
    @Test func theWindowSlides() throws {
        var allowed: [Int] = []
        for second in 0..<240 {
            if wait(try begin("a@x", from: nil)) == nil { allowed.append(second) }
            clock.advance(.seconds(1))
        }
        #expect(allowed.count == 24)
        for (first, seventh) in zip(allowed, allowed.dropFirst(6)) {
            #expect(seventh - first >= 60)
        }
    }

    @Test func successesAreNoFailures() throws {
        for _ in 0..<100 {
            guard case .allowed(let attempt) = try begin("a@x", from: 7)
            else { throw Unexpected("An attempt was refused.") }
            limits.withdraw(attempt)
        }
        #expect(limits.refusedCount == 0)
    }

    /// Attempts that are under way at the same time count, or many at once would be no failures.
    @Test func attemptsUnderWayCount() throws {
        for _ in 0..<6 { #expect(wait(try begin("a@x", from: nil)) == nil) }
        #expect(wait(try begin("a@x", from: nil)) != nil)
    }

    @Test func aPeerCreatesTwentyAccountsAnHour() throws {
        #expect(try create(0..<20, from: 7, created: true) == nil)
        clock.advance(.seconds(600))
        #expect(try create(20..<21, from: 7, created: true) == .seconds(3000))
        // A person with an account still signs in; other peers and services create accounts.
        #expect(wait(try begin("0@x", from: 7)) == nil)
        #expect(try create(20..<21, from: 8, created: true) == nil)
        #expect(try create(21..<100, from: nil, created: true) == nil)
        clock.advance(.seconds(3000))
        #expect(try create(100..<120, from: 7, created: true) == nil)
        #expect(try create(120..<121, from: 7, created: true) != nil)
    }

    /// A sign-up that fails takes nothing from the limit of accounts.
    @Test func failedCreationsAreNoCreations() throws {
        #expect(try create(0..<50, from: 7, created: false) == nil)
        #expect(try create(0..<20, from: 7, created: true) == nil)
        #expect(try create(20..<21, from: 7, created: true) != nil)
    }

    /// A host signs in to its own account with the right password again and again.
    @Test func refundedAttemptsPushOutNoOthers() {
        var counts = RecentCounts<Int>(limit: 2, window: .seconds(60), maximumKeyCount: 4)
        let now = clock.now
        for _ in 0..<2 { counts.begin(0, at: now) }
        for key in 1..<100 {
            counts.begin(key, at: now)
            counts.withdraw(key, begunAt: now)
        }
        #expect(counts.wait(of: 0, at: now) == .seconds(60))
        #expect(counts.keyCount == 1)
    }

    @Test func keysThatAreMadeUpPushOutNoKeyAtItsLimit() {
        var counts = RecentCounts<Int>(limit: 6, window: .seconds(60), maximumKeyCount: 64)
        let now = clock.now
        for _ in 0..<6 { counts.begin(0, at: now) }
        for key in 1..<10_000 { counts.begin(key, at: now) }
        #expect(counts.wait(of: 0, at: now) == .seconds(60))
        #expect(counts.keyCount == 64)
        // Where all are at their limit, one has to go; one whose attempts are over goes first.
        clock.advance(.seconds(60))
        for key in 20_000..<20_063 { for _ in 0..<6 { counts.begin(key, at: clock.now) } }
        #expect((20_000..<20_063).allSatisfy { counts.wait(of: $0, at: clock.now) != nil })
    }

    /// Places change when a key is forgotten: each key keeps its own attempts.
    @Test func keysKeepTheirAttempts() {
        var counts = RecentCounts<Int>(limit: 3, window: .seconds(60), maximumKeyCount: 1_000)
        var random = SeededGenerator(seed: 1)
        var model: [Int: Int] = [:]
        let now = clock.now
        for _ in 0..<5_000 {
            let key = Int.random(in: 0..<100, using: &random)
            if random.oneIn(2) {
                counts.begin(key, at: now)
                model[key, default: 0] += 1
            } else {
                counts.withdraw(key, begunAt: now)
                model[key] = max(0, (model[key] ?? 0) - 1)
            }
            #expect((counts.wait(of: key, at: now) != nil) == ((model[key] ?? 0) >= 3))
            #expect(counts.keyCount == model.values.count { $0 > 0 })
        }
    }

    @Test func theTableIsBounded() {
        var counts = RecentCounts<Int>(limit: 6, window: .seconds(60), maximumKeyCount: 64)
        let now = clock.now
        for key in 0..<10_000 { counts.begin(key, at: now) }
        #expect(counts.keyCount <= 64)
        #expect(counts.wait(of: 9_999, at: now) == nil)
        for _ in 0..<5 { counts.begin(9_999, at: now) }
        #expect(counts.wait(of: 9_999, at: now) == .seconds(60))
    }
}
