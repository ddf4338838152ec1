import FeedTransport
import Testing

@Suite struct ConnectionDeadlinesTests {
    /// Idle after 10 sweeps, a partial read after 4, a stalled write after 6, a linger after 2.
    static let limits = ConnectionDeadlines.Limits(
        {
            var configuration = TransportConfiguration()
            configuration.sweepInterval = .milliseconds(10)
            configuration.idleTimeout = .milliseconds(100)
            configuration.partialReadTimeout = .milliseconds(35)
            configuration.writeProgressTimeout = .milliseconds(60)
            configuration.lingerTimeout = .milliseconds(20)
            return configuration
        }()
    )

    /// The first sweep from `start` at which a deadline passes, and which one.
    private func firstExpiry(
        of deadlines: ConnectionDeadlines,
        from start: Int
    ) -> (sweep: Int, expiry: ConnectionDeadlines.Expiry)? {
        for sweep in start..<start + 1_000 {
            if let expiry = deadlines.expiry(at: sweep, limits: Self.limits) {
                return (sweep, expiry)
            }
        }
        return nil
    }

    @Test func closesASilentPeerAfterTheLimitAndNotBefore() throws {
        var deadlines = ConnectionDeadlines(at: 5)
        deadlines.received(at: 7)
        let first = try #require(firstExpiry(of: deadlines, from: 7))
        #expect(first == (18, .idle))
    }

    @Test func countsASweepAsOneHoweverLateItComes() {
        // The process was stopped for a minute between sweeps 7 and 8.
        var deadlines = ConnectionDeadlines(at: 7)
        deadlines.waitsForRest(at: 7, afterProgress: true)
        #expect(deadlines.expiry(at: 8, limits: Self.limits) == nil)
    }

    @Test func countsTheRestOfAFrameFromItsFirstByte() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 1, afterProgress: true)
        deadlines.received(at: 3)
        deadlines.waitsForRest(at: 3, afterProgress: false)
        let first = try #require(firstExpiry(of: deadlines, from: 3))
        #expect(first == (6, .partialRead))
    }

    @Test func countsANewFrameAnew() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 1, afterProgress: true)
        deadlines.received(at: 4)
        deadlines.waitsForRest(at: 4, afterProgress: true)
        let first = try #require(firstExpiry(of: deadlines, from: 4))
        #expect(first == (9, .partialRead))
    }

    @Test func countsNoTimeInWhichThePeerIsNotReadFrom() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 1, afterProgress: true)
        for sweep in 2...8 { deadlines.pausesReading(at: sweep) }
        let first = try #require(firstExpiry(of: deadlines, from: 8))
        // Silence is counted all the while.
        #expect(first == (11, .idle))
        deadlines.received(at: 8)
        let second = try #require(firstExpiry(of: deadlines, from: 8))
        #expect(second == (13, .partialRead))
    }

    @Test func aPauseIsNoWaitForAFrame() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.pausesReading(at: 1)
        let first = try #require(firstExpiry(of: deadlines, from: 1))
        #expect(first == (11, .idle))
    }

    @Test func forgetsAFrameThatIsWhole() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 1, afterProgress: true)
        deadlines.waitsForNoRest()
        let first = try #require(firstExpiry(of: deadlines, from: 1))
        #expect(first == (11, .idle))
    }

    @Test func takesAnyChangeOfTheUnsentBytesForProgress() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.observeUnsent(100, at: 1)
        for sweep in 2...20 { deadlines.observeUnsent(100 - sweep, at: sweep) }
        #expect(deadlines.expiry(at: 20, limits: Self.limits) == nil)
        deadlines.observeUnsent(80, at: 21)
        let first = try #require(firstExpiry(of: deadlines, from: 21))
        #expect(first == (27, .writeProgress))
    }

    @Test func startsAnewForBytesAfterAnEmptyQueue() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.observeUnsent(100, at: 1)
        deadlines.observeUnsent(0, at: 6)
        deadlines.observeUnsent(100, at: 7)
        let first = try #require(firstExpiry(of: deadlines, from: 7))
        #expect(first == (14, .writeProgress))
    }

    @Test func takesNoPeerForIdleThatIsNotHeard() {
        var deadlines = ConnectionDeadlines(at: 0)
        for sweep in 1...50 {
            deadlines.observeUnsent(1_000 - sweep, at: sweep)
            #expect(deadlines.expiry(at: sweep, limits: Self.limits) == nil)
        }
    }

    @Test func lingersNoLongerThanItsLimitWhateverThePeerSends() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.lingers(at: 3)
        deadlines.received(at: 5)
        let first = try #require(firstExpiry(of: deadlines, from: 3))
        #expect(first == (6, .linger))
    }

    @Test func knowsOnlyTheConnectLimitUntilOpen() throws {
        var deadlines = ConnectionDeadlines(at: 0, connectLimit: 20)
        let first = try #require(firstExpiry(of: deadlines, from: 0))
        #expect(first == (21, .connect))
        deadlines.opened(at: 15)
        let second = try #require(firstExpiry(of: deadlines, from: 15))
        #expect(second == (26, .idle))
    }

    @Test func waitsForEverWithoutLimits() {
        var configuration = TransportConfiguration()
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        configuration.writeProgressTimeout = nil
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 0, afterProgress: true)
        deadlines.observeUnsent(1, at: 0)
        let limits = ConnectionDeadlines.Limits(configuration)
        #expect(deadlines.expiry(at: 1_000_000, limits: limits) == nil)
    }
}
