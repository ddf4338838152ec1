package import FeedJournal
internal import FeedLog
internal import FeedRanking

/// Reads a data directory as a start would, without serving it: every row, every record, and that
/// they fit together.
package struct StateVerification: Sendable, Equatable {
    /// The data directory's name of itself.
    package var instanceID: UInt64
    package var postCount: UInt64
    package var checkpointedRecord: UInt64
    package var lastRecord: UInt64
    /// The records after the checkpoint, and the log entries in them.
    package var recordCount: UInt64
    package var entryCount: UInt64
    package var stateHash: UInt64
    package var accounts: KnownAccounts
    /// The chain of a cluster's records up to the last one; nil in the directory of one machine.
    package var chain: UInt64?
    package var droppedParts: [DroppedPart] = []
    /// The record up to which `state.db` has a part of the changes that an accepted loss drops; nil
    /// where it has none of them.
    package var partlyCheckpointed: UInt64?
    /// Damage in records of the journal that `state.db` has already, in words; nil where there is none.
    package var checkpointedDamage: String?
    /// What is wrong with records that `--journal-keep` has kept and no start needs, in words; nil where
    /// nothing is.
    package var keptProblem: String?
    /// How many records an accepted loss drops that were durable once, at least.
    package var lostRecordCount: UInt64 = 0
    /// When the last record was made that such a loss leaves, in microseconds since 1970; 0 where
    /// that is not known.
    package var lastMicroseconds: UInt64 = 0
    /// A hash of the state of the journal alone, from its first record; nil where it was not asked for.
    package var replayedHash: UInt64?

    /// Reads and checks everything, with the directory, which has to be there, locked where it ever was, and
    /// writes nothing.
    ///
    /// An accepted loss is only looked at. `replaysAll` replays the journal from its first record too, which
    /// has to be there still.
    package static func run(
        path: String,
        acceptedLoss: UInt64? = nil,
        replaysAll: Bool = false
    ) throws(StateStartError) -> StateVerification {
        let directory = try directory(path, acceptedLoss)
        if let instanceID = BackupVerification.copiedInstance(path: path) {
            throw .backup(instanceID: instanceID)
        }
        return try run(directory, replaysAll: replaysAll)
    }

    /// Whether a directory is a node's of a cluster, as far as its `state.db` can be opened.
    package static func isOfCluster(path: String) -> Bool {
        let database = try? directory(path, nil).lookedAtDatabase()
        return database?.meta.chain.isOfCluster ?? false
    }

    private static func directory(
        _ path: String,
        _ acceptedLoss: UInt64?
    ) throws(StateStartError) -> StateDirectory {
        let files = try startErrors { () throws(StorageError) in
            try POSIXFiles(path: path, for: .look)
        }
        var options = StateOptions(path: path, logCount: 1)
        options.mustExist = true
        options.acceptedLoss = acceptedLoss
        return StateDirectory(options, files)
    }

    package static func run(
        _ directory: StateDirectory,
        _ stripeCount: Int = 16,
        replaysAll: Bool = false
    ) throws(StateStartError) -> StateVerification {
        let database = try directory.lookedAtDatabase()
        let directory = directory.asServed(of: database)
        let afterLoss = try directory.acceptedLoss(database)
        if afterLoss == nil { try directory.checkIsOriginal(database) }
        let meta = database.meta
        let store = FeedStore(stripeCount: stripeCount) { 0 }
        let recovery = StoreRecovery(store: store, channels: { _ in })
        try startErrors { () throws(StorageError) in
            try database.checkPages()
            try recovery.load(database)
        }
        let scan = if let afterLoss { afterLoss } else { try directory.scan(database) }
        if afterLoss == nil {
            if let problem = scan.problem { throw directory.explained(problem, database) }
            try directory.checkUnfinishedCheckpoint(meta, scan.last)
        }
        let (records, keptProblem) = try startErrors { () throws(StorageError) in
            let records = try scan.replay(
                directory.files,
                after: meta.checkpointed.number,
                meta.chain,
                into: store,
                recovery.accounts
            )
            return (records, try scan.keptProblem(directory.files))
        }
        let accounts = recovery.accounts.state
        var verified = StateVerification(
            instanceID: meta.instanceID,
            postCount: store.postCount,
            checkpointedRecord: meta.checkpointed.number,
            lastRecord: scan.last.number,
            recordCount: records.recordCount,
            entryCount: records.entryCount,
            stateHash: store.stateHash() &+ accounts.stateHash,
            accounts: KnownAccounts(accounts)
        )
        verified.chain = records.chain.isOfCluster ? records.chain.hash : nil
        verified.checkpointedDamage = scan.checkpointedDamage?.note(last: scan.last.number)
        verified.keptProblem = keptProblem.map {
            "\($0) Nothing of the state is lost; no moment can be had for which it is needed."
        }
        if afterLoss != nil {
            verified.droppedParts = scan.droppedParts
            let checkpointing = meta.checkpointing.number
            verified.partlyCheckpointed = checkpointing > scan.last.number ? checkpointing : nil
            let known = max(scan.lastKnown, checkpointing)
            verified.lostRecordCount = known - min(known, scan.last.number)
            let clock = try? ClockSteps(directory.files)
            verified.lastMicroseconds =
                clock?.clock(of: scan.last.number, at: scan.lastMicroseconds)
                ?? scan.lastMicroseconds
        }
        if replaysAll {
            verified.replayedHash = try startErrors { () throws(StorageError) in
                try replayedHash(directory, database, stripeCount)
            }
        }
        return verified
    }

    private static func replayedHash(
        _ directory: StateDirectory,
        _ database: StateDatabase,
        _ stripeCount: Int
    ) throws(StorageError) -> UInt64 {
        let scan = try RecoveryScan(
            directory.files,
            directory.configuration(database),
            checkpointed: .start
        )
        if let problem = scan.problem { throw problem }
        let store = FeedStore(stripeCount: stripeCount) { 0 }
        let accounts = AccountsRecovery()
        let chain = database.meta.chain
        _ = try scan.replay(
            directory.files,
            after: 0,
            chain.isOfCluster ? chain.believingFirst : chain,
            into: store,
            accounts
        )
        return store.stateHash() &+ accounts.state.stateHash
    }
}

/// What a verification keeps of the records: it checkpoints nothing.
private struct VerifiedRecords: ReplayedRecords {
    var newestCounts = CountsTable()
    var chain: RecordChain
    var recordCount: UInt64 = 0
    var entryCount: UInt64 = 0

    mutating func add(_ counts: [PostCounts]) {
        for news in counts { newestCounts.set(news) }
        entryCount += UInt64(counts.count)
    }

    mutating func add(_ entry: LogEntry) { entryCount += 1 }

    mutating func endRecord(_ byteCount: Int, at position: JournalPosition, _ chain: RecordChain) {
        self.chain = chain
        newestCounts.flush()
        recordCount += 1
    }
}

extension RecoveryScan {
    /// Applies the records that the scan has found after a position; gives what they came to.
    fileprivate func replay(
        _ files: any JournalFiles,
        after number: UInt64,
        _ chain: RecordChain,
        into store: FeedStore,
        _ accounts: AccountsRecovery
    ) throws(StorageError) -> VerifiedRecords {
        var records = VerifiedRecords(chain: chain)
        var replay = Replay(store: store, accounts: accounts, after: chain, channels: { _ in })
        let source: Replay.Source = { (body) throws(StorageError) in
            try self.replay(files, after: number, body)
        }
        try replay.run(source, into: &records) { _ in }
        return records
    }
}

extension KnownAccounts {
    /// The accounts of a backup, or of a data directory that no service uses; all of it is checked, and
    /// nothing changed.
    package static func read(path: String) throws(StateStartError) -> KnownAccounts {
        guard BackupVerification.isBackup(path: path) else {
            return try StateVerification.run(path: path).accounts
        }
        do throws(StorageError) {
            return try BackupVerification.run(path: path).accounts
        } catch {
            throw .storage(error)
        }
    }
}
