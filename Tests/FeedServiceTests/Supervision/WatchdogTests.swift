import Dispatch
import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// A supervisor is told that the service lives only while each loop answers.
@Suite(.timeLimit(.minutes(10)))
struct WatchdogTests {
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
                do {
                    try watchdog.start(on: loop)
                } catch {
                    Issue.record(error)
                }
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
