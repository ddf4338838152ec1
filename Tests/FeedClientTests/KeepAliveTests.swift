import FeedClient
import FeedTransport
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
        #expect(keepAlive.check(at: Self.at(40)) == .giveUp)
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
