import FeedService
import FeedTestSupport
import Foundation
import Testing

/// What a supervisor is told, on a real socket.
@Suite(.timeLimit(.minutes(10)))
struct SupervisorTests {
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
