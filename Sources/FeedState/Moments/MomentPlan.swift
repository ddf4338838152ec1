internal import FeedJournal
internal import FeedLog
internal import Foundation

/// What makes the state of a moment: a backup, and the records of the journal after it.
struct MomentPlan {
    struct DatedBatch: Equatable {
        var number: UInt64
        /// When it began, in microseconds since 1970: at the latest of the last one of a moment, at the
        /// earliest of the next one.
        var microseconds: Int64
        var revision: UInt64
        /// Whether its time is that of the one before it: the clock was behind, and its own is not known.
        var isLate = false
    }

    let backup: String
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
    /// Backups that are damaged are passed over. O(bytes of the journal after the backup).
    init(
        of path: String,
        _ files: any JournalFiles,
        _ moment: RestoreMoment,
        now: Date,
        without damaged: inout [String: StorageError]
    ) throws(RestoreError) {
        let reach = MomentReach(path, files)
        damaged.merge(reach.unreadable) { old, _ in old }
        let passed = damaged
        let times = try Self.times(files, now)
        guard
            let found = reach.backups.last(where: {
                passed[$0.name] == nil && moment.includes($0, times, files)
            })
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
        let doubtful: UInt64?
        do throws(StorageError) {
            scan = try RecoveryScan(
                files,
                configuration,
                checkpointed: checkpointed,
                acceptsAnyInstance: true
            )
            (last, next, doubtful) = try Self.batches(
                of: moment,
                after: found.meta,
                scan,
                times,
                files
            )
        } catch {
            throw .noMoment(path, moment, .journal(error), reach.text(nil))
        }
        self.scan = scan
        if case .time(let time) = moment {
            // Of which revisions the moment may be.
            let least = last?.revision ?? found.meta.highestRevision
            let isInStop = times.isInStop(Int64(clamping: time.unixMicroseconds))
            guard times.areKnown, doubtful == nil, !isInStop, last?.isLate != true else {
                let problem = MomentProblem.wrongClock(revisions: least...max(least, doubtful ?? 0))
                throw .noMoment(path, moment, problem, reach.text(scan))
            }
        }
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

    private static func times(
        _ files: any JournalFiles,
        _ now: Date
    ) throws(RestoreError) -> TrueTimes {
        try restoreErrors { () throws(StorageError) in
            let clock = try ClockSteps(files)
            // Where the end cannot be read, what is read for the moment says so.
            let newest = try? RecoveryScan.newest(files)
            return TrueTimes(clock, now: now.unixMicroseconds, newest: newest)
        }
    }

    /// The last commit batch of a moment, the first one after it, and the highest revision of those that
    /// may be of the moment, if there are any.
    private static func batches(
        of moment: RestoreMoment,
        after meta: StateMeta,
        _ scan: RecoveryScan,
        _ times: TrueTimes,
        _ files: any JournalFiles
    ) throws(StorageError) -> (last: DatedBatch?, next: DatedBatch?, doubtful: UInt64?) {
        var revision = meta.highestRevision
        var last: DatedBatch?
        var next: DatedBatch?
        var doubtful: UInt64?
        var previous = scan.checkpointedMicroseconds
        try scan.replay(files, after: meta.checkpointed.number) { record, body in
            revision = max(revision, highestRevision(of: body))
            let number = record.position.number
            let time = times.time(of: number, at: record.microseconds)
            var batch = DatedBatch(
                number: number,
                microseconds: time.upperBound,
                revision: revision,
                isLate: record.microseconds == previous
            )
            previous = record.microseconds
            if next == nil, moment.includes(microseconds: time.upperBound, revision: revision) {
                last = batch
                return true
            }
            batch.microseconds = time.lowerBound
            next = next ?? batch
            guard moment.includes(microseconds: time.lowerBound, revision: revision) else {
                return false
            }
            doubtful = revision
            return true
        }
        return (last, next, doubtful)
    }

    /// The highest revision that a commit batch gives; 0 where it gives none, or cannot be read:
    /// then it cannot be replayed either, which says why.
    private static func highestRevision(of body: Span<UInt8>) -> UInt64 {
        var memtable = Memtable()
        let head = try? RecordHead(of: body, record: 0)
        let start = head == nil ? 0 : RecordHead.byteCount
        try? memtable.add([UInt8](copying: body), from: start, at: .start)
        return memtable.highestRevision
    }
}

extension RestoreMoment {
    /// Whether a backup has nothing after the moment, by its last record: its name may be of a wrong clock.
    fileprivate func includes(
        _ backup: MomentReach.Candidate,
        _ times: TrueTimes,
        _ files: any JournalFiles
    ) -> Bool {
        let position = backup.meta.checkpointed
        guard case .time = self,
            let written = try? RecoveryScan.microseconds(of: position, files)
        else { return includes(backup: backup.name, revision: backup.meta.highestRevision) }
        let latest = times.time(of: position.number, at: written).upperBound
        return includes(microseconds: latest, revision: 0)
    }
}

struct MomentReach {
    struct Candidate {
        let name: String
        let meta: StateMeta
    }

    /// The backups that can be opened, the oldest state first.
    let backups: [Candidate]
    /// The names of those that cannot be, and why.
    let unreadable: [String: StorageError]
    private let files: any JournalFiles

    init(_ path: String, _ files: any JournalFiles) {
        let names = (try? BackupFolders.complete(files)) ?? []
        var found: [Candidate] = []
        var unreadable: [String: StorageError] = [:]
        for name in names {
            let folder = "\(path)/\(BackupFolders.directory)/\(name)"
            do throws(StorageError) {
                let database = try BackupVerification.open(path: folder)
                found.append(Candidate(name: name, meta: database.meta))
            } catch {
                unreadable[name] = error
            }
        }
        backups = found.sorted {
            ($0.meta.highestRevision, $0.name) < ($1.meta.highestRevision, $1.name)
        }
        self.unreadable = unreadable
        self.files = files
    }

    /// What can be had, in a sentence, with the journal after the newest backup before the moment, where it
    /// was read.
    func text(_ scan: RecoveryScan?) -> String {
        guard let oldest = backups.first else { return "There is no backup in backups/." }
        let own = "Each backup can be had as it is, the oldest one by --at \(oldest.name)."
        // The numbers alone would tell it of backups of another directory too.
        let continued = backups.first { backup in
            (try? RecoveryScan.continues(files, backup.meta.checkpointed)) ?? false
        }
        guard let continued, let begin = BackupFolders.time(of: continued.name) else { return own }
        guard let scan, scan.lastMicroseconds > 0 else {
            return
                "The journal goes on from the backup of \(begin.milliseconds): from then on each "
                + "moment can be had that has no gap before it. \(own)"
        }
        let clock = try? ClockSteps(files)
        let last = clock?.clock(of: scan.last.number, at: scan.lastMicroseconds)
        let end = Date(unixMicroseconds: last ?? scan.lastMicroseconds)
        guard end > begin else { return own }
        return "Moments from \(begin.milliseconds) to \(end.milliseconds), record "
            + "\(scan.last.number), can be had. \(own)"
    }
}
