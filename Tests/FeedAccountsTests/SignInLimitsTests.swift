import FeedAccounts
import FeedConcurrency
import FeedTestSupport
import Testing

@Suite struct SignInLimitsTests {
    /// A clock that a test moves.
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
            guard case .allowed(let attempt) = try begin("a@x", from: 7) else {
                Issue.record("An attempt was refused.")
                return
            }
            limits.withdraw(attempt)
        }
        #expect(limits.refusedCount == 0)
    }

    /// Attempts that are under way at the same time count, or many at once would be no failures.
    @Test func attemptsUnderWayCount() throws {
        for _ in 0..<6 { #expect(wait(try begin("a@x", from: nil)) == nil) }
        #expect(wait(try begin("a@x", from: nil)) != nil)
    }

    @Test func theTableIsBounded() {
        var counts = FailureCounts<Int>(limit: 6, window: .seconds(60), maximumKeyCount: 64)
        let now = clock.now
        for key in 0..<10_000 { counts.begin(key, at: now) }
        #expect(counts.keyCount <= 64)
        #expect(counts.wait(of: 9_999, at: now) == nil)
        for _ in 0..<5 { counts.begin(9_999, at: now) }
        #expect(counts.wait(of: 9_999, at: now) == .seconds(60))
    }
}
