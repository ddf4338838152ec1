internal import FeedConcurrency
internal import Glibc
internal import Synchronization

/// What the service tells its supervisor, such as systemd: that it starts, is ready, lives or stops.
///
/// A supervisor names its socket in `NOTIFY_SOCKET`. Without that the messages go nowhere.
package final class Supervisor: Sendable {
    /// A message about the service.
    package enum Message: Sendable, Equatable {
        /// A start is under way, and has come this far: it may take longer than was planned.
        case starting(String)
        /// The service serves; the text says where.
        case ready(String)
        /// The service reads a file again; ``reloaded`` follows.
        case reloading
        /// What was read again holds, or the service keeps what it had.
        case reloaded
        /// Every loop has made progress.
        case alive
        /// The service drains, and ends by itself.
        case stopping
    }

    /// A supervisor that nothing is told.
    package static let none = Supervisor()

    /// How much longer a start may take from each message on.
    package static let startExtension = Duration.seconds(60)

    /// The supervisor ends the service where it has not been told for so long that the service lives;
    /// nil where it does not watch.
    package let watchdogInterval: Duration?

    /// The bytes of messages that wait at most, some hundred of them.
    private static let waitingByteLimit = 8 * 1_024

    /// Sends the messages: nobody else waits for a supervisor that takes none.
    private let output: OutputThread?
    private let failure: FirstFailure

    private init() {
        output = nil
        watchdogInterval = nil
        failure = FirstFailure { _ in }
    }

    /// The supervisor that an environment names; what it names wrongly is left out.
    ///
    /// - Parameters:
    ///   - environment: The variables `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` count.
    ///   - warn: Takes a sentence about a wrong variable, and about the first message that fails.
    package init(
        environment: [String: String],
        warn: @escaping @Sendable (String) -> Void
    ) {
        let failure = FirstFailure(warn)
        self.failure = failure
        guard let address = environment["NOTIFY_SOCKET"], !address.isEmpty else {
            output = nil
            watchdogInterval = nil
            return
        }
        do throws(NotifySocketError) {
            let socket = try NotifySocket(to: address)
            output = OutputThread("feed-notify", byteLimit: Self.waitingByteLimit) { texts, _ in
                for text in texts {
                    do throws(NotifySocketError) {
                        try socket.send(text)
                    } catch {
                        failure.report("\(error)")
                    }
                }
            }
        } catch {
            output = nil
            warn("NOTIFY_SOCKET: \(error)")
        }
        watchdogInterval = Self.watchdogInterval(environment, warn)
    }

    /// Tells the supervisor, without waiting for it; nothing where there is none.
    package func notify(_ message: Message) {
        guard let output, !output.append(Self.lines(message)) else { return }
        failure.report("it takes no messages.")
    }

    /// Waits until the supervisor has taken all messages, for ``OutputThread/flushTime`` at most.
    package func flush() { output?.flush() }

    private static func lines(_ message: Message) -> String {
        switch message {
        case .starting(let status):
            "STATUS=\(status)\nEXTEND_TIMEOUT_USEC=\(Int(startExtension / .microseconds(1)))"
        case .ready(let status): "READY=1\nSTATUS=\(status)"
        case .reloading:
            "RELOADING=1\nMONOTONIC_USEC=\(SystemClock.monotonicNanoseconds() / 1_000)"
        case .reloaded: "READY=1"
        case .alive: "WATCHDOG=1"
        case .stopping: "STOPPING=1\nSTATUS=Draining"
        }
    }

    private static func watchdogInterval(
        _ environment: [String: String],
        _ warn: (String) -> Void
    ) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"] else { return nil }
        // The variables may have come down from a parent that was meant.
        if let process = environment["WATCHDOG_PID"], process != "\(getpid())" { return nil }
        guard let microseconds = Int64(text), microseconds > 0 else {
            warn("WATCHDOG_USEC: expected a number above 0, got \(text).")
            return nil
        }
        return .microseconds(microseconds)
    }
}

/// Warns of the first message that could not be sent, and of no other.
private final class FirstFailure: Sendable {
    private let warn: @Sendable (String) -> Void
    private let isReported = Atomic(false)

    init(_ warn: @escaping @Sendable (String) -> Void) { self.warn = warn }

    func report(_ cause: String) {
        guard !isReported.exchange(true, ordering: .relaxed) else { return }
        warn("the supervisor could not be told, as by NOTIFY_SOCKET: \(cause)")
    }
}
