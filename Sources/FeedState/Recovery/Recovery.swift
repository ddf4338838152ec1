internal import FeedJournal
internal import FeedRanking

/// Puts a store together from a data directory: the rows of `state.db`, then the records of the
/// journal behind them.
struct Recovery {
    /// Where posts, feeds and voters go.
    let store: FeedStore
    /// Where channels and their outcomes go.
    let channels: (Effect) -> Void
    /// Hears how far it is.
    let progress: (RecoveryProgress) -> Void

    /// Checks and loads all rows.
    func load(_ database: StateDatabase) throws(StateStartError) {
        do throws(StateError) {
            try database.load(into: store, channels: restore) { loaded in
                progress(
                    RecoveryProgress(
                        step: .loading,
                        completed: loaded.rowCount,
                        total: loaded.totalRowCount
                    )
                )
            }
        } catch {
            throw .state(error)
        }
    }

    /// Applies the records behind the fold, and gathers them for the next one.
    func replay(
        _ journal: any Journal,
        into folding: inout FoldWork,
        _ summary: inout RecoverySummary
    ) throws(StateStartError) {
        let first = folding.database.meta.folded.sequence
        let total = journal.last.sequence - min(first, journal.last.sequence)
        var failure: StateStartError?
        try journalErrors { () throws(JournalError) in
            try journal.replay(after: first) { record, bytes in
                do throws(StateStartError) {
                    try apply(bytes, record) { effect in
                        summary.effectCount += 1
                        folding.gather(effect)
                    }
                    folding.endRecord(bytes.count, at: record.position)
                } catch {
                    failure = error
                    return false
                }
                summary.recordCount += 1
                if summary.recordCount.isMultiple(of: 256) || summary.recordCount == total {
                    let done = summary.recordCount
                    progress(RecoveryProgress(step: .replaying, completed: done, total: total))
                }
                return true
            }
        }
        if let failure { throw failure }
    }

    private func restore(_ channel: ChannelState, _ outcomes: [ChannelOutcome]) {
        channels(.channel(channel))
        for outcome in outcomes { channels(.outcome(outcome)) }
    }

    /// Applies one record's effects, each of which it shows first.
    ///
    /// Outcomes come last: that of a call that changed nothing has no revision to order it, so in
    /// the record it may be before the channel's own effect, which another loop has logged.
    func apply(
        _ body: borrowing Span<UInt8>,
        _ record: JournalRecord,
        _ show: (Effect) -> Void
    ) throws(StateStartError) {
        var outcomes: [ChannelOutcome] = []
        var reader = try effectErrors(record) { () throws(EffectError) in try EffectReader(body) }
        while let effect = try effectErrors(record, { () throws(EffectError) in try reader.next() })
        {
            show(effect)
            switch effect {
            case .channel: channels(effect)
            case .outcome(let outcome): outcomes.append(outcome)
            default:
                do throws(RecoveryError) {
                    try store.apply(effect)
                } catch {
                    throw .recovery(sequence: record.position.sequence, error)
                }
            }
        }
        for outcome in outcomes { channels(.outcome(outcome)) }
    }

    private func effectErrors<Result: ~Copyable>(
        _ record: JournalRecord,
        _ body: () throws(EffectError) -> Result
    ) throws(StateStartError) -> Result {
        do {
            return try body()
        } catch {
            throw .effects(sequence: record.position.sequence, error)
        }
    }
}
