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
        let thread = try EventLoopThread(configuration, start: body)
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
        let thread = try EventLoopThread { _ in }
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
        let loop = try EventLoop(configuration: TransportConfiguration(), budget: BufferBudget())
        loop.stop()
        loop.run()
        #expect(!loop.mailbox.post { _ in })
    }
}

@Suite(.timeLimit(.minutes(10))) struct LoopMailboxTests {
    private static func thread() throws -> EventLoopThread { try EventLoopThread { _ in } }

    @Test func runsTheWorkOfManyThreadsInTheOrderOfEach() async throws {
        let thread = try Self.thread()
        let order = Recorder<Int>()
        let perThread = 2_000
        let posters = 6
        let offloads = (0..<posters).map { poster in
            Task {
                try await offload {
                    for index in 0..<perThread {
                        thread.mailbox.post { _ in order.record(poster * perThread + index) }
                    }
                }
            }
        }
        for task in offloads { try await task.value }
        thread.stop()
        try await offload { thread.join() }
        let all = order.events
        #expect(all.count == posters * perThread)
        for poster in 0..<posters {
            let range = poster * perThread..<(poster + 1) * perThread
            #expect(all.filter(range.contains) == Array(range))
        }
    }

    @Test func runsEverythingItTookBeforeTheStopAndRefusesTheRest() async throws {
        let thread = try Self.thread()
        let ran = Recorder<Void>()
        let taken = Recorder<Void>()
        let posting = Task {
            try await offload {
                while thread.mailbox.post({ _ in ran.record(()) }) { taken.record(()) }
            }
        }
        for _ in 0..<100 { try await taken.next() }
        thread.stop()
        try await posting.value
        try await offload { thread.join() }
        #expect(ran.events.count == taken.events.count)
        #expect(!thread.mailbox.post { _ in Issue.record("A stopped loop ran work.") })
    }

    @Test func runsWhatItTookInTheIterationOfTheStop() async throws {
        let thread = try Self.thread()
        let ran = Recorder<Int>()
        thread.mailbox.post { loop in
            for index in 0..<3 { loop.mailbox.post { _ in ran.record(index) } }
            loop.stop()
        }
        try await offload { thread.join() }
        #expect(ran.events == [0, 1, 2])
    }

    @Test func reportsToWorkOfAStoppingLoopThatNothingCanStart() async throws {
        let thread = try Self.thread()
        let errors = Recorder<TransportError?>()
        thread.mailbox.post { loop in
            loop.stop()
            do throws(TransportError) {
                try loop.addTimer(after: .zero) {}
                errors.record(nil)
            } catch {
                errors.record(error)
            }
        }
        #expect(try await errors.next() == .loopStopped)
        try await offload { thread.join() }
    }
}

@Suite(.timeLimit(.minutes(10))) struct PreciseTimerTests {
    /// Runs `body` on a loop of its own until the loop is stopped.
    private func withLoop(_ body: @escaping @Sendable (EventLoop) -> Void) async throws {
        let thread = try EventLoopThread(start: body)
        try await offload { thread.join() }
    }

    @Test func firesAtOrAfterEachInstantItIsArmedFor() async throws {
        let fired = Recorder<(planned: MonotonicInstant, actual: MonotonicInstant)>()
        try await withLoop { loop in
            var planned = MonotonicInstant.now.advanced(by: .microseconds(300))
            var count = 0
            var timer: PreciseTimer?
            timer = try? loop.addPreciseTimer {
                fired.record((planned, MonotonicInstant.now))
                count += 1
                guard count < 200 else {
                    loop.stop()
                    return
                }
                planned = planned.advanced(by: .microseconds(50))
                timer?.arm(at: planned)
            }
            timer?.arm(at: planned)
        }
        #expect(fired.events.count == 200)
        for (planned, actual) in fired.events { #expect(actual >= planned) }
    }

    @Test func firesOnceAtOnceForAPastInstant() async throws {
        let fired = Recorder<Int>()
        try await withLoop { loop in
            let timer = try? loop.addPreciseTimer {
                fired.record(1)
                // Time to fire again, which it must not.
                _ = try? loop.addTimer(after: .milliseconds(10)) { loop.stop() }
            }
            timer?.arm(at: MonotonicInstant(nanoseconds: 0))
        }
        #expect(fired.events == [1])
    }

    @Test func forgetsTheInstantBeforeTheLast() async throws {
        let fired = Recorder<MonotonicInstant>()
        let start = MonotonicInstant.now
        try await withLoop { loop in
            let timer = try? loop.addPreciseTimer {
                fired.record(MonotonicInstant.now)
                loop.stop()
            }
            timer?.arm(at: start.advanced(by: .microseconds(10)))
            timer?.arm(at: start.advanced(by: .milliseconds(30)))
        }
        #expect(fired.events.count == 1)
        #expect(fired.events[0] >= start.advanced(by: .milliseconds(30)))
    }

    /// Runs two timers that expire before the same wait; the one that fires first gets the
    /// other, which the wait has seen expire.
    private func withExpiredPair(
        _ fired: Recorder<MonotonicInstant>,
        _ first: @escaping @Sendable (EventLoop, PreciseTimer?) -> Void
    ) async throws {
        try await withLoop { loop in
            var timers: [PreciseTimer?] = []
            for index in 0..<2 {
                let timer = try? loop.addPreciseTimer {
                    fired.record(MonotonicInstant.now)
                    guard fired.events.count == 1 else { return loop.stop() }
                    first(loop, timers[1 - index])
                }
                timers.append(timer)
            }
            for timer in timers { timer?.arm(at: MonotonicInstant(nanoseconds: 0)) }
        }
    }

    @Test func keepsTheInstantItIsArmedForAfterItExpired() async throws {
        let fired = Recorder<MonotonicInstant>()
        let later = MonotonicInstant.now.advanced(by: .milliseconds(50))
        try await withExpiredPair(fired) { _, other in other?.arm(at: later) }
        #expect(fired.events.count == 2)
        #expect(fired.events[1] >= later)
    }

    @Test func doesNotFireWhenDisarmedAfterItExpired() async throws {
        let fired = Recorder<MonotonicInstant>()
        try await withExpiredPair(fired) { loop, other in
            other?.disarm()
            _ = try? loop.addTimer(after: .milliseconds(10)) { loop.stop() }
        }
        #expect(fired.events.count == 1)
    }

    @Test func firesNoMoreOnceDisarmedOrCancelled() async throws {
        let fired = Recorder<String>()
        try await withLoop { loop in
            let soon = MonotonicInstant.now.advanced(by: .milliseconds(2))
            let disarmed = try? loop.addPreciseTimer { fired.record("disarmed") }
            disarmed?.arm(at: soon)
            disarmed?.disarm()
            let cancelled = try? loop.addPreciseTimer { fired.record("cancelled") }
            cancelled?.arm(at: soon)
            cancelled?.cancel()
            cancelled?.arm(at: soon)
            _ = try? loop.addTimer(after: .milliseconds(20)) { loop.stop() }
        }
        #expect(fired.events.isEmpty)
    }

    @Test func measuresDurationsBothWays() {
        let early = MonotonicInstant(nanoseconds: 1_000)
        let late = early.advanced(by: .microseconds(5))
        #expect(late.nanoseconds == 6_000)
        #expect(late.duration(since: early) == .microseconds(5))
        #expect(early.duration(since: late) == .microseconds(-5))
        #expect(late.advanced(by: .microseconds(-5)) == early)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ManualClockTests {
    /// Runs `start` on a loop of its own, whose clock `body` moves.
    private func withLoop(
        _ start: @escaping @Sendable (EventLoop) -> Void,
        _ body: (ManualClock, LoopMailbox) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        var configuration = TransportConfiguration()
        configuration.clock = clock
        let thread = try EventLoopThread(configuration, start: start)
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
