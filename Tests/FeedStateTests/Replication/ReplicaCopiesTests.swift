import FakeReplica
import FeedAccounts
import FeedConcurrency
import FeedJournal
import FeedLog
import FeedRanking
import FeedReplica
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// Copies of the state to other nodes, and to this one, with the threads of a node and in real directories.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReplicaCopiesTests {
    /// A node of a cluster in a directory, which a test moves.
    private final class Node: Sendable {
        let store = FeedStore(stripeCount: 4) { 1_000 }
        let state: DurableState
        let leads = Semaphore()
        let endings = Locked<[ReplicaEnding]>([])
        let hasEnded = Semaphore()
        let installing = Locked<UInt64?>(nil)
        let hasSession = Semaphore()
        private let commits = Semaphore()

        init(_ options: StateOptions) throws {
            let (store, leads, endings, hasEnded) = (store, leads, endings, hasEnded)
            let (installing, commits, hasSession) = (installing, commits, hasSession)
            var events = DurableState.Events()
            events.replica.follow = { chain in
                LiveApply(store: store, accounts: Accounts(), after: chain) { _ in }
            }
            events.replica.role = { if case .leading = $0 { leads.signal() } }
            events.replica.installing = { record in installing.withLock { $0 = record } }
            events.replica.news = { if case .connected = $0 { hasSession.signal() } }
            events.journal.durable = { _ in commits.signal() }
            events.replica.ended = { ending in
                endings.withLock { $0.append(ending) }
                hasEnded.signal()
            }
            state = try DurableState.open(
                StateDirectory(options),
                into: store,
                channels: { _ in },
                events: events
            )
            try state.start()
        }

        /// Creates posts, and waits until they are committed.
        func create(_ count: Int) {
            for _ in 0..<count {
                let log = state.logs[0]
                log.transaction {
                    var page = PostPage()
                    let content = PostContent(title: "Post")
                    _ = try? store.createPost(
                        content,
                        in: FeedID(rawValue: 0),
                        sink: log,
                        into: &page
                    )
                }
                commit()
            }
        }

        private func commit() {
            while state.journal.durableBatch < state.logs.newestBatch {
                commits.wait()
            }
        }
    }

    private let directory: TemporaryDirectory
    private let cluster: FakeCluster
    private let replica: FakeReplica
    private let begun: ClusterBeginning
    private var options: StateOptions

    init() throws {
        directory = try TemporaryDirectory()
        options = StateOptions(path: directory.path + "/state", logCount: 1)
        options.journal.segmentByteCount = 1 << 20
        options.journal.space.ballastByteCount = 1 << 16
        let state = try DurableState.open(
            StateDirectory(options),
            into: FeedStore(stripeCount: 4) { 1_000 },
            channels: { _ in },
            events: DurableState.Events()
        )
        try state.start()
        state.stop()
        begun = try ClusterBeginning.run(path: options.path)
        try FileManager.default.copyItem(
            atPath: options.path,
            toPath: directory.path + "/begun"
        )
        cluster = FakeCluster(
            ClusterID(high: begun.instanceID, low: 0),
            behind: begun.last.number
        )
        replica = try FakeReplica(in: cluster)
        try replica.start()
        options.replica = ReplicaOptions(socketPath: replica.socketPath, address: "here:1")
    }

    /// Starts the node that leads.
    private func leader() throws -> Node {
        let node = try Node(options)
        #expect(node.leads.wait(upTo: .seconds(60)))
        return node
    }

    /// The state as of a record of the log, by a plain store.
    private func hash(_ record: UInt64) throws -> UInt64 {
        let path = directory.path + "/model-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.copyItem(atPath: directory.path + "/begun", toPath: path)
        var model = try LogModel(
            of: POSIXFiles(path: path),
            at: path,
            options.journal,
            behind: begun.last.number
        )
        return try model.hash(record, cluster.log)
    }

    /// Keeps what the replica would send of a file that a leader has named.
    private func keep(_ path: String, as name: String) throws -> String {
        let folder = directory.path + "/" + name
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path, toPath: folder + "/state.db")
        return folder
    }

    private func file(_ copy: FakeCopy?) throws -> (index: UInt64, path: String) {
        guard case .file(let index, let path)? = copy else {
            throw StorageError.missingFile(path: "\(copy, default: "no answer")")
        }
        return (index, path)
    }

    @Test func aCopyWhileChangesGoOnIsTheStateAtItsIndex() throws {
        let node = try leader()
        node.create(30)
        let least = cluster.committed
        cluster.wantCopy(1, least: least)
        let (index, path) = try file(cluster.awaitCopy(1))
        #expect(index >= least && path.hasPrefix("/"))
        // Checkpoints stay in SQLite's log until the copy has ended.
        node.create(30)
        let later = cluster.committed
        let folder = try keep(path, as: "copy")
        cluster.endCopy(1)
        cluster.wantCopy(2, least: later)
        let second = try file(cluster.awaitCopy(2))
        #expect(second.index >= later)
        cluster.endCopy(2)
        node.state.stop()
        let found = try BackupVerification.run(path: folder)
        #expect(found.lastRecord == index)
        #expect(try found.stateHash == hash(index) &+ AccountsState().stateHash)
        #expect(cluster.violations == [])
    }

    @Test func severalRequestsShareAFileAndALaterOneWaits() throws {
        let node = try leader()
        node.create(3)
        cluster.wantCopy(1, least: begun.last.number)
        let first = try file(cluster.awaitCopy(1))
        node.create(3)
        cluster.wantCopy(2, least: first.index)
        cluster.wantCopy(3, least: first.index + 1)
        #expect(try file(cluster.awaitCopy(2)) == first)
        cluster.endCopy(1)
        #expect(cluster.copies[3] == nil)
        cluster.endCopy(2)
        #expect(try file(cluster.awaitCopy(3)).index > first.index)
        node.state.stop()
        #expect(cluster.violations == [])
    }

    @Test func aBackupWaitsForACopyAndACopySharesItsFile() throws {
        let node = try leader()
        node.create(3)
        cluster.wantCopy(1, least: cluster.committed)
        let first = try file(cluster.awaitCopy(1))
        let (isMade, made) = (Semaphore(), Locked<BackupSummary?>(nil))
        node.state.checkpointThread.backUp(through: node.state.journal.durableBatch) { result in
            made.withLock { $0 = try? result.get() }
            isMade.signal()
        }
        cluster.wantCopy(2, least: first.index)
        #expect(try file(cluster.awaitCopy(2)) == first)
        #expect(made.withLock { $0 } == nil)
        for request in [1, 2] as [UInt64] { cluster.endCopy(request) }
        #expect(isMade.wait(upTo: .seconds(60)))
        #expect(made.withLock { $0 } != nil)
        node.state.stop()
        #expect(cluster.violations == [])
    }

    @Test func aLogOverItsLimitTakesTheFileBack() throws {
        var options = options
        options.backups.maximumLogByteCount = 1
        options.backups.copyLogShare = 0
        let node = try Node(options)
        #expect(node.leads.wait(upTo: .seconds(60)))
        node.create(1)
        cluster.wantCopy(1, least: cluster.committed)
        _ = try file(cluster.awaitCopy(1))
        // The next checkpoint has something to write.
        node.create(1)
        let why = cluster.awaitNoCopy(1)
        #expect(why?.contains("the limit is 1 bytes") == true)
        // The file was thawed, and another copy begins.
        cluster.wantCopy(2, least: cluster.committed)
        #expect(try file(cluster.awaitCopy(2)).index > 0)
        node.state.stop()
        #expect(cluster.violations == [])
    }

    /// A backup that waits meanwhile has its own limit, but not before it reads.
    @Test func aLogBelowHalfOfWhatIsFreeEndsNoCopy() throws {
        var options = options
        options.backups.maximumLogByteCount = 1
        let node = try Node(options)
        #expect(node.leads.wait(upTo: .seconds(60)))
        node.create(1)
        cluster.wantCopy(1, least: cluster.committed)
        let first = try file(cluster.awaitCopy(1))
        let isAnswered = Locked(false)
        node.state.checkpointThread.backUp(through: node.state.journal.durableBatch) { _ in
            isAnswered.withLock { $0 = true }
        }
        node.create(1)
        let files = try POSIXFiles(reading: options.path)
        let log = try #require(try files.open("state.db-wal"))
        while try log.byteCount() == 0 {}
        // It shares the frozen file, which the checkpoint thread gives after it has looked at the log.
        cluster.wantCopy(2, least: first.index)
        #expect(try file(cluster.awaitCopy(2)) == first)
        #expect(!isAnswered.withLock { $0 })
        node.state.stop()
        #expect(cluster.violations == [])
    }

    @Test func aLogsLimitIsOfTheTimeAtWhichItsFileWasFrozen() throws {
        var options = BackupOptions()
        options.maximumLogByteCount = 10
        let copies = ReplicaCopies(options) {}
        for (free, limit) in [(100, 50), (18, 10), (0, 10)] {
            copies.ask(1, least: 1)
            copies.give("/state.db", at: 1, freeByteCount: free)
            copies.ask(2, least: 1)
            copies.give("/state.db", at: 1, freeByteCount: 0)
            #expect(copies.takeWords().count == 2)
            copies.observe(logByteCount: limit)
            #expect(copies.takeWords() == [] && copies.isReading)
            copies.observe(logByteCount: limit + 1)
            let words = copies.takeWords()
            #expect(words.count == 2 && !copies.isReading)
            guard case .noCopy(1, let why) = words.first else { throw Unexpected(words) }
            #expect(why.contains("the limit is \(limit) bytes"))
        }
    }

    /// The end of a session ends its copies, also those that wait.
    @Test func aSessionTakesItsCopiesWithIt() throws {
        let wakes = Locked(0)
        let copies = ReplicaCopies(BackupOptions()) { wakes.withLock { $0 += 1 } }
        copies.ask(1, least: 5)
        copies.ask(2, least: 9)
        copies.give("/state.db", at: 7, freeByteCount: 0)
        #expect(copies.takeWords() == [.copy(request: 1, index: 7, path: "/state.db")])
        #expect(copies.isReading && copies.wantedRecord == 9)
        copies.endAll()
        #expect(!copies.isReading && copies.wantedRecord == nil)
        // What comes too late has nobody to tell.
        copies.give("/state.db", at: 9, freeByteCount: 0)
        copies.refuse("late")
        #expect(copies.takeWords() == [])
        #expect(wakes.withLock { $0 } == 1)
    }

    @Test func aServiceThatFollowsGivesNoCopy() throws {
        let node = try leader()
        cluster.depose(dropping: false)
        #expect(node.state.journal.durableBatch > 0)
        node.state.stop()
        let follower = try Node(options)
        #expect(follower.hasSession.wait(upTo: .seconds(60)))
        cluster.wantCopy(1, least: 1)
        #expect(cluster.awaitNoCopy(1)?.contains("does not lead") == true)
        follower.state.stop()
    }

    /// A node without a state, and one that has fallen behind, go on from the leader's.
    @Test(arguments: [false, true])
    func aNodeTakesTheStateAndGoesOn(_ isEmpty: Bool) throws {
        let node = try leader()
        node.create(10)
        cluster.wantCopy(1, least: cluster.committed)
        let (index, path) = try file(cluster.awaitCopy(1))
        let folder = try keep(path, as: "copy")
        cluster.endCopy(1)
        node.create(5)
        let expected = try hash(cluster.committed)
        cluster.forget(through: index, leaving: folder + "/state.db")
        let second = try FakeReplica(in: cluster, node: 2)
        try second.start()
        defer { second.stop() }
        var other = options
        other.path = directory.path + "/other"
        other.replica = ReplicaOptions(socketPath: second.socketPath, address: "there:1")
        if isEmpty {
            try waitForState(other)
        } else {
            try FileManager.default.copyItem(
                atPath: directory.path + "/begun",
                toPath: other.path
            )
            let behind = try Node(other)
            #expect(behind.hasEnded.wait(upTo: .seconds(60)))
            #expect(behind.endings.withLock { $0.map(\.exitStatus) } == [75])
            #expect(behind.installing.withLock { $0 } == index)
            behind.state.stop()
        }
        let third = try Node(other)
        #expect(third.state.recovery.installed == index)
        #expect(cluster.awaitDurable(cluster.committed, of: 2))
        #expect(third.store.stateHash() == expected)
        let kept = other.path + "/quarantine/replaced-1/state.db"
        #expect(FileManager.default.fileExists(atPath: kept) == !isEmpty)
        for node in [node, third] { node.state.stop() }
        #expect(cluster.violations == [])
    }

    private func waitForState(_ options: StateOptions) throws {
        let (ended, statuses) = (Semaphore(), Locked<[Int32]>([]))
        var events = ReplicaEvents()
        events.ended = { ending in
            statuses.withLock { $0.append(ending.exitStatus) }
            ended.signal()
        }
        let directory = try StateDirectory(options)
        #expect(try directory.isWithoutState())
        let replica = try #require(options.replica)
        let waiting = try WaitingNode(directory, replica, events)
        try waiting.start()
        #expect(ended.wait(upTo: .seconds(60)))
        #expect(statuses.withLock { $0 } == [75])
        waiting.stop()
    }

    @Test func aSpoiledStateEndsTheNode() throws {
        let spoiled = directory.path + "/spoiled"
        try Data("no database".utf8).write(to: URL(filePath: spoiled))
        let node = try leader()
        node.create(3)
        cluster.forget(through: cluster.committed, leaving: spoiled)
        let second = try FakeReplica(in: cluster, node: 2)
        try second.start()
        defer { second.stop() }
        var other = options
        other.path = directory.path + "/begun"
        other.replica = ReplicaOptions(socketPath: second.socketPath, address: "there:1")
        let behind = try Node(other)
        #expect(behind.hasEnded.wait(upTo: .seconds(60)))
        let ending = try #require(behind.endings.withLock { $0.first })
        #expect(ending.exitStatus == 5)
        #expect(ending.sentence.contains("the directory is as it was"))
        behind.state.stop()
        let again = try DurableState.open(
            StateDirectory(other),
            into: FeedStore(stripeCount: 4) { 1_000 },
            channels: { _ in },
            events: DurableState.Events()
        )
        #expect(again.recovery.last == begun.last)
        node.state.stop()
    }
}
