import FeedConcurrency
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// What a watch finds at made-up times, over loops that run or hang.
@Suite(.timeLimit(.minutes(1)))
struct StallWatchTests {
    private let stalls = Stalls(limit: .seconds(5))
    private let news = Locked<[Stalls.News]>([])
    private let wait = Locked<Duration?>(nil)
    private let others = Locked<[Stalls.Subject: Duration]>([:])
    private let stalledCount = Locked(0)

    private func watch(over loops: [LoopMailbox]) -> StallWatch {
        StallWatch(
            over: loops,
            stalls,
            commitWait: { [wait] in wait.withLock { $0 } },
            others: { [others] subject in others.withLock { $0[subject] } },
            report: { [news] one in news.withLock { $0.append(one) } },
            commitStalled: { [stalledCount] in stalledCount.withLock { $0 += 1 } }
        )
    }

    /// Looks four times a second, from one made-up time to another.
    private func look(_ watch: StallWatch, from first: Double, to last: Double) {
        for quarter in Int(first * 4)...Int(last * 4) {
            watch.look(at: MonotonicInstant(nanoseconds: UInt64(quarter) * 250_000_000))
        }
    }

    @Test("a commit that stands still is said once, is over the limit in time, and its end is said")
    func noticesACommit() {
        let watch = watch(over: [])
        let found = [0.0, 1.9, 2, 3, 4.5, 4.8, 60].map { seconds in
            wait.withLock { $0 = .milliseconds(Int(seconds * 1000)) }
            watch.look(at: MonotonicInstant(nanoseconds: UInt64(seconds * 1e9)))
            return stalls.isCommitStalled
        }
        // The last pause is the watch's own, and says nothing; the next look does.
        #expect(found == [false, false, false, false, false, true, true])
        #expect(stalledCount.withLock { $0 } == 1)
        #expect(stalls.overLimit.map(\.subject) == [.commit])
        stalls.commitEnded()
        #expect(!stalls.isCommitStalled && stalls.overLimit.isEmpty)
        wait.withLock { $0 = nil }
        watch.look(at: MonotonicInstant(nanoseconds: 60_250_000_000))
        #expect(stalls.overLimit.isEmpty)
        #expect(
            news.withLock { $0 } == [
                .stands(.commit, .seconds(2)), .goesOn(.commit, after: .milliseconds(4_800)),
            ]
        )
    }

    @Test(
        "a checkpoint or a backup that hangs is said after 10 s, and no call is refused for it",
        arguments: [Stalls.Subject.checkpoint, .backup]
    )
    func noticesWhatNoCallWaitsFor(_ subject: Stalls.Subject) {
        let watch = watch(over: [])
        for seconds in 0...60 {
            others.withLock { $0[subject] = .seconds(seconds) }
            watch.look(at: MonotonicInstant(nanoseconds: UInt64(seconds) * 1_000_000_000))
        }
        #expect(stalls.times == [subject: .seconds(60)])
        #expect(stalls.overLimit.isEmpty && stalledCount.withLock { $0 } == 0)
        others.withLock { $0 = [:] }
        watch.look(at: MonotonicInstant(nanoseconds: 61_000_000_000))
        #expect(stalls.times.isEmpty)
        #expect(
            news.withLock { $0 } == [
                .stands(subject, .seconds(10)), .goesOn(subject, after: .seconds(60)),
            ]
        )
    }

    @Test("a loop that hangs is found, and those beside it turn")
    func noticesALoop() async throws {
        let threads = try (0..<2).map { index in
            try EventLoopThread(
                name: "loop-\(index)",
                configuration: TransportConfiguration(),
                budget: BufferBudget()
            ) { _ in }
        }
        try await offload {
            defer {
                for thread in threads {
                    thread.stop()
                    thread.join()
                }
            }
            let watch = watch(over: threads.map(\.mailbox))
            let (hangs, permit, isDone) = (Semaphore(), Semaphore(), Semaphore())
            threads[1].mailbox.post { _ in
                hangs.signal()
                permit.wait()
            }
            hangs.wait()
            for quarter in 0...24 {
                look(watch, from: Double(quarter) / 4, to: Double(quarter) / 4)
                // The loop that turns answers before the next look.
                threads[0].mailbox.post { _ in isDone.signal() }
                isDone.wait()
            }
            #expect(stalls.overLimit.map(\.subject) == [.loop(1)])
            #expect(stalls.overLimit.map(\.time) == [.seconds(6)])
            permit.signal()
            threads[1].mailbox.post { _ in isDone.signal() }
            isDone.wait()
            look(watch, from: 6.25, to: 6.25)
            #expect(stalls.times.isEmpty)
            #expect(
                news.withLock { $0 } == [
                    .stands(.loop(1), .seconds(2)), .goesOn(.loop(1), after: .seconds(6)),
                ]
            )
        }
    }

    @Test("a process that was paused takes its own pause for no stall")
    func forgivesAPause() async throws {
        let thread = try EventLoopThread(
            name: "loop",
            configuration: TransportConfiguration(),
            budget: BufferBudget()
        ) { _ in }
        try await offload {
            defer {
                thread.stop()
                thread.join()
            }
            let (hangs, permit) = (Semaphore(), Semaphore())
            thread.mailbox.post { _ in
                hangs.signal()
                permit.wait()
            }
            hangs.wait()
            defer { permit.signal() }
            let watch = watch(over: [thread.mailbox])
            look(watch, from: 0, to: 1)
            wait.withLock { $0 = .seconds(100) }
            look(watch, from: 101, to: 101)
            #expect(news.withLock { $0 }.isEmpty)
            #expect(stalls.times.isEmpty && !stalls.isCommitStalled)
        }
    }
}
