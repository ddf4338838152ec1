internal import FeedJournal
internal import FeedLog
internal import Foundation

/// What makes the state of a moment: a backup, and the records of the journal after it.
struct MomentPlan {
    /// A commit batch as the journal has it.
    struct DatedBatch: Equatable {
        /// The number of its record.
        var number: UInt64
        /// When it began, in microseconds since 1970.
        var microseconds: UInt64
        /// The highest revision up to its end.
        var revision: UInt64
        /// Whether its time is that of the one before it: the clock was behind, and its own is not known.
        var isLate = false
    }

    /// The folder's name in `backups/`.
    let backup: String
    /// The last record that the backup has.
    let checkpointed: JournalPosition
    /// The last commit batch of the moment; nil where the backup has it.
    let last: DatedBatch?
    /// The first commit batch after the moment; nil where there is none.
    let next: DatedBatch?
    /// The journal after the backup; nil where nothing of it is needed.
    let scan: RecoveryScan?

    /// Finds the newest backup before a moment, and the records up to the moment; changes nothing,
    /// and needs no lock: a service may use the directory.
    ///
    /// O(bytes of the journal after the backup).
    /// - Parameters:
    ///   - path: The data directory.
    ///   - files: The same directory.
    ///   - moment: What is wanted.
    ///   - now: The time of day.
    ///   - damaged: The backups that are damaged, which are passed over, with the reasons.
    /// - Throws: Why the state of the moment cannot be had, and which moments can.
    init(
        of path: String,
        _ files: any JournalFiles,
        _ moment: RestoreMoment,
        now: Date,
        without damaged: inout [String: StateError]
    ) throws(RestoreError) {
        let reach = MomentReach(path, files)
        damaged.merge(reach.unreadable) { old, _ in old }
        let passed = damaged
        let wanted = reach.backups.filter {
            moment.includes(backup: $0.name, revision: $0.meta.highestRevision)
        }
        guard
            let found = wanted.last(where: { passed[$0.name] == nil && moment.isAfter($0, files) })
        else {
            // The newest one that could be it.
            let cause = passed.keys.sorted().last { moment.includes(backup: $0, revision: 0) }
            if let cause, let error = passed[cause], error.isDamage {
                throw .noMoment(path, moment, .damagedBackup(cause, error), reach.text(nil))
            }
            throw .noMoment(path, moment, .noBackup, reach.text(nil))
        }
        backup = found.name
        checkpointed = found.meta.checkpointed
        if case .backup = moment {
            (last, next, scan) = (nil, nil, nil)
            return
        }
        let configuration = JournalConfiguration(instanceID: found.meta.instanceID)
        let scan: RecoveryScan
        do throws(JournalError) {
            scan = try RecoveryScan(
                files,
                configuration,
                checkpointed: checkpointed,
                acceptsAnyInstance: true
            )
            (last, next) = try Self.batches(of: moment, after: found.meta, scan, files)
        } catch {
            throw .noMoment(path, moment, .journal(error), reach.text(nil))
        }
        self.scan = scan
        try checkTimes(path, files, moment, now, found.meta, scan, reach)
        // A record after the moment proves that all up to the moment were there.
        guard next == nil else { return }
        if let problem = scan.problem {
            throw .noMoment(path, moment, .journal(problem), reach.text(scan))
        }
        if case .revision(let wanted) = moment {
            let newest = last?.revision ?? found.meta.highestRevision
            guard wanted == newest else {
                throw .noMoment(path, moment, .newestRevision(newest), reach.text(scan))
            }
        }
    }

    /// Refuses a time where the times of records cannot be trusted, and names the revision that they say.
    private func checkTimes(
        _ path: String,
        _ files: any JournalFiles,
        _ moment: RestoreMoment,
        _ now: Date,
        _ meta: StateMeta,
        _ scan: RecoveryScan,
        _ reach: MomentReach
    ) throws(RestoreError) {
        guard case .time(let time) = moment else { return }
        var steps = try restoreErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in try ClockSteps(files) }
        }
        if scan.lastMicroseconds > 0 {
            steps.add(now: now.unixMicroseconds, newest: scan.lastMicroseconds)
        }
        guard last?.isLate != true, steps.areTrusted(at: time.unixMicroseconds) else {
            let revision = last?.revision ?? meta.highestRevision
            throw .noMoment(path, moment, .wrongClock(revision: revision), reach.text(scan))
        }
    }

    /// The last commit batch of a moment, and the first one after it.
    private static func batches(
        of moment: RestoreMoment,
        after meta: StateMeta,
        _ scan: RecoveryScan,
        _ files: any JournalFiles
    ) throws(JournalError) -> (last: DatedBatch?, next: DatedBatch?) {
        var revision = meta.highestRevision
        var last: DatedBatch?
        var next: DatedBatch?
        var previous = scan.checkpointedMicroseconds
        try scan.replay(files, after: meta.checkpointed.number) { record, body in
            revision = max(revision, highestRevision(of: body))
            let batch = DatedBatch(
                number: record.position.number,
                microseconds: record.microseconds,
                revision: revision,
                isLate: record.microseconds == previous
            )
            previous = record.microseconds
            guard moment.includes(microseconds: batch.microseconds, revision: revision) else {
                next = batch
                return false
            }
            last = batch
            return true
        }
        return (last, next)
    }

    /// The highest revision that a commit batch gives; 0 where it gives none, or cannot be read:
    /// then it cannot be replayed either, which says why.
    private static func highestRevision(of body: Span<UInt8>) -> UInt64 {
        var memtable = Memtable()
        try? memtable.add([UInt8](copying: body), at: .start)
        return memtable.highestRevision
    }
}

extension RestoreMoment {
    /// Whether the last record of a backup is not after the moment: its name may be of a wrong clock.
    fileprivate func isAfter(_ backup: MomentReach.Candidate, _ files: any JournalFiles) -> Bool {
        guard case .time(let time) = self else { return true }
        let written = try? RecoveryScan.microseconds(of: backup.meta.checkpointed, files)
        return (written ?? nil).map { $0 <= time.unixMicroseconds } ?? true
    }
}
