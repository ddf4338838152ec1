internal import FeedJournal
internal import FeedLog
internal import Foundation

/// How the journal of a directory continues the state of a backup: then nothing is lost with the
/// directory's own `state.db`.
struct JournalContinuation: Equatable {
    /// The last record that is in the backup.
    let checkpointed: UInt64
    /// The last record of the journal that is whole.
    let last: UInt64

    /// What is wrong with the journal after that record; nil where nothing is.
    ///
    /// A start with the backup refuses it, and says what is lost.
    let problem: StorageError?
    /// The last record that a start with the backup knows to have been durable.
    let known: JournalPosition

    /// Reads the journal from the last record of a backup, or of a copy of it, on, and changes nothing.
    ///
    /// It throws what is missing, damaged, or of another instance.
    init(
        of backup: StateDatabase,
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(StorageError) {
        let noted = backup.directoryRow?.known ?? .start
        try self.init(of: backup.meta, noted, directory, files, vfs: vfs)
    }

    /// The same of what a backup says of itself, and of the last record that it knows to have been durable.
    init(
        of meta: StateMeta,
        _ noted: JournalPosition,
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(StorageError) {
        // A file that is damaged in its rows still knows how far it was.
        let own = try? StateDatabase.look(directory: directory, files: files, vfs: vfs)
        if let own, own.meta.instanceID != meta.instanceID {
            throw .otherInstance(
                file: StateDatabase.fileName,
                found: own.meta.instanceID,
                expected: meta.instanceID
            )
        }
        // No start would take the cluster's records after it.
        if let own, own.meta.chain.isOfCluster, !meta.chain.isOfCluster {
            throw .head(.unexpected(record: own.meta.chain.beginning + 1))
        }
        known = noted.number > meta.checkpointed.number ? noted : meta.checkpointed
        var configuration = JournalConfiguration(instanceID: meta.instanceID)
        configuration.known = known
        let scan = try RecoveryScan(files, configuration, checkpointed: meta.checkpointed)
        checkpointed = meta.checkpointed.number
        last = scan.last.number
        problem = try Self.problem(of: scan, behind: checkpointed, known)
        guard let own else { return }
        let ownNoted = own.directoryRow?.known.number ?? 0
        let ownLast = max(own.meta.checkpointed.number, own.meta.checkpointing.number, ownNoted)
        guard ownLast > last else { return }
        // What only the own file has would be lost with it.
        switch problem {
        case nil, .missingWatermark?: throw .lost(records: last + 1...ownLast)
        case .some(let problem): throw problem
        }
    }

    /// What is wrong with a journal after the records that continue a backup; throws what is wrong
    /// where none does.
    private static func problem(
        of scan: RecoveryScan,
        behind checkpointed: UInt64,
        _ known: JournalPosition
    ) throws(StorageError) -> StorageError? {
        // A backup of version 0.1 does not say that there must be a watermark.
        let unproven: StorageError? =
            scan.hasWatermark ? nil : .missingWatermark(last: scan.last.number)
        guard let problem = scan.problem ?? unproven else { return nil }
        switch problem {
        case .missingWatermark:
            // A start that knows of no durable record does not miss the watermark.
            guard known.number > 0 else { throw problem }
            return problem
        case .damagedRecord, .missing, .lost:
            guard scan.last.number > checkpointed else { throw problem }
            return problem
        default: throw problem
        }
    }
}

/// A journal that has all of a directory's state: its records from the first one on lead to it without any
/// `state.db`.
enum WholeJournal {
    /// Where the journal of a directory is: what is typed in the place of a backup.
    static func path(in directory: String) -> String {
        "\(directory)/\(SegmentJournal.directoryName)"
    }

    static func isPath(_ path: String, in directory: String) -> Bool {
        let standard = { (path: String) in
            URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
        }
        return standard(path) == standard(Self.path(in: directory))
    }

    /// Reads the journal from its first record on, and changes nothing; gives what a new state says of itself
    /// that the journal continues, and how it does.
    static func check(
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(RestoreError) -> (meta: StateMeta, found: JournalContinuation) {
        var problem: StorageError?
        do throws(StorageError) {
            guard let newest = try RecoveryScan.newest(files) else {
                throw .missing(records: 1...1)
            }
            var meta = StateMeta.random()
            meta.instanceID = newest.instanceID
            let found = try JournalContinuation(of: meta, .start, directory, files, vfs: vfs)
            if try hasAll(files, newest.instanceID) { return (meta, found) }
        } catch {
            problem = error
        }
        throw .notAll(journal: path(in: directory), problem: problem)
    }

    /// Whether each run of the service began with a state that the records before it lead to.
    ///
    /// Each start gives itself revisions from 2^24 above the highest one of its state. So one with a state
    /// that has more than the journal before it is too high: after a restore, whose journal begins anew,
    /// and after a loss of records of which `state.db` had a part. A start that skips numbers is too high as
    /// well, and cannot be told from these.
    private static func hasAll(
        _ files: any JournalFiles,
        _ instanceID: UInt64
    ) throws(StorageError) -> Bool {
        let scan = try RecoveryScan(
            files,
            JournalConfiguration(instanceID: instanceID),
            checkpointed: .start
        )
        var highest: UInt64?
        var hasAll = true
        try scan.replay(files, after: 0) { _, body in
            highest = try? highestRevision(after: highest, body)
            hasAll = highest != nil
            return hasAll
        }
        return hasAll && highest != nil
    }

    /// The highest revision up to the end of a record; nil where the record begins a run with another state.
    private static func highestRevision(
        after highest: UInt64?,
        _ body: Span<UInt8>
    ) throws(LogEntryError) -> UInt64? {
        var reader = try LogEntryReader(body)
        var memtable = Memtable()
        // The first record of a journal begins a run.
        var isInRun = highest != nil
        while !reader.isAtEnd {
            let entry = try reader.take()
            if case .counters(_, let revision) = entry {
                isInRun = true
                guard revision <= (highest ?? 0) &+ SkippedNumbers.revisions else { return nil }
            }
            memtable.add(entry)
        }
        return isInRun ? max(highest ?? 0, memtable.highestRevision) : nil
    }
}
