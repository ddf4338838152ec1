internal import FeedConcurrency
package import FeedJournal

package struct StateOptions: Sendable {
    /// The directory where none is named, in the working directory.
    package static let defaultPath = "feed-data"

    /// The journal's bytes that are checkpointed at once where the service is busy.
    ///
    /// Each checkpoint writes a post's counts once, however many votes the post got: the more votes
    /// a checkpoint has, the less one vote costs. The next start has to replay the records that are
    /// not checkpointed.
    package static let defaultCheckpointByteCount = 64 << 20

    /// The data directory, made where there is none, its parent being there.
    package var path: String
    package var logCount: Int
    /// What the journal is opened with, except for its instance, which `state.db` names.
    package var journal = JournalConfiguration(instanceID: 0)

    package var durability: Durability {
        get { journal.durability }
        set { journal.durability = newValue }
    }

    /// The record after which a loss is accepted; nil accepts none.
    package var acceptedLoss: UInt64?
    /// Whether a directory without a state is refused instead of made.
    package var mustExist = false
    /// Whether a cluster's directory may be changed: by who writes heads of records only.
    package var servesCluster = false
    /// The replica that agrees to each record, if the directory is served as a node of a cluster.
    ///
    /// It sets what follows: the directory is a cluster's, and its records are synced later. One without a
    /// state gets that from the cluster (``WaitingNode``).
    package var replica: ReplicaOptions? {
        didSet {
            guard replica != nil else { return }
            servesCluster = true
            durability = .replicated
        }
    }
    /// Whether checkpointed segments stay, so that all can be replayed from the first.
    package var keepsJournal = false
    /// The journal's bytes that are checkpointed at once.
    package var checkpointByteCount = Self.defaultCheckpointByteCount
    package var backups = BackupOptions()

    /// The time of day in microseconds since 1970, with which a start commits; tests set another one.
    package var unixMicroseconds: @Sendable () -> UInt64 = { SystemClock.unixMicroseconds() }

    /// SQLite's virtual file system that has `state.db`, for tests of slow disks; nil is the system's own.
    package var databaseFileSystem: String?
    /// The newest level of a cluster's records that is read; tests set another one.
    package var newestLevel = RecordHead.newestLevel
    package var testHooks = StateTestHooks()

    /// The bytes that a loop logs at most after it has looked whether changes are admitted: a created or
    /// edited post (64 KB), a batch of votes (14 KB), or the single votes of one loop iteration (11 KB).
    ///
    /// The long transactions, ImportPosts and CorrectTimes, log more and reserve it.
    package static let shortTransactionByteCount = 64 << 10

    /// The bytes of a record that a cluster agrees to: the entries of its log have no more.
    package static let maximumReplicatedRecordByteCount = 8 << 20
    /// The loops of a node of a cluster: the short transactions of more leave too little of a record.
    package static let maximumReplicatedLogCount = 64

    /// The bytes of a record that admission divides: the rest after each loop has logged a short
    /// transaction and the four bytes of its part's length; in a cluster also after the head.
    private var admittedByteCount: Int {
        var limit = journal.maximumBodyByteCount
        if replica != nil {
            precondition(
                logCount <= Self.maximumReplicatedLogCount,
                "A node of a cluster has \(logCount) loops, the limit is "
                    + "\(Self.maximumReplicatedLogCount)."
            )
            limit = min(limit, Self.maximumReplicatedRecordByteCount)
        }
        return limit - logCount * (Self.shortTransactionByteCount + 4)
            - (servesCluster ? RecordHead.byteCount : 0)
    }

    /// The unjournaled bytes at which no more are let in: at most 24 MiB, and at most half of what
    /// a record has left.
    ///
    /// A commit with these bytes, a short transaction of each loop and the long transactions under
    /// way still fits into a record, and so into the ballast. The limit is 16 MiB with 256 loops. In a
    /// cluster it is 4 MiB with up to 15 loops, and 2.2 MiB with 64.
    package var maximumWaitingByteCount: Int {
        replica == nil
            ? min(24 << 20, admittedByteCount / 2) : min(4 << 20, admittedByteCount / 7 * 4)
    }

    /// The bytes that all long transactions under way may log together: `LongTransactionRoom`.
    ///
    /// In a cluster 3 MiB with up to 15 loops, and 1.7 MiB with 64.
    package var maximumLongTransactionByteCount: Int {
        let rest = admittedByteCount - maximumWaitingByteCount
        return replica == nil ? rest : min(3 << 20, rest)
    }

    package init(path: String, logCount: Int) {
        self.path = path
        self.logCount = logCount
    }
}

/// How a service takes part in a cluster.
package struct ReplicaOptions: Equatable, Sendable {
    /// The socket of the machine's `feed-replica`.
    package var socketPath: String
    /// What clients of the cluster connect to, as `feed2.example.org:7433`; empty if none may.
    package var address: String
    /// How long what an operator asks for may wait for its answer.
    package var longestAsk = Duration.seconds(10)

    package init(socketPath: String, address: String) {
        self.socketPath = socketPath
        self.address = address
    }
}

/// What tests put between the service and its disk, to be a slow one; the service sets none of it.
package struct StateTestHooks: Sendable {
    /// Puts a journal before the journal to which commits are appended.
    package var filterJournal: @Sendable (any WatchedJournal) -> any WatchedJournal = { $0 }

    /// Makes the thread that commits, in the place of a ``JournalThread``.
    package var commitThread: (@Sendable (CommitParts) -> any CommitThread)?
    package var backups = BackupHooks()

    package init() {}
}
