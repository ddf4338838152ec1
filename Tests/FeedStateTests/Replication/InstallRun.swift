import FeedAccounts
import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport

/// The state of a cluster's leader at a record, as a file that another node takes.
struct LeadersState {
    let instanceID: UInt64
    /// The last record before the cluster's own.
    let beginning: UInt64
    /// The record that the file is of.
    let record: UInt64
    let file: [UInt8]
    /// The hash of the store at the first record, and at the last one.
    let firstHash: UInt64
    let hash: UInt64
    /// The directory as the cluster began with it.
    let begun: FakeDisk

    /// A cluster of a directory with one post, which has got so many records since.
    init(records count: UInt64 = 40) throws {
        let disk = FakeDisk()
        beginning = try ReplicaLife.makeCluster(on: disk).last
        begun = disk.copy()
        let store = FeedStore(stripeCount: 4) { 5_000 }
        var state = try Self.start(disk, into: store)
        let database = state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        firstHash = store.stateHash()
        instanceID = database.meta.instanceID
        for number in 1...count {
            let record = beginning + number
            var entries = [StateFixture.post(record, revision: store.revision + 1)]
            entries.append(
                .counts(
                    PostCounts(
                        id: PostID(rawValue: 1),
                        upvoteCount: number,
                        downvoteCount: 0,
                        revision: store.revision + 2
                    )
                )
            )
            for entry in entries { try store.apply(entry) }
            var body = [UInt8](repeating: 0, count: RecordHead.byteCount)
            body += StateFixture.body(entries)
            state.checkpointWork.chain.seal(&body, entryCount: entries.count, at: number)
            let position = try state.journal.append(
                body.span,
                count: UInt32(entries.count),
                at: number
            )
            try state.checkpointWork.add(body, at: position)
        }
        state.checkpointWork.begin()
        while state.checkpointWork.isCheckpointing {
            try state.checkpointWork.writeStep(until: { false })
        }
        _ = try database.freeze()
        record = beginning + count
        file = disk["state.db"] ?? []
        hash = store.stateHash()
    }

    /// The options of a node.
    static var options: StateOptions {
        var options = StateOptions(path: ".", logCount: 1)
        options.journal = ReplicaLife.configuration
        options.replica = ReplicaOptions(socketPath: "/unused", address: "")
        return options
    }

    static func directory(_ disk: FakeDisk) -> StateDirectory {
        StateDirectory(options, disk, vfs: disk.databaseDiskName)
    }

    /// Starts a node on a disk.
    static func start(_ disk: FakeDisk, into store: FeedStore) throws -> RecoveredState {
        try RecoveredState(directory(disk), into: store, channels: { _ in })
    }

    /// The installation of the file, or of another one.
    func install(
        in disk: FakeDisk,
        of record: UInt64? = nil,
        instanceID: UInt64? = nil,
        beginning: UInt64? = nil
    ) -> StateInstall {
        StateInstall(
            of: record ?? self.record,
            instanceID: instanceID ?? self.instanceID,
            beginning: beginning,
            in: ".",
            disk,
            vfs: disk.databaseDiskName,
            segmentByteCount: ReplicaLife.configuration.segmentByteCount
        )
    }

    /// A file with these bytes, on another disk.
    static func source(_ bytes: [UInt8]) throws -> any JournalFile {
        let disk = FakeDisk()
        disk["state.db"] = bytes
        guard let file = try disk.open("state.db") else {
            throw StorageError.missingFile(path: "state.db")
        }
        return file
    }
}

/// Lives of a node that takes the state of another one, on a disk in memory whose power fails.
struct InstallRun {
    private struct Complaint: Error {
        let text: String
    }

    private let leader: LeadersState
    private var disk: FakeDisk
    private let wasEmpty: Bool
    private var generator: SeededGenerator
    /// Whether the directory was marked: from then on there is no way back.
    private var isMarked = false
    private(set) var cutCount = 0
    /// The starts that have gone on with an installation, which a cut may have ended before.
    private(set) var finishCount = 0

    init(_ leader: LeadersState, seed: UInt64, ignoresSyncs: Bool = false) {
        self.leader = leader
        generator = SeededGenerator(seed: seed)
        wasEmpty = generator.oneIn(3)
        disk = wasEmpty ? FakeDisk() : leader.begun.copy()
        disk.ignoresSyncs = ignoresSyncs
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<8 {
            disk.drawPowerCut(after: 120, or: 40, &generator)
            if let complaint = live() { return complaint }
            guard let found = disk.endLife(&generator) else { continue }
            disk = found
            cutCount += 1
        }
        for _ in 0..<2 {
            disk.callsUntilPowerCut = .max
            if let complaint = live() { return complaint }
            disk.revive()
        }
        guard isMarked else { return "The state was never installed." }
        return nil
    }

    private mutating func live() -> String? {
        defer { disk.die() }
        do {
            if try LeadersState.directory(disk).isWithoutState() {
                guard wasEmpty, !isMarked else { return "There is no state any more." }
                try install()
            } else {
                try serve()
            }
        } catch let complaint as Complaint {
            return complaint.text
        } catch {
            guard disk.isDead else { return "An error without a power cut: \(error)" }
        }
        return nil
    }

    /// A start, which has the old state or the new one, and installs the new one if it has not.
    private mutating func serve() throws {
        let store = FeedStore(stripeCount: 4) { 5_000 }
        let state = try LeadersState.start(disk, into: store)
        let database = state.checkpointWork.database
        defer {
            // SQLite closes its files on a dead disk: a process that ends writes nothing more.
            disk.die()
            withExtendedLifetime(database) {}
        }
        if state.summary.installed != nil { finishCount += 1 }
        let (last, hash) = (state.journal.last.number, store.stateHash())
        switch last {
        case leader.record:
            guard hash == leader.hash else { throw Complaint(text: "The new state is another.") }
            guard disk["restoring"] == nil, disk["state.db.new"] == nil else {
                throw Complaint(text: "The installation has no end.")
            }
            isMarked = true
        case leader.beginning where !wasEmpty:
            guard hash == leader.firstHash else { throw Complaint(text: "The old one is another.") }
            guard !isMarked else { throw Complaint(text: "The old state is back.") }
            try install()
        default: throw Complaint(text: "The directory is of record \(last).")
        }
    }

    private mutating func install() throws {
        let install = leader.install(in: disk, beginning: wasEmpty ? nil : leader.beginning)
        try install.prepare(from: LeadersState.source(leader.file)) { true }
        try install.mark()
        isMarked = true
    }
}
