import FeedClient
import FeedConcurrency
import Testing

/// When a client pings and when it gives the service up.
struct KeepAliveTests {
    static func at(_ seconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    static func keepAlive() -> KeepAlive {
        KeepAlive(interval: .seconds(30), timeout: .seconds(10), at: at(0))
    }

    @Test func pingsAfterSilence() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(29)) == .nothing)
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
        #expect(keepAlive.check(at: Self.at(31)) == .nothing)
    }

    @Test func anythingHeardAnswersThePing() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
        keepAlive.heard(at: Self.at(39))
        #expect(keepAlive.check(at: Self.at(50)) == .nothing)
        #expect(keepAlive.check(at: Self.at(60)) == .ping)
    }

    @Test func givesUpWhereNothingIsHeard() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
        #expect(keepAlive.check(at: Self.at(39)) == .nothing)
        #expect(keepAlive.check(at: Self.at(40)) == .nothing)
        #expect(keepAlive.check(at: Self.at(42)) == .giveUp)
    }

    @Test("what came while the client itself was held up is read before it gives up")
    func readsBeforeItGivesUp() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
        #expect(keepAlive.check(at: Self.at(600)) == .nothing)
        keepAlive.heard(at: Self.at(600))
        // Its own silence has been long, too.
        #expect(keepAlive.check(at: Self.at(601)) == .ping)
        #expect(keepAlive.check(at: Self.at(611)) == .nothing)
        #expect(keepAlive.check(at: Self.at(612)) == .giveUp)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), .seconds(Int64.max)])
    func takesAnyDuration(_ duration: Duration) {
        var keepAlive = KeepAlive(interval: duration, timeout: duration, at: Self.at(1))
        #expect((Duration.zero...(.seconds(86_400))).contains(keepAlive.checkInterval))
        #expect(keepAlive.check(at: Self.at(1_000_000)) == .ping)
    }

    @Test("talking to a service that never answers is no sign of its life")
    func pingsAlsoWhileSending() {
        var keepAlive = Self.keepAlive()
        keepAlive.sent(at: Self.at(29))
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
    }

    @Test("hearing from the service does not replace a word of ours")
    func pingsAlsoWhileHearing() {
        var keepAlive = Self.keepAlive()
        keepAlive.heard(at: Self.at(29))
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
    }
}
