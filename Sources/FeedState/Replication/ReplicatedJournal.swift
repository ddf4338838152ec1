package import FeedConcurrency
internal import FeedJournal
internal import FeedLog
package import FeedRanking
package import FeedReplica
internal import Synchronization

/// What a start gives to the commit thread of a cluster's node, beside ``CommitParts``.
package struct ReplicaParts: Sendable {
    package let options: ReplicaOptions
    package let events: ReplicaEvents
    package let cluster: ClusterID
    /// Ends the waits of the thread.
    package let wakeUp: ReplicaWakeUp
    /// Wakes the thread when a sync has ended.
    package let sync: ReplicaSync
    /// The time of the journal's last record.
    package let lastMicroseconds: UInt64
    package let store: FeedStore
    /// The copies that other nodes get of the state.
    package let copies: ReplicaCopies
    /// Takes a copy of another node's state.
    package let installer: StateInstaller

    package init(
        options: ReplicaOptions,
        events: ReplicaEvents,
        cluster: ClusterID,
        wakeUp: ReplicaWakeUp,
        sync: ReplicaSync,
        lastMicroseconds: UInt64,
        store: FeedStore,
        copies: ReplicaCopies,
        installer: StateInstaller
    ) {
        self.options = options
        self.events = events
        self.cluster = cluster
        self.wakeUp = wakeUp
        self.sync = sync
        self.lastMicroseconds = lastMicroseconds
        self.store = store
        self.copies = copies
        self.installer = installer
    }

    /// Raises the numbers that the store gives above all that a leader before may have given; returns the log
    /// entry that says so.
    func raiseCounters(behind record: UInt64) throws(StorageError) -> LogEntry {
        let counters = LogEntry.counters(
            lastID: store.highestID,
            revision: store.revision + SkippedNumbers.revisions
        )
        do throws(RecoveryError) {
            try store.apply(counters)
        } catch {
            throw .brokenRecord(record + 1, reason: "applied: \(error)")
        }
        return counters
    }
}

/// Commits for a node of a cluster: proposes to its replica what the loops have logged, and appends to the
/// journal what a majority has.
///
/// A node begins as one that follows, and appends and applies the records of the leader. It leads once the
/// replica says so, behind the last record before, and never follows again: then its process ends.
///
/// ```
/// connecting ─ the socket is there ─► following ─ ROLE 1 ─► leading
///     ▲  └──────── stop, END ──────────┐  │ stop, END        │ stop, ROLE 0, END, no socket
///     └────────── no socket ───────────┼──┘                  │
///                                      ▼                     ▼
///                                    ended ◄─────────────────┘
/// ```
package final class ReplicatedJournal: CommitThread {
    /// The least time between two proposals.
    static let interval = Duration.milliseconds(1)
    /// How often the replica hears what is durable: it takes a node for hung after 1.5 s of silence.
    static let durableInterval = Duration.milliseconds(300)
    static let statusInterval = Duration.seconds(1)
    /// How long a node without room leads at least that began to lead without, and between two tries to give
    /// the leadership away.
    static let giveAwayInterval = Duration.seconds(10)
    /// How often a socket is tried that is not there.
    static let connectInterval = Duration.milliseconds(100)
    /// A turn that takes so long waits for this machine's disk: without work there is one each second.
    static let hangTime = Duration.seconds(2)
    /// How long a leader commits what was logged before a stop.
    package static let longestStop = Duration.seconds(5)

    package let progress: CommitProgress
    let rounds = ProofRounds()
    /// Beats with each turn of the thread.
    let heartBeat = HeartBeat()
    private let parts: Lock<CommitParts?>
    /// What applies records, from the start on until the thread has taken it.
    private let live = Lock<Transferred<LiveApply>?>(nil)
    private let chain: RecordChain
    private let replica: ReplicaParts
    private let thread = NamedThread("feed-journal", priority: .batch)
    private let stopping = Atomic(false)
    private let asks = Lock(AskInbox())
    /// The chains of the newest records, up to the last one that was proposed or has come.
    let chains: Lock<RecentChains>
    private let level: Atomic<UInt32>

    /// A thread that is ready to be started.
    ///
    /// The journal ends where the logs begin: its next record is the open commit batch.
    package init(_ parts: CommitParts, _ replica: ReplicaParts) {
        precondition(parts.chain.isOfCluster, "Records of one machine have no heads.")
        precondition(
            parts.logs.openBatch == parts.journal.value.last.number + 1,
            "The next commit batch is the journal's next record."
        )
        progress = CommitProgress(of: parts)
        self.replica = replica
        chain = parts.chain
        chains = Lock(RecentChains(parts.logs.openBatch - 1, chain.hash))
        level = Atomic(parts.chain.level)
        self.parts = Lock(parts)
    }

    package func wake() {
        progress.noteFirstEntry()
        replica.wakeUp.wake()
    }

    package func start() throws(ThreadStartError) {
        follow()
        try replica.sync.start()
        do throws(ThreadStartError) {
            try thread.start { [self] in runToTheEnd() }
        } catch {
            // The thread of the syncs is not left running.
            if var node = nextNode() { node.finish() }
            throw error
        }
    }

    private func follow() {
        let follower = Transferred(replica.events.follow(chain))
        live.withLock { $0 = follower }
    }

    /// What belongs to the thread, for a test that has none; to be called once.
    package func takeNode() -> ReplicatedNode? {
        follow()
        return nextNode()
    }

    private func nextNode() -> ReplicatedNode? {
        guard let parts = parts.withLock({ $0.take() }), let live = live.withLock({ $0.take() })
        else { return nil }
        return ReplicatedNode(self, parts, replica, live.value)
    }

    package func stop() {
        stopping.store(true, ordering: .releasing)
        replica.wakeUp.wake()
        thread.join()
    }

    /// What the oldest log entry that is not committed waits for.
    var commitWait: CommitWait {
        if let time = heartBeat.standingTime, time >= Self.hangTime { return .disk }
        return .majority(record: progress.durableBatch + 1)
    }

    /// The highest level of a record that is committed and applied here; for any thread.
    ///
    /// Who logs entries of a level waits until the cluster has come to it: from then on all members read it.
    package var clusterLevel: UInt32 { level.load(ordering: .acquiring) }

    func note(level: UInt32) { self.level.store(level, ordering: .releasing) }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// The round that proves that this node led when a read was executed that is over now; asks for it.
    ///
    /// O(1), one atomic operation, for any thread of a node that leads.
    package func askForProof() -> UInt64 {
        let (round, isFirst) = rounds.ask()
        if isFirst { replica.wakeUp.wake() }
        return round
    }

    /// Asks for what operators ask for, from any thread; the answer comes on this one, or at once.
    package func ask(
        _ ask: ClusterAsk,
        _ answer: @escaping @Sendable (Result<ClusterAnswer, ClusterRefusal>) -> Void
    ) {
        let pending = PendingAsk(ask, within: replica.options.longestAsk, answer)
        guard asks.withLock({ $0.put(pending) }) else {
            return pending.refuse(.unavailable("the service ends"))
        }
        replica.wakeUp.wake()
    }

    func takeAsks() -> [PendingAsk] { asks.withLock { $0.take() } }

    /// Nothing is taken any more: refuses what waits.
    func closeAsks(_ words: String) {
        let waiting = asks.withLock { asks in
            asks.close()
            return asks.take()
        }
        for asker in waiting { asker.refuse(.unavailable(words)) }
    }

    /// The chain up to a record, or with 0 up to the newest one of the journal; nil if it is not among the
    /// newest that are known.
    package func chain(ofRecord record: UInt64) -> (record: UInt64, hash: UInt64)? {
        let newest = progress.durableBatch
        let record = record == 0 ? newest : record
        guard record <= newest else { return nil }
        return chains.withLock { $0[record] }.map { (record, $0) }
    }

    /// Runs and closes the journal.
    ///
    /// Not left to the last reference: the caller of `stop` may open the directory at once.
    private func runToTheEnd() {
        guard var node = nextNode() else { return }
        node.run()
    }
}
