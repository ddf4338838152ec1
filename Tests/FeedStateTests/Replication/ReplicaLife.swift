import FakeReplica
import FeedAccounts
import FeedConcurrency
import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedReplica
import FeedState
import FeedTestSupport

/// One life of a node of a cluster on a disk in memory, without threads of its own: the test calls its turns,
/// its syncs and its checkpoints.
final class ReplicaLife {
    /// What the node has said.
    struct Told {
        var states: [NodeState] = []
        var depositions: [Deposition] = []
        var endings: [ReplicaEnding] = []
        var durable: [UInt64] = []
        var proved: [UInt64] = []
        var heard: [UInt64] = []
        var statusCount = 0
        var news: [ReplicaNews] = []
    }

    /// Keeps the records that are handed over.
    private final class Receiver: CommitBatchReceiver {
        let records = Locked<[(body: [UInt8], position: JournalPosition)]>([])

        func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8] {
            records.withLock { $0.append((body, position)) }
            return []
        }

        let limitByteCount = Locked(1 << 30)

        var backlog: CheckpointBacklog {
            let byteCount = records.withLock { $0.reduce(0) { $0 + $1.body.count } }
            return CheckpointBacklog(
                pendingByteCount: byteCount,
                limitByteCount: limitByteCount.withLock { $0 }
            )
        }

        let checkpointed = Locked<UInt64>(0)
        var checkpointedRecord: UInt64 { checkpointed.withLock { $0 } }

        var erasedRecord: UInt64 { 0 }
    }

    let disk: FakeDisk
    let store: FeedStore
    var state: RecoveredState
    let sync: ReplicaSync
    let journal: ReplicatedJournal
    private var node: ReplicatedNode
    private let receiver: Receiver
    private let told: Locked<Told>
    private(set) var isOver = false

    static var configuration: JournalConfiguration {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 16 << 10
        journal.space.ballastByteCount = 0
        journal.drawSalt = { TestSalt.next() }
        return journal
    }

    /// A directory of one machine with a post that has become a cluster's; gives its last record.
    static func makeCluster(on disk: FakeDisk) throws -> (cluster: ClusterID, last: UInt64) {
        try writePost(on: disk)
        disk.revive()
        let begun = try ClusterBeginning.run(directory(disk))
        return (ClusterID(high: begun.instanceID, low: 0), begun.last.number)
    }

    private static func writePost(on disk: FakeDisk) throws {
        let state = try RecoveredState(
            directory(disk),
            into: FeedStore(stripeCount: 4) { 5_000 },
            channels: { _ in }
        )
        let database = state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        let body = StateFixture.body([StateFixture.post(1, revision: 1 << 30)])
        _ = try state.journal.append(body.span, count: 1, at: 0)
    }

    private static func directory(_ disk: FakeDisk) -> StateDirectory {
        var options = StateOptions(path: ".", logCount: 2)
        options.journal = configuration
        options.servesCluster = true
        return StateDirectory(options, disk, vfs: disk.databaseDiskName)
    }

    /// Starts on what the disk has, beside a replica.
    init(
        _ disk: FakeDisk,
        _ socketPath: String,
        address: String = "",
        longestAsk: Duration = .seconds(60),
        newestLevel: UInt32 = RecordHead.newestLevel
    ) throws {
        let store = FeedStore(stripeCount: 4) { 5_000 }
        var options = StateOptions(path: ".", logCount: 2)
        options.journal = Self.configuration
        var replica = ReplicaOptions(socketPath: socketPath, address: address)
        replica.longestAsk = longestAsk
        options.replica = replica
        options.newestLevel = newestLevel
        let wakeUp = try ReplicaWakeUp()
        let directory = StateDirectory(options, disk, vfs: disk.databaseDiskName)
        let recovered = try RecoveredState(
            directory,
            into: store,
            channels: { _ in },
            onFirstEntry: { wakeUp.wake() }
        )
        let meta = recovered.checkpointWork.database.meta
        let sync = ReplicaSync(syncedRecord: recovered.journal.last.number) { wakeUp.wake() }
        let receiver = Receiver()
        receiver.checkpointed.withLock { $0 = meta.checkpointed.number }
        let told = Locked(Told())
        var commits = CommitEvents()
        commits.durable = { batch in told.withLock { $0.durable.append(batch) } }
        let parts = CommitParts(
            journal: Transferred(recovered.journal),
            chain: recovered.checkpointWork.chain,
            logs: recovered.logs,
            receiver: receiver,
            maximumWaitingByteCount: 1 << 20,
            keepsSegments: false,
            events: commits,
            failed: { _ in }
        )
        let journal = ReplicatedJournal(
            parts,
            ReplicaParts(
                options: replica,
                events: Self.events(store, told),
                cluster: ClusterID(high: meta.cluster.high, low: meta.cluster.low),
                wakeUp: wakeUp,
                sync: sync,
                lastMicroseconds: recovered.journal.lastMicroseconds,
                store: store,
                copies: ReplicaCopies(BackupOptions()) { wakeUp.wake() },
                installer: StateInstaller(directory) { wakeUp.wake() }
            )
        )
        guard let node = journal.takeNode() else { preconditionFailure("A node is taken once.") }
        self.disk = disk
        self.store = store
        self.sync = sync
        self.receiver = receiver
        self.told = told
        self.journal = journal
        state = recovered
        self.node = node
    }

    private static func events(_ store: FeedStore, _ told: Locked<Told>) -> ReplicaEvents {
        var events = ReplicaEvents()
        events.follow = { chain in
            LiveApply(store: store, accounts: Accounts(), after: chain) { _ in }
        }
        events.role = { state in told.withLock { $0.states.append(state) } }
        events.deposed = { deposition, _ in told.withLock { $0.depositions.append(deposition) } }
        events.ended = { ending in told.withLock { $0.endings.append(ending) } }
        events.proved = { round in told.withLock { $0.proved.append(round) } }
        events.heard = { index, _ in told.withLock { $0.heard.append(index) } }
        events.status = { _ in told.withLock { $0.statusCount += 1 } }
        events.news = { news in told.withLock { $0.news.append(news) } }
        return events
    }

    var said: Told { told.withLock { $0 } }

    /// What waits for a checkpoint at most before a follower takes no more.
    func setBacklogLimit(_ byteCount: Int) {
        receiver.limitByteCount.withLock { $0 = byteCount }
    }

    /// The last record that the journal has.
    var last: UInt64 { state.journal.last.number }

    /// Whether all that was logged is committed.
    var isQuiet: Bool { journal.progress.durableBatch >= state.logs.newestBatch }

    var isLeading: Bool {
        guard !isOver, case .leading = said.states.last else { return false }
        return true
    }

    /// One turn; false once the node has ended.
    @discardableResult
    func turn(waitingUpTo longest: Duration = .milliseconds(1)) throws -> Bool {
        guard !isOver else { return false }
        isOver = try !node.turn(waitingUpTo: longest)
        return !isOver
    }

    /// Takes turns until something holds, or the node has ended; false if it takes too long.
    func turn(until isDone: () -> Bool) throws -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !isDone() {
            guard try turn(), ContinuousClock.now < end else { return isDone() }
        }
        return true
    }

    /// Logs a vote on the first post, by the log of a loop.
    func vote(_ loop: Int = 0) {
        let log = state.logs[loop]
        _ = log.transaction {
            try? store.castVote(PostID(rawValue: 1), .up, sink: log)
        }
    }

    /// Logs a new post; gives its time, nil if it could not be made.
    @discardableResult
    func create(_ title: String, _ loop: Int = 0) -> Int64? {
        let log = state.logs[loop]
        return log.transaction {
            var page = PostPage()
            let content = PostContent(title: title)
            _ = try? store.createPost(
                content,
                in: FeedID(rawValue: 0),
                sink: log,
                into: &page
            )
            return page.rows.first?.createTimeMilliseconds
        }
    }

    /// Gives the checkpoint what was handed over, and writes a step of one if its records are durable; says
    /// whether one has ended.
    func checkpoint() throws -> Bool {
        for (body, position) in receiver.records.withLock({ $0 }) {
            try state.checkpointWork.add(body, at: position)
        }
        receiver.records.withLock { $0 = [] }
        if !state.checkpointWork.isCheckpointing {
            guard state.checkpointWork.addedByteCount > 0 else { return false }
            state.checkpointWork.begin()
        }
        guard let target = state.checkpointWork.target, sync.areDurable(through: target) else {
            return false
        }
        try state.checkpointWork.writeStep(changes: 3, until: { false })
        let database = state.checkpointWork.database
        receiver.checkpointed.withLock { $0 = database.meta.checkpointed.number }
        return !state.checkpointWork.isCheckpointing
    }

    /// Ends all as a killed process does; the disk is dead then.
    func die() { disk.die() }
}

/// The state as of each record of a cluster's log, by a plain store that takes one entry after the other.
struct LogModel {
    private let store = FeedStore(stripeCount: 4) { 5_000 }
    private let first: UInt64
    private var hashes: [UInt64] = []

    /// The state of a directory whose last record is the one before the cluster's first.
    init(of disk: FakeDisk, behind last: UInt64) throws {
        let copy = disk.copy()
        try self.init(
            of: copy,
            at: ".",
            vfs: copy.databaseDiskName,
            ReplicaLife.configuration,
            behind: last
        )
    }

    /// The same of a directory that nobody else has, and that is written to.
    init(
        of copy: any JournalFiles,
        at path: String,
        vfs: String? = nil,
        _ configuration: JournalConfiguration,
        behind last: UInt64
    ) throws {
        first = last
        let database = try StateDatabase.look(directory: path, files: copy, vfs: vfs)
        var configuration = configuration
        configuration.instanceID = database.meta.instanceID
        let recovery = AccountsRecovery()
        try database.load(into: store, accounts: recovery, channels: { _, _ in })
        let journal = try SegmentJournal(
            copy,
            configuration,
            checkpointed: database.meta.checkpointed
        )
        var bodies: [[UInt8]] = []
        try journal.replay(after: database.meta.checkpointed.number) { _, body in
            bodies.append(Array(copying: body))
            return true
        }
        for body in bodies { try apply(body, from: 0) }
        hashes = [store.stateHash()]
    }

    private func apply(_ body: [UInt8], from start: Int) throws {
        var reader = try LogEntryReader(Array(body[start...]))
        while let entry = try reader.next() { try store.apply(entry) }
    }

    /// The hash of the state as of a record of the log.
    mutating func hash(_ record: UInt64, _ log: [FakeEntry]) throws -> UInt64 {
        while first + UInt64(hashes.count) <= record {
            let entry = log[hashes.count - 1]
            if !entry.body.isEmpty { try apply(entry.body, from: RecordHead.byteCount) }
            hashes.append(store.stateHash())
        }
        return hashes[Int(record - first)]
    }
}
