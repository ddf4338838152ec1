import FeedClient
import FeedConcurrency
import FeedProto
import Testing

/// Calls whose sequences their caller keeps, on a session of one connection.
struct SessionNumberedTests {
    private static func opened() -> SessionHarness {
        var harness = SessionHarness { $0.reconnects = false }
        harness.open()
        harness.connect()
        return harness
    }

    @Test func aCallKeepsTheSequenceOfItsCaller() {
        var harness = Self.opened()
        harness.submit(1, sequence: 17, mayHaveLeft: false)
        harness.submit(2, sequence: 18, mayHaveLeft: true)
        #expect(harness.sent.map(\.call.sequence) == [17, 18])
    }

    @Test func theEndOfTheConnectionIsTheEndOfTheSession() {
        var harness = Self.opened()
        harness.hasRoom = false
        harness.submit(1, sequence: 17, mayHaveLeft: true)
        harness.submit(2, sequence: 18, mayHaveLeft: false)
        harness.hasRoom = true
        harness.run()
        harness.hasRoom = false
        harness.submit(3, sequence: 19, mayHaveLeft: true)
        harness.submit(4, sequence: 20, mayHaveLeft: false)
        harness.lose()
        // What has left, now or in an earlier process, may have been executed.
        #expect(harness.error(1)?.effect == .unknown)
        #expect(harness.error(2)?.effect == .unknown)
        #expect(harness.error(3)?.effect == .unknown)
        #expect(harness.error(4) == .closed)
        harness.submit(5)
        #expect(harness.error(5) == .closed)
        harness.pass(100_000)
        #expect(harness.demands.last == .finish)
        #expect(harness.demands.count { $0 == .connect } == 1)
    }
}

extension SessionHarness {
    fileprivate mutating func submit(_ caller: Int, sequence: UInt64, mayHaveLeft: Bool) {
        let call = Session.Call(
            caller: caller,
            request: Self.vote,
            timeout: .seconds(10),
            deadline: time.advanced(by: .seconds(10))
        )
        session.submit(
            call.numbered(sequence, mayHaveLeft: mayHaveLeft),
            token: UInt64(caller)
        )
        run()
    }
}
