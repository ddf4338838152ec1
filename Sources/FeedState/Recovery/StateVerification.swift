internal import FeedJournal
internal import FeedRanking

/// Reads a data directory as a start would, without serving it: every row, every record, and that
/// they fit together.
package struct StateVerification: Sendable, Equatable {
    /// The data directory's name of itself.
    package var instanceID: UInt64
    /// The posts that live.
    package var postCount: UInt64
    /// Up to where the records are in `state.db`.
    package var foldedSequence: UInt64
    /// The last record of the journal.
    package var lastSequence: UInt64
    /// The records behind the fold, and the effects in them.
    package var recordCount: UInt64
    package var effectCount: UInt64
    /// A hash of the state of `state.db` and the journal behind it.
    package var stateHash: UInt64
    /// A hash of the state of the journal alone, from its first record; nil where it was not asked
    /// for.
    package var replayedHash: UInt64?

    /// Reads and checks everything, with the directory locked.
    ///
    /// - Parameters:
    ///   - path: The data directory, which has to be there.
    ///   - stripeCount: How many stripes the stores have that it is read into.
    ///   - replaysAll: Whether to replay the journal from its first record too, which has to be
    ///     there still.
    ///   - progress: Hears how far it is.
    /// - Returns: What was found.
    /// - Throws: What is wrong.
    package static func run(
        path: String,
        stripeCount: Int = 16,
        replaysAll: Bool = false,
        progress: @escaping (RecoveryProgress) -> Void = { _ in }
    ) throws(StateStartError) -> StateVerification {
        let files = try journalErrors { () throws(JournalError) in try POSIXFiles(path: path) }
        let directory = StateDirectory(StateOptions(path: path, logCount: 1), files)
        return try run(directory, stripeCount, replaysAll: replaysAll, progress)
    }

    /// The same of a directory that is locked already.
    package static func run(
        _ directory: StateDirectory,
        _ stripeCount: Int = 16,
        replaysAll: Bool = false,
        _ progress: @escaping (RecoveryProgress) -> Void = { _ in }
    ) throws(StateStartError) -> StateVerification {
        let database = try directory.existingDatabase()
        let meta = database.meta
        try stateErrors { () throws(StateError) in try database.checkPages() }
        let store = FeedStore(stripeCount: stripeCount) { 0 }
        let recovery = Recovery(store: store, channels: { _ in }, progress: progress)
        try recovery.load(database)
        let scan = try directory.scan(database)
        if let problem = scan.problem { throw .journal(problem) }
        try directory.checkFold(meta, scan.last)
        var counts: (records: UInt64, effects: UInt64) = (0, 0)
        try recovery.replay(scan, directory.files, after: meta.folded.sequence) { effects in
            counts = (counts.records + 1, counts.effects + effects)
        }
        var verified = StateVerification(
            instanceID: meta.instanceID,
            postCount: store.postCount,
            foldedSequence: meta.folded.sequence,
            lastSequence: scan.last.sequence,
            recordCount: counts.records,
            effectCount: counts.effects,
            stateHash: store.stateHash()
        )
        if replaysAll { verified.replayedHash = try replayedHash(directory, meta, stripeCount) }
        return verified
    }

    private static func replayedHash(
        _ directory: StateDirectory,
        _ meta: StateMeta,
        _ stripeCount: Int
    ) throws(StateStartError) -> UInt64 {
        let scan = try journalErrors { () throws(JournalError) in
            try RecoveryScan(directory.files, directory.configuration(meta), folded: .start)
        }
        if let problem = scan.problem { throw .journal(problem) }
        let store = FeedStore(stripeCount: stripeCount) { 0 }
        let recovery = Recovery(store: store, channels: { _ in }, progress: { _ in })
        try recovery.replay(scan, directory.files, after: 0) { _ in }
        return store.stateHash()
    }
}

extension Recovery {
    /// Applies the records that a scan has found behind a position.
    func replay(
        _ scan: RecoveryScan,
        _ files: any JournalFiles,
        after sequence: UInt64,
        _ applied: (UInt64) -> Void
    ) throws(StateStartError) {
        var failure: StateStartError?
        try journalErrors { () throws(JournalError) in
            try scan.replay(files, after: sequence) { record, bytes in
                do throws(StateStartError) {
                    var effectCount: UInt64 = 0
                    try apply(bytes, record) { _ in effectCount += 1 }
                    applied(effectCount)
                } catch {
                    failure = error
                    return false
                }
                return true
            }
        }
        if let failure { throw failure }
    }
}
