internal import FeedConcurrency
package import FeedTransport
internal import Glibc
internal import Synchronization

/// What the service tells its supervisor, such as systemd: that it starts, is ready, lives or stops.
///
/// A supervisor names its socket in `NOTIFY_SOCKET`. Without that the messages go nowhere.
package final class Supervisor: Sendable {
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
    package static let none = Supervisor(environment: [:]) { _ in }

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

    /// The supervisor that an environment names; what it names wrongly is left out.
    ///
    /// `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` count. `warn` takes a sentence about a wrong
    /// one, and about the first message that fails.
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

/// Tells a supervisor that the service lives, as long as every loop answers.
///
/// The first loop begins a round twice in the supervisor's interval: it asks every loop, itself too,
/// and the last answer tells the supervisor. A loop that hangs does not answer, and no other round
/// begins until it does. The first loop begins none where it hangs itself.
package final class Watchdog: Sendable {
    private let loops: [LoopMailbox]
    private let supervisor: Supervisor
    /// The loops that have not answered in this round.
    private let missingCount = Atomic(0)

    package init(over loops: [LoopMailbox], for supervisor: Supervisor) {
        self.loops = loops
        self.supervisor = supervisor
    }

    /// Begins the rounds on the first loop; none where the supervisor does not watch.
    package func start(on loop: EventLoop) throws(TransportError) {
        guard let interval = supervisor.watchdogInterval else { return }
        try loop.addTimer(every: interval / 2) { self.beginRound() }
    }

    private func beginRound() {
        guard missingCount.load(ordering: .relaxed) == 0 else { return }
        missingCount.store(loops.count, ordering: .relaxed)
        for loop in loops {
            // A loop that has ended does not hang.
            if !loop.post({ [self] _ in countAnswer() }) { countAnswer() }
        }
    }

    private func countAnswer() {
        let left = missingCount.wrappingSubtract(1, ordering: .relaxed).newValue
        if left == 0 { supervisor.notify(.alive) }
    }
}

/// The datagram socket of a supervisor that takes news of its services, as sd_notify(3) describes it.
///
/// A datagram is a few lines, each a name, `=` and a value. The address is the path of a socket, or
/// `@` and the name of an abstract one.
private final class NotifySocket: Sendable {
    /// The longest address, in bytes: the system's limit, less the byte that ends a path.
    static let longestAddress = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private let descriptor: Int32
    private let address: sockaddr_un
    private let addressByteCount: socklen_t

    init(to text: String) throws(NotifySocketError) {
        var name = Array(text.utf8)
        guard let first = name.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"),
            (2...Self.longestAddress).contains(name.count), !name.contains(0)
        else { throw .badAddress(text) }
        // The name of an abstract socket begins with a NUL, in the place of the `@`.
        if first == UInt8(ascii: "@") { name[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            unsafe path.copyBytes(from: name)
        }
        let start = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        self.address = address
        addressByteCount = socklen_t(start + name.count)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
    }

    deinit { close(descriptor) }

    /// Sends one datagram; waits where the supervisor has not taken earlier ones, and throws if it is gone.
    func send(_ text: String) throws(NotifySocketError) {
        let bytes = Array(text.utf8)
        let sent = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(
                    descriptor,
                    bytes,
                    bytes.count,
                    Int32(MSG_NOSIGNAL),
                    address,
                    addressByteCount
                )
            }
        }
        guard sent == bytes.count else { throw .system(call: "sendto", code: errno) }
    }
}

/// The reason why a supervisor cannot be told.
private enum NotifySocketError: Error, Equatable, CustomStringConvertible {
    /// The address is neither a path nor the name of an abstract socket, or it is too long.
    case badAddress(String)
    /// A system call failed with this error number.
    case system(call: String, code: Int32)

    var description: String {
        switch self {
        case .badAddress(let text):
            "expected a path that begins with / or a name that begins with @, at most "
                + "\(NotifySocket.longestAddress) bytes, got \(text)."
        case .system(let call, let code): "\(call) failed with error \(code)."
        }
    }
}
