internal import FeedConcurrency
package import FeedJournal
package import FeedLog
internal import Synchronization

/// The state that outlives the process: a data directory that was recovered, the logs of the loops,
/// and the two threads behind them.
package final class DurableState: Sendable {
    /// What is called when something happens, on the thread on which it happens.
    package struct Events: Sendable {
        /// What the journal thread calls; the checkpoint thread calls `checkpoints` too.
        package var journal = JournalThread.Events()
        /// Nothing more may be answered; the process should exit.
        package var failed: @Sendable (StateStartError) -> Void = { _ in }
        /// What there is to say of backups.
        package var backup: @Sendable (BackupEvent) -> Void = { _ in }

        /// Events that do nothing, to be filled in.
        package init() {}
    }

    /// What clients know the state by, and the key of their page tokens.
    package let identity: StateMeta
    /// What a start found.
    package let recovery: RecoverySummary
    /// How durable an answer is.
    package let durability: Durability
    /// The logs of the loops.
    package let logs: ChangeLogs
    /// Makes commit batches durable.
    package let journal: JournalThread
    /// Checkpoints them into the database.
    package let checkpointThread: CheckpointThread
    private let wake: WakeUp

    /// Joins what was recovered.
    init(
        identity: StateMeta,
        recovery: RecoverySummary,
        durability: Durability,
        logs: ChangeLogs,
        journal: JournalThread,
        checkpointThread: CheckpointThread,
        wake: WakeUp
    ) {
        self.identity = identity
        self.recovery = recovery
        self.durability = durability
        self.logs = logs
        self.journal = journal
        self.checkpointThread = checkpointThread
        self.wake = wake
    }

    /// Starts the two threads; where the system refuses one, none is left running.
    package func start() throws(StateStartError) {
        do throws(ThreadStartError) {
            try checkpointThread.start()
        } catch {
            wake.set {}
            throw .state(.thread(error))
        }
        do throws(ThreadStartError) {
            try journal.start()
        } catch {
            checkpointThread.stop()
            wake.set {}
            throw .state(.thread(error))
        }
    }

    /// Makes all that was logged durable, checkpoints it, ends the threads and unlocks the
    /// directory; to be called once nothing is logged any more.
    package func stop() {
        journal.stop()
        checkpointThread.stop()
        // The logs lead to the thread, and the thread to the logs.
        wake.set {}
    }
}
