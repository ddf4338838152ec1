internal import FeedJournal
internal import FeedLog
internal import Foundation

/// A journal that has all of a directory's state: its records from the first one on lead to it without any
/// `state.db`.
enum WholeJournal {
    /// Where the journal of a directory is: what is typed in the place of a backup.
    static func path(in directory: String) -> String {
        "\(directory)/\(SegmentJournal.directoryName)"
    }

    /// Whether a path is that of a directory's journal.
    static func isPath(_ path: String, in directory: String) -> Bool {
        let standard = { (path: String) in
            URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
        }
        return standard(path) == standard(Self.path(in: directory))
    }

    /// Reads the journal from its first record on, and changes nothing.
    ///
    /// - Parameters:
    ///   - directory: The path under which SQLite finds the data directory.
    ///   - files: The same directory.
    ///   - vfs: SQLite's virtual file system that has it; nil is the system's own.
    /// - Returns: What a new state says of itself that the journal continues, and how it does.
    /// - Throws: Why the journal does not have all of the state.
    static func check(
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(RestoreError) -> (meta: StateMeta, found: JournalContinuation) {
        var problem: JournalError?
        do throws(JournalError) {
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
    ) throws(JournalError) -> Bool {
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
