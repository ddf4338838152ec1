internal import FeedConcurrency
internal import FeedJournal
internal import FeedReplica

/// Takes a state that the replica has received, on the thread `feed-install`, while `feed-journal` goes on.
///
/// Where it succeeds, the directory is marked, and the process has to end: its next start finishes it.
package final class StateInstaller: Sendable {
    typealias End = Result<UInt64, InstallError>

    /// How often a node asks for the status that cannot lead.
    ///
    /// A replica takes a service for silent after 1.5 s: one that is elected gives the leadership away, and
    /// others seldom give it to one.
    static let statusInterval = Duration.seconds(10)
    /// It yields to what serves, as a backup does.
    private static let niceness: Int32 = 19
    /// How long a stop waits for the call of the system that is under way.
    private static let longestCancel = Duration.seconds(5)

    private struct State {
        var isUnderWay = false
        var end: End?
        var isCancelled = false
    }

    private let state = Lock(State())
    private let ended = Semaphore()
    private let directory: Transferred<StateDirectory>
    private let wakeNode: @Sendable () -> Void

    /// For a directory that this process has locked; `wakeNode` is called when there is an end to take.
    package init(_ directory: StateDirectory, wakeNode: @escaping @Sendable () -> Void) {
        self.directory = Transferred(directory)
        self.wakeNode = wakeNode
    }

    /// Whether the directory may be marked, or is.
    var isUnderWay: Bool { state.withLock { $0.isUnderWay } }

    /// Begins with the state of a record, a file of another program's; nothing while one is under way.
    ///
    /// It has to be of this cluster, and of one that begins behind this record where that is known.
    func begin(
        _ record: UInt64,
        from path: String,
        of cluster: ClusterID,
        behind beginning: UInt64? = nil
    ) {
        let isFirst = state.withLock { state in
            guard !state.isUnderWay, !state.isCancelled else { return false }
            state.isUnderWay = true
            return true
        }
        guard isFirst else { return }
        // A signal of an earlier one that nobody has waited for.
        ended.reset()
        let directory = directory.value
        let install = Transferred(
            StateInstall(
                of: record,
                instanceID: cluster.high,
                beginning: beginning,
                in: directory.options.path,
                directory.files,
                vfs: directory.vfs,
                segmentByteCount: directory.options.journal.segmentByteCount
            )
        )
        // A test's disk takes one thread at a time.
        guard directory.vfs == nil else { return run(install.value, path) }
        do {
            let thread = NamedThread("feed-install", priority: .nice(Self.niceness))
            try thread.start { [self] in run(install.value, path) }
        } catch {
            finish(.failure(.failed(.thread(error))))
        }
    }

    /// How it has ended; given once.
    func takeEnd() -> End? {
        state.withLock { state in
            guard let end = state.end else { return nil }
            state.end = nil
            // After a success the process ends.
            if case .failure = end { state.isUnderWay = false }
            return end
        }
    }

    /// Ends what is under way, and begins no more: nothing marks the directory from here on.
    func cancel() {
        let isRunning = state.withLock { state in
            state.isCancelled = true
            return state.isUnderWay && state.end == nil
        }
        if isRunning { _ = ended.wait(upTo: Self.longestCancel) }
    }

    /// Lets another process have the directory; to be called once, after ``cancel()``.
    func unlock() { directory.value.files.unlock() }

    private func run(_ install: StateInstall, _ path: String) {
        do throws(InstallError) {
            try install.prepare(from: try Self.open(path)) { !state.withLock { $0.isCancelled } }
            try state.withLock { (state) throws(InstallError) in
                // The directory may be another process's after a stop.
                guard !state.isCancelled else {
                    throw .failed(.stateStopped(reason: "The service stops."))
                }
                try install.mark()
            }
            finish(.success(install.record))
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ end: End) {
        state.withLock { $0.end = end }
        ended.signal()
        wakeNode()
    }

    private static func open(_ path: String) throws(InstallError) -> any JournalFile {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.dropLast().joined(separator: "/")
        do throws(StorageError) {
            let files = try POSIXFiles(reading: parts.count > 1 ? "\(folder)/" : ".")
            let file = try files.open(String(parts.last ?? ""))
            guard let file else { throw .missingFile(path: path) }
            return file
        } catch {
            throw .failed(error)
        }
    }
}

/// What a node does once an installation has ended.
enum InstallOutcome {
    /// The file is gone: the replica may have another one by now.
    case again(String)
    case ends(ReplicaEnding)

    init(_ end: StateInstaller.End, _ record: UInt64) {
        switch end {
        case .success(let record):
            let sentence =
                "the state of the cluster at record \(record) is there: it is to be started again, and that "
                + "start puts it in place"
            self = .ends(ReplicaEnding(sentence, exitStatus: ReplicaEnding.startAgain))
        case .failure(.failed(.missingFile(let path))):
            self = .again("the file \(path), which the replica named, is gone")
        case .failure(let error):
            var sentence = "The state of the cluster at record \(record) "
            if case .notSynced = error {
                sentence += "is there, but not for certain. \(error)"
            } else {
                sentence += "cannot be taken, and the directory is as it was. \(error)"
            }
            self = .ends(ReplicaEnding(sentence, exitStatus: error.exitStatus))
        }
    }
}
