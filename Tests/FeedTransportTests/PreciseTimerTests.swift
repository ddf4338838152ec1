import FeedConcurrency
import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct PreciseTimerTests {
    /// Runs `body` on a loop of its own until the loop is stopped.
    private func withLoop(_ body: @escaping @Sendable (EventLoop) -> Void) async throws {
        let thread = try EventLoopThread(
            name: "timer",
            configuration: TransportConfiguration(),
            budget: BufferBudget(),
            start: body
        )
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
        for (planned, actual) in fired.events {
            #expect(actual >= planned)
        }
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
