internal import FeedAccounts
internal import FeedConcurrency
internal import FeedJournal
internal import FeedRanking
internal import FeedState
internal import FeedTransport
internal import FoundationEssentials
internal import Glibc

/// The numbers of a running service, which the metrics, the dashboard's history and ServerStats show.
///
/// What takes a lock or a walk is read once, when the value is made, and the other counts with each use. No
/// lock is taken that a vote waits for: the loops count, and this adds their counts up.
struct ServiceNumbers {
    let context: ServiceContext
    let store: FeedStore
    /// Secures connections; nil without a secured address.
    let acceptor: TLSAcceptor?
    let statistics: ServiceStatistics
    /// The snapshots of STABLE lists.
    let snapshots: (count: Int, byteCount: Int)
    /// How long each subject has stood still that does so.
    let standing: [Stalls.Subject: Duration]
    /// Those of the durable state; nil where all state is in memory.
    let state: StateNumbers?

    init(_ context: ServiceContext, _ store: FeedStore, acceptor: TLSAcceptor? = nil) {
        self.context = context
        self.store = store
        self.acceptor = acceptor
        statistics = ServiceStatistics(loops: context.counters)
        snapshots = store.snapshotUsage
        standing = context.stalls.times
        state = context.state.map { [standing] in StateNumbers($0, standing) }
    }

    /// What an acknowledged change outlives.
    var durability: String { state?.state.durability.rawValue ?? "none" }

    /// Sign-ins that were refused without a look at the password.
    var refusedSignInCount: UInt64 {
        context.signInLimits.refusedCount + context.passwords.refusedCount
    }
}

struct StateNumbers {
    let state: DurableState
    /// How long each subject has stood still that does so.
    let standing: [Stalls.Subject: Duration]
    /// What is durable and not yet in state.db.
    let backlog: CheckpointBacklog
    let backups: BackupStatus

    fileprivate init(_ state: DurableState, _ standing: [Stalls.Subject: Duration]) {
        self.state = state
        self.standing = standing
        backlog = state.checkpointThread.backlog
        backups = state.checkpointThread.backups.status
    }

    var journal: CommitProgress { state.journal }
    var commits: CommitStatistics { journal.statistics }
    var checkpoints: CheckpointStatistics { state.checkpointThread.statistics }
    /// How long the oldest change that is not durable has waited.
    var oldestWait: Duration { journal.oldestWait ?? .zero }
}

/// What the system says of the process, and what holds also while no service runs.
struct ProcessNumbers {
    let isReady: Bool
    /// Writes the log; nil where another handler does.
    let log: OutputThread?
    private(set) var cpuSeconds = 0.0
    private(set) var residentByteCount = 0
    /// When the process began, in seconds since 1970.
    private(set) var startTimeSeconds = 0.0

    /// Reads the files of `/proc`; what cannot be read is 0.
    init(isReady: Bool = false, log: OutputThread? = nil) {
        self.isReady = isReady
        self.log = log
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        // Behind the program's name, which is in parentheses and may have spaces.
        let stat = Self.text("/proc/self/stat")
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        guard fields.count > 22 else { return }
        func number(_ field: Int) -> Double { Double(fields[field - 2]) ?? 0 }
        cpuSeconds = (number(14) + number(15)) / ticks
        residentByteCount = Int(number(24)) * sysconf(Int32(_SC_PAGESIZE))
        let boot = Self.text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }
        let bootSeconds = boot.flatMap { Double($0.dropFirst("btime ".count)) } ?? 0
        startTimeSeconds = bootSeconds + number(22) / ticks
    }

    var openFileCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    var openFileLimit: Int {
        let line = Self.text("/proc/self/limits").split(separator: "\n").first {
            $0.hasPrefix("Max open files")
        }
        let words = line?.split(separator: " ") ?? []
        return words.count > 3 ? Int(words[3]) ?? 0 : 0
    }

    private static func text(_ path: String) -> String {
        guard let bytes = FileManager.default.contents(atPath: path) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
