package import FeedAccounts
internal import FeedConcurrency
package import FeedJournal
package import FeedLog
package import FeedRanking
internal import FeedReplica
internal import Synchronization

/// The state that outlives the process: a data directory that was recovered, the logs of the loops,
/// and the two threads behind them.
package final class DurableState: Sendable {
    package struct Events: Sendable {
        /// What the commit thread calls; the checkpoint thread calls `checkpoints` too.
        package var journal = CommitEvents()
        /// What the commit thread of a cluster's node calls.
        package var replica = ReplicaEvents()
        package var failed: @Sendable (StorageError) -> Void = { _ in }
        package var backup: @Sendable (BackupEvent) -> Void = { _ in }

        package init() {}
    }

    package let identity: StateMeta
    package let recovery: RecoverySummary
    package let durability: Durability
    /// Whether the directory is a cluster's: then what a leader forgets is logged.
    package let isOfCluster: Bool
    package let logs: ChangeLogs
    /// How far the commits are.
    package let journal: CommitProgress
    /// Makes commit batches durable.
    private let commitThread: any CommitThread
    /// The same, if it is that of a cluster's node.
    private let replicated: ReplicatedJournal?
    package let checkpointThread: CheckpointThread
    private let wake: WakeUp

    private init(
        _ recovered: consuming RecoveredState,
        _ options: StateOptions,
        _ wake: WakeUp,
        _ replica: ReplicaParts?,
        events: Events
    ) {
        let summary = recovered.summary
        identity = recovered.checkpointWork.database.meta
        let journal = recovered.journal
        let logs = recovered.logs
        let chain = recovered.checkpointWork.chain
        var backupOptions = options.backups
        // A clock that is, or was, wrong does not tell how old a backup is.
        if summary.clockStep != nil { backupOptions.trustsNames = false }
        let backups = Backups(
            backupOptions,
            reservedByteCount: options.journal.space.readOnlyByteCount,
            hooks: options.testHooks.backups,
            report: events.backup
        )
        let checkpointThread = CheckpointThread(
            recovered.checkpointWork,
            backups,
            durableRecords: replica?.sync,
            copies: replica?.copies,
            failed: events.failed,
            news: events.journal.checkpoints
        )
        let parts = CommitParts(
            journal: Transferred(options.testHooks.filterJournal(journal)),
            chain: chain,
            logs: logs,
            receiver: checkpointThread,
            maximumWaitingByteCount: options.maximumWaitingByteCount,
            keepsSegments: options.keepsJournal,
            events: events.journal,
            failed: events.failed
        )
        let thread: any CommitThread
        var replicated: ReplicatedJournal?
        if let make = options.testHooks.commitThread {
            let other = make(parts)
            wake.set { other.wake() }
            thread = other
        } else if let replica {
            let journal = ReplicatedJournal(parts, replica)
            wake.set { journal.wake() }
            replicated = journal
            thread = journal
        } else {
            precondition(!chain.isOfCluster, "A cluster's records have heads.")
            let journalThread = JournalThread(parts)
            wake.set { journalThread.wake() }
            thread = journalThread
        }
        isOfCluster = chain.isOfCluster
        recovery = summary
        durability = options.durability
        self.logs = logs
        self.journal = thread.progress
        commitThread = thread
        self.replicated = replicated
        self.checkpointThread = checkpointThread
        self.wake = wake
    }

    /// What the oldest log entry that is not durable waits for.
    package var commitWait: CommitWait { replicated?.commitWait ?? .disk }

    /// Starts the two threads; where the system refuses one, none is left running.
    package func start() throws(StateStartError) {
        do throws(ThreadStartError) {
            try checkpointThread.start()
        } catch {
            wake.set {}
            throw .storage(.thread(error))
        }
        do throws(ThreadStartError) {
            try commitThread.start()
        } catch {
            checkpointThread.stop()
            wake.set {}
            throw .storage(.thread(error))
        }
    }

    /// Makes all that was logged durable, checkpoints it, ends the threads and unlocks the
    /// directory; to be called once nothing is logged any more.
    package func stop() {
        commitThread.stop()
        checkpointThread.stop()
        // The logs lead to the thread, and the thread to the logs.
        wake.set {}
    }

    /// The round that proves that this node led when a read was executed that is over now; asks for it.
    ///
    /// ``ReplicaEvents/proved`` says when it is proven. O(1), for any loop of a node that leads.
    package func askForProof() -> UInt64 { replicated?.askForProof() ?? 0 }

    /// Asks a node of a cluster for what operators ask for; any thread may.
    ///
    /// The answer comes on the commit thread, or at once; after ten seconds at the latest.
    package func ask(
        _ ask: ClusterAsk,
        _ answer: @escaping @Sendable (Result<ClusterAnswer, ClusterRefusal>) -> Void
    ) {
        guard let replicated else { return answer(.failure(.noCluster)) }
        replicated.ask(ask, answer)
    }

    /// The chain up to a record of the cluster's log, or with 0 up to the newest one here; nil if it is not
    /// among the newest that are known.
    package func chain(ofRecord record: UInt64) -> (record: UInt64, hash: UInt64)? {
        replicated?.chain(ofRecord: record)
    }

    /// The level that the records of the cluster have come to; 0 without a cluster.
    package var clusterLevel: UInt32 { replicated?.clusterLevel ?? 0 }

    /// Whether changes of accounts may be logged: all members of the cluster read them, or there is none.
    package var takesAccountChanges: Bool {
        replicated.map { $0.clusterLevel >= RecordHead.accountChangesLevel } ?? true
    }

    /// Puts the state of a directory into an empty store, and prepares the threads, which are to be started.
    ///
    /// `channels` takes what is known of channels: a channel, then its outcomes. Where it throws, the store
    /// is of no use.
    package static func open(
        _ directory: StateDirectory,
        into store: FeedStore,
        channels: @escaping (LogEntry) -> Void,
        accounts: (AccountsState) -> Void = { _ in },
        events: Events,
        progress: @escaping (RecoveryProgress) -> Void = { _ in }
    ) throws(StateStartError) -> DurableState {
        let options = directory.options
        let wake = WakeUp()
        let recovered = try RecoveredState(
            directory,
            into: store,
            channels: channels,
            accounts: accounts,
            progress: progress,
            onFirstEntry: { wake.call() }
        )
        let replica: ReplicaParts? =
            if let replica = options.replica {
                try replicaParts(replica, directory, recovered, store, events.replica)
            } else {
                nil
            }
        return DurableState(recovered, options, wake, replica, events: events)
    }

    private static func replicaParts(
        _ options: ReplicaOptions,
        _ directory: StateDirectory,
        _ recovered: borrowing RecoveredState,
        _ store: FeedStore,
        _ events: ReplicaEvents
    ) throws(StateStartError) -> ReplicaParts {
        let wakeUp: ReplicaWakeUp
        do throws(ReplicaError) {
            wakeUp = try ReplicaWakeUp()
        } catch {
            throw .storage(.stateStopped(reason: "\(error)"))
        }
        let cluster = recovered.checkpointWork.database.meta.cluster
        let last = recovered.journal.last
        return ReplicaParts(
            options: options,
            events: events,
            cluster: ClusterID(high: cluster.high, low: cluster.low),
            wakeUp: wakeUp,
            sync: ReplicaSync(syncedRecord: last.number) { wakeUp.wake() },
            lastMicroseconds: recovered.journal.lastMicroseconds,
            store: store,
            copies: ReplicaCopies(directory.options.backups) { wakeUp.wake() },
            installer: StateInstaller(directory) { wakeUp.wake() }
        )
    }
}

/// A call that is known only after those who make it.
final class WakeUp: Sendable {
    /// Around the closure, which by itself would be wrapped anew at each access to a generic lock.
    private struct Call: Sendable {
        var body: (@Sendable () -> Void)?
    }

    private let state = Lock(Call())

    func set(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.body = body }
    }

    func call() {
        let call = state.withLock { $0 }
        call.body?()
    }
}
