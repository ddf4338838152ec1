import FeedConcurrency
import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManualClockTests {
    /// Runs `start` on a loop of its own, whose clock `body` moves.
    private func withLoop(
        _ start: @escaping @Sendable (EventLoop) -> Void,
        _ body: (ManualClock, LoopMailbox) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        var configuration = TransportConfiguration()
        configuration.clock = clock
        let thread = try EventLoopThread(
            name: "loop",
            configuration: configuration,
            budget: BufferBudget(),
            start: start
        )
        try await body(clock, thread.mailbox)
        thread.stop()
        try await offload { thread.join() }
    }

    @Test func firesWhatIsDueInTheOrderOfTheInstants() async throws {
        let fired = Recorder<String>()
        try await withLoop { loop in
            let name = { (name: String) in
                fired.record("\(name) at \(loop.now.nanoseconds / 1_000_000)")
            }
            _ = try? loop.addTimer(after: .milliseconds(30)) { name("last") }
            _ = try? loop.addTimer(every: .milliseconds(10)) { name("tick") }
            _ = try? loop.addTimer(after: .milliseconds(31)) { name("never") }
        } _: { clock, mailbox in
            clock.advance(by: .milliseconds(9))
            mailbox.post { fired.record("moved to \($0.now.nanoseconds / 1_000_000)") }
            clock.advance(by: .milliseconds(21))
            mailbox.post { fired.record("moved to \($0.now.nanoseconds / 1_000_000)") }
            while try await fired.next() != "moved to 30" {}
        }
        #expect(
            fired.events == [
                "moved to 9", "tick at 10", "tick at 20", "last at 30", "tick at 30", "moved to 30",
            ]
        )
    }

    @Test func firesNothingThatWasCancelled() async throws {
        let fired = Recorder<Int>()
        try await withLoop { loop in
            var count = 0
            var timer: LoopTimer?
            timer = try? loop.addTimer(every: .seconds(1)) {
                count += 1
                fired.record(count)
                if count == 3 { timer?.cancel() }
            }
        } _: { clock, mailbox in
            clock.advance(by: .seconds(60))
            mailbox.post { _ in fired.record(0) }
            while try await fired.next() != 0 {}
        }
        #expect(fired.events == [1, 2, 3, 0])
    }
}
