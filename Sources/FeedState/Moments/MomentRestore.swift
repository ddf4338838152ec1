internal import FeedJournal
package import Foundation

/// A data directory that was made as another one was at a moment: of a backup, and the records of
/// the journal after it.
package struct MomentRestore: Equatable, Sendable {
    package let backup: String
    /// The records that were replayed; nil where the backup has all of the moment.
    package let records: ClosedRange<UInt64>?
    package let lastRecord: UInt64
    /// When the last commit batch began that is in the state; nil where the backup has it.
    package let time: Date?
    /// Newer backups that are damaged, and were passed over.
    package let damaged: [String]
    /// All changes up to this revision are in the state, and none after it.
    package let revision: UInt64
    /// When the first commit batch began that is not in the state; nil where there is none.
    package let nextTime: Date?
    /// The number of that one, and the revision up to its end.
    package let nextRecord: UInt64?
    package let nextRevision: UInt64?

    /// Makes a data directory as another one was at a moment, under a new instance id.
    ///
    /// Nothing of the other directory is changed, and a service may use it. What holds for a
    /// restore of a backup holds here: all is checked before the new directory is whole, and a
    /// restore that was killed leaves a directory that no start serves.
    package static func run(
        of source: RestoreSource,
        to moment: RestoreMoment,
        into directory: String,
        now: Date = .timeOfDay
    ) throws(RestoreError) -> MomentRestore {
        if case .time(let time) = moment, time > now {
            throw .noMoment(source.path, moment, .future(now), "")
        }
        let files = try BackupRestore.reading(source.path)
        var damaged: [String: StorageError] = [:]
        while true {
            let plan = try MomentPlan(of: source.path, files, moment, now: now, without: &damaged)
            var revision: UInt64 = 0
            do throws(RestoreError) {
                try BackupRestore.run(
                    backup: "\(source.path)/\(BackupFolders.directory)/\(plan.backup)",
                    into: directory,
                    typed: source,
                    advancing: { (database) throws(StorageError) in
                        try plan.replay(files, into: database)
                        revision = database.meta.highestRevision
                    }
                )
                let newer = damaged.keys.filter { name in
                    moment.includes(backup: name, revision: 0) && name > plan.backup
                }
                return MomentRestore(plan, revision, newer.sorted())
            } catch {
                // An older backup and the journal may have all of it.
                guard case .storage(let cause) = error, cause.isDamage else { throw error }
                damaged[plan.backup] = cause
            }
        }
    }

    private init(_ plan: MomentPlan, _ revision: UInt64, _ damaged: [String]) {
        backup = plan.backup
        self.damaged = damaged
        records = plan.last.map { plan.checkpointed.number + 1...$0.number }
        lastRecord = plan.last?.number ?? plan.checkpointed.number
        time = plan.last.map { Date(unixMicroseconds: UInt64(clamping: $0.microseconds)) }
        self.revision = revision
        nextTime = plan.next.map { Date(unixMicroseconds: UInt64(clamping: $0.microseconds)) }
        nextRecord = plan.next?.number
        nextRevision = plan.next?.revision
    }
}

extension MomentPlan {
    fileprivate func replay(
        _ files: any JournalFiles,
        into database: StateDatabase
    ) throws(StorageError) {
        guard let scan, let last else { return }
        let replay = CheckpointReplay(database)
        var failure: StorageError?
        try scan.replay(files, after: checkpointed.number) { record, body in
            guard record.position.number <= last.number else { return false }
            do throws(StorageError) {
                try replay.add([UInt8](copying: body), at: record.position)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        try replay.write()
        // What was planned and what was replayed were read one after the other.
        guard database.meta.checkpointed.number == last.number else {
            throw .missing(records: database.meta.checkpointed.number + 1...last.number)
        }
    }
}

/// Writes records of a journal into a database that nobody serves, as checkpoints do.
final class CheckpointReplay {
    private var work: CheckpointWork

    init(_ database: StateDatabase) {
        work = CheckpointWork(database, checkpointByteCount: CheckpointWork.replayedByteCount)
        // The backup may be older than the cluster; the hashes of the journal prove its records.
        if !work.chain.isOfCluster { work.chain = work.chain.believingFirst }
    }

    func add(_ body: [UInt8], at position: JournalPosition) throws(StorageError) {
        do throws(StorageError) {
            try work.add(body, at: position)
        } catch {
            guard case .brokenRecord(let number, _) = error else { throw error }
            throw .notAState(file: "Record \(number) of the journal", reason: "\(error)")
        }
        if work.isFull { try write() }
    }

    func write() throws(StorageError) {
        work.begin()
        while work.isCheckpointing {
            try work.writeStep(until: { false })
            // Nobody makes room meanwhile.
            if let stall = work.stall { throw stall }
        }
    }
}

extension CheckpointWork {
    /// How many bytes of records a replay takes for one checkpoint, 64 MiB.
    fileprivate static let replayedByteCount = 64 << 20
}
