import Dispatch
import FeedConcurrency
import FeedService
import FeedTestSupport
import FeedTransport
import Foundation
import Logging
import Testing

/// What a supervisor is told, on a real socket.
@Suite(.timeLimit(.minutes(10))) struct SupervisorTests {
    let directory = try? TemporaryDirectory()
    let warnings = Locked<[String]>([])

    /// A supervisor whose warnings are kept.
    private func supervisor(_ environment: [String: String]) -> Supervisor {
        Supervisor(environment: environment) { [warnings] line in
            warnings.withLock { $0.append(line) }
        }
    }

    private func path() throws -> String { try #require(directory).path + "/notify" }

    @Test(
        "each message is one datagram, at a path and at an abstract name",
        arguments: [true, false]
    )
    func sendsEachMessage(isAbstract: Bool) throws {
        let address = isAbstract ? "@feed-test-\(UUID().uuidString)" : try path()
        let receiver = try DatagramReceiver(at: address)
        let supervisor = supervisor(["NOTIFY_SOCKET": address])
        for message in [
            Supervisor.Message.starting("loading: 40 %"), .ready("Serves on 127.0.0.1:1"),
            .reloaded, .alive, .stopping,
        ] {
            supervisor.notify(message)
        }
        #expect(try receiver.receive() == "STATUS=loading: 40 %\nEXTEND_TIMEOUT_USEC=60000000")
        #expect(try receiver.receive() == "READY=1\nSTATUS=Serves on 127.0.0.1:1")
        #expect(try receiver.receive() == "READY=1")
        #expect(try receiver.receive() == "WATCHDOG=1")
        #expect(try receiver.receive() == "STOPPING=1\nSTATUS=Draining")
        #expect(warnings.withLock { $0 }.isEmpty)
    }

    @Test("a reload has its time on the monotonic clock")
    func datesAReload() throws {
        let receiver = try DatagramReceiver(at: path())
        supervisor(["NOTIFY_SOCKET": receiver.address]).notify(.reloading)
        let text = try receiver.receive()
        #expect(text.wholeMatch(of: #/RELOADING=1\nMONOTONIC_USEC=\d+/#) != nil, "\(text)")
    }

    @Test("no socket in the environment: nothing is told, and nothing is said")
    func isSilentWithoutASocket() {
        for environment in [[:], ["NOTIFY_SOCKET": ""], ["WATCHDOG_USEC": "1"]] {
            let supervisor = supervisor(environment)
            supervisor.notify(.alive)
            #expect(supervisor.watchdogInterval == nil)
        }
        #expect(warnings.withLock { $0 }.isEmpty)
    }

    @Test(
        "an address of another kind is left out with one sentence",
        arguments: ["notify", "@", "/" + String(repeating: "a", count: 107), "/a\u{0}b"]
    )
    func refusesOtherAddresses(address: String) throws {
        supervisor(["NOTIFY_SOCKET": address]).notify(.alive)
        let lines = warnings.withLock { $0 }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("NOTIFY_SOCKET: expected a path that begins with /") == true)
    }

    @Test("a supervisor that is gone is named once")
    func warnsOnceOfALostSupervisor() throws {
        let supervisor = supervisor(["NOTIFY_SOCKET": try path()])
        for _ in 0..<3 { supervisor.notify(.alive) }
        supervisor.flush()
        let line =
            "the supervisor could not be told, as by NOTIFY_SOCKET: sendto failed with error 2."
        #expect(warnings.withLock { $0 } == [line])
    }

    @Test(
        "a supervisor that takes nothing holds up nobody, and is named once",
        arguments: [Supervisor.Message.starting("loading"), .ready("Serves"), .reloaded, .alive]
    )
    func doesNotWaitForABusySupervisor(message: Supervisor.Message) throws {
        let receiver = try DatagramReceiver(at: path())
        let supervisor = supervisor(["NOTIFY_SOCKET": receiver.address])
        // More than any queue of the system has room for.
        for _ in 0..<100_000 { supervisor.notify(message) }
        supervisor.notify(.stopping)
        let line =
            "the supervisor could not be told, as by NOTIFY_SOCKET: it takes no messages."
        #expect(warnings.withLock { $0 } == [line])
        #expect(try receiver.receive().contains("=1") || message == .starting("loading"))
    }

    @Test("the interval of the watchdog counts where it is meant for this process")
    func readsTheInterval() throws {
        func interval(_ environment: [String: String]) throws -> Duration? {
            let path = try path()
            return supervisor(environment.merging(["NOTIFY_SOCKET": path]) { $1 }).watchdogInterval
        }
        let process = "\(ProcessInfo.processInfo.processIdentifier)"
        #expect(try interval(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(try interval(["WATCHDOG_USEC": "5", "WATCHDOG_PID": process]) == .microseconds(5))
        #expect(try interval(["WATCHDOG_USEC": "5", "WATCHDOG_PID": "1"]) == nil)
        #expect(try interval([:]) == nil)
        #expect(warnings.withLock { $0 }.isEmpty)
        for text in ["0", "-1", "soon"] {
            #expect(try interval(["WATCHDOG_USEC": text]) == nil)
            let line = "WATCHDOG_USEC: expected a number above 0, got \(text)."
            #expect(warnings.withLock { $0.popLast() } == line)
        }
    }
}

/// What a watch finds at made-up times, over loops that run or hang.
@Suite(.timeLimit(.minutes(1))) struct StallWatchTests {
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

/// A supervisor is told that the service lives only while each loop answers.
@Suite(.timeLimit(.minutes(10))) struct WatchdogTests {
    /// Loops on a clock that stands, and the socket of their supervisor.
    private final class Loops: Sendable {
        let clock = ManualClock()
        let receiver: DatagramReceiver
        let threads: [EventLoopThread]
        private let directory: String

        init(count: Int, _ directory: TemporaryDirectory) throws {
            self.directory = directory.path
            receiver = try DatagramReceiver(at: directory.path + "/notify")
            var configuration = TransportConfiguration()
            configuration.clock = clock
            threads = try (0..<count).map { index in
                try EventLoopThread(
                    name: "loop-\(index)",
                    configuration: configuration,
                    budget: BufferBudget()
                ) { _ in }
            }
        }

        /// A watchdog of ten seconds over all loops.
        func startWatchdog() {
            let environment = ["NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "10000000"]
            let supervisor = Supervisor(environment: environment) { Issue.record("\($0)") }
            let watchdog = Watchdog(over: threads.map(\.mailbox), for: supervisor)
            threads[0].mailbox.post { loop in
                do { try watchdog.start(on: loop) } catch { Issue.record(error) }
            }
            pass(0)
        }

        /// Moves the clock, and waits until a loop has fired what is due and has done what was posted.
        func advance(by duration: Duration, waitingFor index: Int = 0) {
            clock.advance(by: duration)
            // The first turn fires the timers, which post the questions; the second one answers them.
            pass(index)
            pass(index)
        }

        private func pass(_ index: Int) {
            let isDone = DispatchSemaphore(value: 0)
            threads[index].mailbox.post { _ in isDone.signal() }
            isDone.wait()
        }

        /// Waits until the supervisor is told once more that the service lives.
        func expectAlive() throws {
            let text = try receiver.receive()
            #expect(text == "WATCHDOG=1")
        }

        func stop() {
            for thread in threads {
                thread.stop()
                thread.join()
            }
        }
    }

    @Test("does not wait for a loop that has ended, as while the service drains")
    func doesNotWaitForAnEndedLoop() async throws {
        let directory = try TemporaryDirectory()
        let loops = try Loops(count: 2, directory)
        try await offload {
            defer { loops.stop() }
            loops.startWatchdog()
            loops.threads[1].stop()
            loops.threads[1].join()
            for _ in 0..<2 {
                loops.advance(by: .seconds(5))
                try loops.expectAlive()
            }
        }
    }

    @Test("tells it at half of the interval, once a round")
    func tellsInTime() async throws {
        let directory = try TemporaryDirectory()
        let loops = try Loops(count: 3, directory)
        try await offload {
            defer { loops.stop() }
            loops.startWatchdog()
            loops.advance(by: .milliseconds(4_999))
            #expect(loops.receiver.receiveWithoutWaiting() == nil)
            loops.advance(by: .milliseconds(1))
            try loops.expectAlive()
            loops.advance(by: .seconds(5))
            try loops.expectAlive()
            #expect(loops.receiver.receiveWithoutWaiting() == nil)
        }
    }

    @Test("a loop that hangs is not kept alive, and one that goes on is", arguments: [0, 1, 2])
    func isSilentWhereALoopHangs(hanging: Int) async throws {
        let directory = try TemporaryDirectory()
        let loops = try Loops(count: 3, directory)
        try await offload {
            defer { loops.stop() }
            loops.startWatchdog()
            let permit = DispatchSemaphore(value: 0)
            let hangs = DispatchSemaphore(value: 0)
            loops.threads[hanging].mailbox.post { _ in
                hangs.signal()
                permit.wait()
            }
            hangs.wait()
            for _ in 0..<10 {
                for index in 0..<3 where index != hanging {
                    loops.advance(by: .seconds(5), waitingFor: index)
                }
            }
            #expect(loops.receiver.receiveWithoutWaiting() == nil)
            permit.signal()
            try loops.expectAlive()
        }
    }

    @Test("a service tells its supervisor that it lives, and that it stops")
    func servesASupervisor() async throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(at: directory.path + "/notify")
        let clock = ManualClock()
        let environment = ["NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "10000000"]
        try await withService(threads: 2) {
            $0.loopClock = clock
            $0.supervisor = Supervisor(environment: environment) { Issue.record("\($0)") }
        } _: { _ in
            #expect(receiver.receiveWithoutWaiting() == nil)
            clock.advance(by: .seconds(5))
            let text = try receiver.receive()
            #expect(text == "WATCHDOG=1")
        }
        #expect(try receiver.receive() == "STOPPING=1\nSTATUS=Draining")
    }
}

/// How many event loops a service has where no flag names a number.
@Suite struct ThreadCountTests {
    @Test(
        "one loop a core, as many as the limits allow",
        arguments: [
            (1, 1_048_576, 1), (2, 1024, 2), (42, 1024, 42), (64, 1024, 64), (128, 4096, 128),
            (300, 1_048_576, 256), (200, 1024, 120), (64, 256, 24), (8, 64, 1), (8, 0, 1),
        ]
    )
    func fitsTheMachine(coreCount: Int, openFileLimit: Int, threadCount: Int) {
        let count = ServiceConfiguration.defaultThreadCount(
            coreCount: coreCount,
            openFileLimit: openFileLimit
        )
        #expect(count == threadCount)
        let files = OpenFileBudget(limit: openFileLimit, threadCount: count)
        #expect(openFileLimit < 73 || files.connectionCount > 0)
    }
}
