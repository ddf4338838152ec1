import FeedConcurrency
import FeedTestSupport
import FeedTransport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventLoopTests {
    /// Runs `body` on a loop of its own until the loop is stopped.
    private func withLoop(
        measuresIdleTime: Bool = false,
        _ body: @escaping @Sendable (EventLoop) -> Void
    ) async throws {
        var configuration = TransportConfiguration()
        configuration.measuresIdleTime = measuresIdleTime
        // Only a test's own work wakes its loop.
        configuration.sweepInterval = .seconds(3_600)
        let thread = try EventLoopThread(
            name: "loop",
            configuration: configuration,
            budget: BufferBudget(),
            start: body
        )
        try await offload { thread.join() }
    }

    @Test func firesTimersInTheOrderOfTheirDelays() async throws {
        let fired = Recorder<Int>()
        try await withLoop { loop in
            for delay in [30, 1, 20] {
                _ = try? loop.addTimer(after: .milliseconds(delay)) {
                    fired.record(delay)
                    if delay == 30 { loop.stop() }
                }
            }
        }
        #expect(fired.events == [1, 20, 30])
    }

    @Test func repeatsATimerUntilItIsCancelled() async throws {
        let fired = Recorder<Int>()
        try await withLoop { loop in
            var count = 0
            var timer: LoopTimer?
            timer = try? loop.addTimer(every: .milliseconds(1)) {
                count += 1
                fired.record(count)
                guard count == 3 else { return }
                timer?.cancel()
                _ = try? loop.addTimer(after: .milliseconds(10)) { loop.stop() }
            }
        }
        #expect(fired.events == [1, 2, 3])
    }

    /// A context refers to its loop, as a program's objects do.
    private final class Context {
        let loop: EventLoop

        init(_ loop: EventLoop) { self.loop = loop }
    }

    @Test func letsGoOfItsContextAtItsEnd() throws {
        weak var context: Context?
        do {
            let loop = try EventLoop(configuration: .init(), budget: BufferBudget())
            let made = Context(loop)
            loop.context = made
            context = made
            loop.mailbox.post { $0.stop() }
            loop.run()
        }
        #expect(context == nil)
    }

    @Test func putsWorkOffUntilOthersHadTheirTurn() async throws {
        let done = Recorder<String>()
        try await withLoop { loop in
            loop.mailbox.post { loop in
                loop.putOff {
                    done.record("first")
                    // Arrives in the wait between the two steps.
                    loop.mailbox.post { _ in done.record("other") }
                    loop.putOff {
                        done.record("second")
                        loop.stop()
                    }
                }
                done.record("now")
            }
        }
        #expect(done.events == ["now", "first", "other", "second"])
    }

    @Test func readsItsClockOnceATurn() async throws {
        let instants = Recorder<MonotonicInstant>()
        try await withLoop { loop in
            let first = loop.now
            while MonotonicInstant.now <= first {}
            instants.record(first)
            instants.record(loop.now)
            loop.mailbox.post { loop in
                instants.record(loop.now)
                loop.stop()
            }
        }
        #expect(instants.events[0] == instants.events[1])
        #expect(instants.events[2] > instants.events[1])
    }

    @Test func sumsTheTimeItSleeps() async throws {
        let idle = Recorder<Duration>()
        let start = MonotonicInstant.now
        try await withLoop(measuresIdleTime: true) { loop in
            // A busy machine may let one timer be due before the loop sleeps, but not all.
            _ = try? loop.addTimer(every: .milliseconds(2)) {
                guard loop.idleTime > .zero else { return }
                idle.record(loop.idleTime)
                loop.stop()
            }
        }
        let elapsed = MonotonicInstant.now.duration(since: start)
        #expect(try await idle.next() <= elapsed)
    }

    @Test func sumsNoSleepUnlessItIsAskedTo() async throws {
        let idle = Recorder<Duration>()
        try await withLoop { loop in
            _ = try? loop.addTimer(every: .milliseconds(2)) {
                idle.record(loop.idleTime)
                if idle.events.count == 10 { loop.stop() }
            }
        }
        #expect(idle.events == Array(repeating: .zero, count: 10))
    }

    @Test func hearsSignals() async throws {
        let heard = Recorder<Int32>()
        try await withLoop { loop in
            try? loop.onSignal(SIGUSR2) {
                heard.record(SIGUSR2)
                loop.stop()
            }
            kill(getpid(), SIGUSR2)
        }
        #expect(heard.events == [SIGUSR2])
    }

    @Test func namesItsThreadAndFinishesOnce() async throws {
        let events = Recorder<String>()
        let thread = try EventLoopThread(
            name: "a-name-of-more-than-15-bytes",
            configuration: TransportConfiguration(),
            budget: BufferBudget()
        ) { _ in events.record("start") }
        thread.whenFinished { events.record("finished") }
        thread.stop()
        try await offload {
            thread.join()
            thread.join()
        }
        thread.whenFinished { events.record("late") }
        #expect(events.events == ["start", "finished", "late"])
        #expect(thread.name == "a-name-of-more-")
    }

    @Test func letsEveryJoinWaitForTheEnd() async throws {
        let events = Recorder<String>()
        let thread = try EventLoopThread(
            name: "joined",
            configuration: TransportConfiguration(),
            budget: BufferBudget()
        ) { _ in }
        thread.whenFinished { events.record("finished") }
        let joining = Recorder<Void>()
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    try await offload {
                        joining.record(())
                        thread.join()
                        events.record("joined")
                    }
                }
            }
            for _ in 0..<8 { try await joining.next() }
            // Time for a call to return that should wait.
            thread.mailbox.post { loop in
                _ = try? loop.addTimer(after: .milliseconds(20)) { loop.stop() }
            }
            try await group.waitForAll()
        }
        #expect(events.events == ["finished"] + Array(repeating: "joined", count: 8))
    }

    @Test func closesCleanlyWithoutEverHavingWorked() throws {
        let loop = try EventLoop(
            configuration: TransportConfiguration(),
            budget: BufferBudget()
        )
        loop.stop()
        loop.run()
        #expect(!loop.mailbox.post { _ in })
    }
}
