package import FeedAccounts
package import FeedConcurrency
internal import FeedJournal
package import FeedState
package import FeedTLS
package import FeedTransport
internal import Foundation
internal import Logging

/// The settings of a start, from checked flags or from a test.
package struct ServiceConfiguration: Sendable {
    package var addresses: [SocketAddress]
    /// The addresses to listen on with TLS, and their certificate; nil where there are none.
    package var tls: ServiceTLS?
    /// The proxies, whose connections begin with a header of the PROXY protocol.
    package var proxies: [HostNetwork] = []
    package var admin: SocketAddress?
    package var threadCount: Int
    /// The number of lock stripes, a power of two.
    package var stripeCount: Int
    package var hasSampleData = false
    /// The keys that callers show; with nil each caller of a loopback address may do everything.
    package var serviceKeys: ServiceKeys?
    /// The options of the durable state; nil keeps the state in memory.
    package var state: StateOptions?
    /// Whether to log a hash of the state when it was recovered, and at the end.
    package var logsStateHash = false
    /// The least level of the lines of the log, which operators may change.
    package var logThreshold = LogThreshold(.info)
    /// The form of the lines of the log.
    package var logFormat = LogFormat.text
    /// Writes the log's lines; nil where another handler takes them, as in tests.
    package var logOutput: OutputThread?
    package var limits = ServiceLimits()
    /// The budget of held bytes, which tests may fill; nil makes one of the limits.
    package var budget: BufferBudget?
    /// The clock of timers and deadlines; nil is the system's clock.
    package var loopClock: ManualClock?
    /// The time of day, in Unix milliseconds; tests set another clock.
    package var timeOfDay: @Sendable () -> Int64 = { SystemClock.unixMilliseconds() }

    /// Computes the hashes of passwords; tests count them or hold them up.
    package var passwordFunctions = PasswordHasher.Functions.argon2id
    /// The monotonic clock of the limits of sign-ins.
    package var signInClock: @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    /// Who is told that the service starts, is ready, lives and stops.
    package var supervisor = Supervisor.none

    package init(addresses: [SocketAddress], threadCount: Int, stripeCount: Int? = nil) {
        self.addresses = addresses
        self.threadCount = threadCount
        self.stripeCount = stripeCount ?? Self.defaultStripeCount(threadCount: threadCount)
    }

    /// Four stripes a thread keep two votes from meeting at one lock in all but a few percent of
    /// cases; sixteen at least, so that refreshing one stripe of a million posts is well under a
    /// millisecond.
    package static func defaultStripeCount(threadCount: Int) -> Int {
        var count = 16
        while count < 4 * threadCount { count *= 2 }
        return count
    }
}

extension ServiceConfiguration {
    /// The same with as many connections as the process may open files, less those for itself.
    ///
    /// `warn` takes a sentence if they are fewer than configured; where none are left, the start is refused.
    package func withinOpenFileLimit(
        _ openFileLimit: Int,
        warn: (String) -> Void
    ) throws(ServiceStartError) -> ServiceConfiguration {
        let files = OpenFileBudget(limit: openFileLimit, threadCount: threadCount)
        let wanted = limits.maximumConnectionCount
        guard files.connectionCount > 0 else { throw .tooFewOpenFiles(files, wanted: wanted) }
        guard files.connectionCount < wanted else { return self }
        warn(
            "the limit of open files is \(files.limit) and the service itself needs "
                + "\(files.reservedCount) of them: at most \(files.connectionCount) connections are "
                + "accepted, not \(wanted); for all of them raise it with "
                + "`ulimit -n \(files.reservedCount + wanted)`"
        )
        var copy = self
        copy.limits.maximumConnectionCount = files.connectionCount
        return copy
    }

    /// The most event loops of a service: the journal's admission counts on it.
    package static let maximumThreadCount = 256

    static var coreCount: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// The event loops where no flag names a number: one a core, as many as the limits allow.
    ///
    /// Half of the files that the process may open are left to connections.
    package static func defaultThreadCount(coreCount: Int, openFileLimit: Int) -> Int {
        let byFiles = OpenFileBudget.maximumThreadCount(limit: openFileLimit)
        return max(1, min(coreCount, maximumThreadCount, byFiles))
    }

    /// The durability of answers, for the start line.
    var durabilityText: String {
        guard let state else { return "none (all state is in memory and ends with the process)" }
        return switch state.durability {
        case .fsync: "fsync (answers survive a power cut) in \(state.path)"
        case .os: "os (answers survive a crash of this process, not a power cut) in \(state.path)"
        case .replicated:
            "replicated (answers survive the loss of a minority of the cluster) in \(state.path)"
        }
    }

    var emptyChannels: ChannelTable {
        ChannelTable(
            limits: limits.channels,
            collectsEvicted: state != nil,
            follows: state?.replica != nil
        )
    }
}

/// The secured addresses of a service, and what secures them.
package struct ServiceTLS: Sendable {
    /// The addresses to listen on for clients; none if the operator's address alone is secured.
    package var addresses: [SocketAddress]
    /// The files, which are read again when an operator asks.
    package var files: TLSServerFiles
    package var context: TLSContext
    /// The operator's address; nil if it is not secured.
    package var admin: Admin?

    /// The operator's address, secured by the same files.
    package struct Admin: Sendable {
        package var address: SocketAddress
        /// The files as a server of HTTP takes them.
        package var files: TLSServerFiles
        package var context: TLSContext

        package init(_ address: SocketAddress, _ files: TLSServerFiles) throws(TLSFileError) {
            self.address = address
            self.files = files
            self.files.servesHTTP = true
            context = try .server(self.files)
        }
    }

    package init(addresses: [SocketAddress], files: TLSServerFiles, context: TLSContext) {
        self.addresses = addresses
        self.files = files
        self.context = context
    }

    package var asksForCertificates: Bool { files.clientAuthorityPath != nil }
}

extension ServiceConfiguration {
    var asksWhoCalls: Bool { serviceKeys != nil || tls?.asksForCertificates == true }

    /// The addresses that other machines reach and where nobody has to prove who calls, or whose
    /// traffic is not encrypted; `--insecure` allows them.
    package var insecureAddresses: [SocketAddress] {
        let secured = asksWhoCalls ? [] : tls?.addresses ?? []
        return (addresses + secured).filter { !$0.isLoopback }
    }
}

/// Divides the files that the process may open between the process itself and its connections.
package struct OpenFileBudget: Equatable, Sendable {
    /// The files that the process may open (`ulimit -n`).
    package let limit: Int
    package let threadCount: Int

    /// The budget of a service.
    package init(limit: Int, threadCount: Int) {
        self.limit = limit
        self.threadCount = threadCount
    }

    /// The files that connections leave to the rest of the process: four a loop for libuv, and 64
    /// for listeners, the journal, the database and the logs.
    package var reservedCount: Int { Self.reservedCount + Self.filesPerLoop * threadCount }

    /// The connections that are left; below one, the service cannot serve.
    package var connectionCount: Int { limit - reservedCount }

    /// The most loops that leave half of the files above the reserve to connections; at least one.
    package static func maximumThreadCount(limit: Int) -> Int {
        max(1, (limit - reservedCount) / (2 * filesPerLoop))
    }

    private static let reservedCount = 64
    private static let filesPerLoop = 4
}

/// The memory that the process may use: that of the machine, or less where its control groups say so.
package struct ProcessMemory {
    /// The bytes; 0 where the system does not say.
    package let byteCount: Int

    /// Reads the files of the system below `root`.
    package init(root: String = "") {
        func text(_ path: String) -> String {
            let bytes = FileManager.default.contents(atPath: root + path) ?? Data()
            return String(decoding: bytes, as: UTF8.self)
        }
        let total = text("/proc/meminfo").split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
        let kibibytes = total.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
        var limits = kibibytes > 0 ? [kibibytes << 10] : []
        // Version 2, which has one line; each group above the process's own bounds it, too.
        let line = text("/proc/self/cgroup").split(separator: "\n").first { $0.hasPrefix("0::/") }
        var group = line.map { $0.dropFirst("0::".count) } ?? "/"
        while true {
            let limit = text("/sys/fs/cgroup\(group)/memory.max").split(separator: "\n").first
            if let limit, let count = Int(limit) { limits.append(count) }
            guard group != "/", let slash = group.lastIndex(of: "/") else { break }
            group = slash == group.startIndex ? "/" : group[..<slash]
        }
        byteCount = limits.min() ?? 0
    }
}

/// The reason why the service does not start, as one sentence for the operator.
package enum ServiceStartError: Error, CustomStringConvertible {
    case badFlag(String, String)
    case tooFewOpenFiles(OpenFileBudget, wanted: Int)
    case transport(TransportError)
    case thread(ThreadStartError)
    /// The data directory is refused, with a text for its operator.
    case refused(StartRefusal)
    /// A backup could not be restored.
    case state(StateStartError)
    /// A replay of the whole journal gives another state than the database has.
    case differs(String)

    /// The exit status for a flag that is not understood or out of range.
    static let badFlagStatus: Int32 = 2

    var exitStatus: Int32 {
        switch self {
        case .badFlag, .tooFewOpenFiles: Self.badFlagStatus
        case .transport, .thread: 1
        case .refused(let refusal): refusal.exitStatus
        case .state(let error): error.exitStatus
        case .differs: 5
        }
    }

    /// Runs a step of a start that the transport may refuse.
    static func ofTransport<Value>(
        _ body: () throws(TransportError) -> Value
    ) throws(ServiceStartError) -> Value {
        do throws(TransportError) {
            return try body()
        } catch {
            throw .transport(error)
        }
    }

    package var description: String {
        switch self {
        case .badFlag(let flag, let problem): "\(flag): \(problem)"
        case .tooFewOpenFiles(let files, let wanted):
            "The limit of open files is \(files.limit), and with --threads \(files.threadCount) the "
                + "service needs \(files.reservedCount + 1) to serve one connection: raise the limit "
                + "with `ulimit -n \(files.reservedCount + wanted)`, which is enough for \(wanted) "
                + "connections."
        case .transport(let error): "\(error)"
        case .thread(let error): "\(error)"
        case .refused(let refusal): "\(refusal)"
        case .state(let error): "\(error)"
        case .differs(let path): "The journal of \(path) gives another state than its database."
        }
    }
}
