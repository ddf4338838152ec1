import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoopMailboxTests {
    private static func thread() throws -> EventLoopThread {
        try EventLoopThread(
            name: "mailbox",
            configuration: TransportConfiguration(),
            budget: BufferBudget()
        ) { _ in }
    }

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
