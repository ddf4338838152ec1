internal import FeedAccounts
internal import FeedJournal
internal import FeedLog
internal import FeedRanking

// How the journal is opened after the checkpoint, and a run begins.
extension StateDirectory {
    /// Opens the journal after the checkpoint.
    func journal(
        _ database: StateDatabase,
        _ summary: inout RecoverySummary,
        _ progress: (RecoveryProgress) -> Void
    ) throws(StateStartError) -> SegmentJournal {
        let accepted = summary.acceptedLoss
        let journal = try withRoom { () throws(StateStartError) in
            do throws(JournalError) {
                return try SegmentJournal(
                    files,
                    configuration(database),
                    checkpointed: database.meta.checkpointed,
                    acceptedLoss: accepted,
                    progress: { progress(RecoveryProgress($0)) }
                )
            } catch {
                throw explained(error, database)
            }
        }
        let last = journal.last
        if accepted != nil {
            // The names say after which record the files were dropped.
            let isOfThisLoss = { (name: String) in name.contains("-after-\(last.number)-") }
            let kept = try? names(in: Quarantine.directoryName)
            summary.quarantined = (kept ?? []).filter(isOfThisLoss).sorted()
        }
        if accepted == nil {
            try checkUnfinishedCheckpoint(database.meta, last)
        } else if last.number < database.meta.checkpointing.number {
            // Records of an unfinished checkpoint are lost. The rows that it wrote stay, and no
            // more of it follow.
            try stateErrors { () throws(StateError) in
                try database.updateMeta { meta in
                    meta.checkpointing =
                        last.number > meta.checkpointed.number ? last : meta.checkpointed
                }
            }
        }
        // The journal has its new instance: before it takes a record, as N would not fit then.
        if database.directoryRow?.previousInstanceID != nil {
            try noteFiles(of: database, known: last, journal)
        }
        return journal
    }

    /// Notes, durably, where the clock is not where the last record of the journal has left it, and lets
    /// the times of records go on all the same.
    func noteClock(
        _ now: UInt64,
        _ journal: SegmentJournal
    ) throws(StateStartError) -> ClockSteps.Step? {
        let (step, shift) = try withRoom(journal) { () throws(StateStartError) in
            try stateErrors { () throws(StateError) in
                try fileErrors { () throws(FileError) in
                    try ClockSteps.begin(
                        at: now,
                        after: journal.last.number,
                        of: journal.lastMicroseconds,
                        files
                    )
                }
            }
        }
        journal.clockShift = shift
        return step
    }

    /// Raises the counters for this run, and returns the log entry that says so.
    func beginRun(
        _ store: FeedStore,
        _ accounts: AccountsState,
        _ database: StateDatabase,
        journal: SegmentJournal
    ) throws(StateStartError) -> LogEntry {
        let meta = database.meta
        let bootID = SystemBoot.id()
        let skips = meta.durability == Durability.os.rawValue && meta.bootID != bootID
        let lastID = max(store.highestID, meta.highestID) + (skips ? SkippedNumbers.postIDs : 0)
        let revision =
            max(store.revision, meta.highestRevision)
            + (skips ? SkippedNumbers.unknownRevisions : SkippedNumbers.revisions)
        let counters = LogEntry.counters(lastID: lastID, revision: revision)
        do throws(RecoveryError) {
            try store.apply(counters)
        } catch {
            throw .recovery(record: 0, error)
        }
        var skippedAccountID = database.skippedAccountID
        if skips {
            skippedAccountID = SkippedNumbers.accounts(
                above: accounts.accounts.reduce(skippedAccountID) { max($0, $1.id) },
                instance: meta.instanceID
            )
        }
        let skipped = skippedAccountID
        // Posts and deletions that copies of clients have may be lost: they are begun anew.
        if skips { store.restore(deletionsKnownSince: revision) }
        try withRoom(journal) { () throws(StateStartError) in
            try stateErrors { () throws(StateError) in
                if skips { try database.raiseDeletionsFloor(to: revision) }
                try database.updateMeta(skippedAccountID: skipped) { meta in
                    // A start that ends before its record is durable has skipped them all the same.
                    if skips {
                        meta.highestID = lastID
                        meta.highestRevision = revision
                    }
                    meta.bootID = bootID
                    meta.durability = options.durability.rawValue
                }
            }
        }
        return counters
    }

    /// An interrupted checkpoint has rows of records that the journal must have too.
    func checkUnfinishedCheckpoint(
        _ meta: StateMeta,
        _ last: JournalPosition
    ) throws(StateStartError) {
        let checkpointing = meta.checkpointing.number
        guard last.number < checkpointing else { return }
        let problem = JournalError.lost(records: last.number + 1...checkpointing)
        throw .loss(
            StateLoss(
                problem: problem,
                left: last.number,
                known: checkpointing,
                partlyCheckpointed: checkpointing
            )
        )
    }

    /// A problem of the journal with what is left of it.
    func explained(_ error: JournalError, _ database: StateDatabase) -> StateStartError {
        switch error {
        case .damaged, .missing, .lost, .missingWatermark:
            // What is refused is read once more: the error has no room for what was found beside it.
            guard let scan = try? scan(database) else { return .journal(error) }
            let checkpointing = database.meta.checkpointing.number
            return .loss(
                StateLoss(
                    problem: error,
                    left: scan.last.number,
                    known: max(scan.lastKnown, checkpointing),
                    partlyCheckpointed: checkpointing > scan.last.number ? checkpointing : nil,
                    place: scan.firstMissing
                )
            )
        default: return .journal(error)
        }
    }
}
