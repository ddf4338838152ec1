extension SegmentJournal {
    package func replay(
        after sequence: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        let replay = SegmentReplay(
            files: files,
            segments: segments,
            last: last.sequence,
            hash: configuration.hash,
            checkpointedDamage: checkpointedDamage
        )
        try replay.run(after: sequence, body)
    }
}

extension RecoveryScan {
    /// Gives the records that were found behind a position in order, until `body` says false or
    /// none is left; changes nothing.
    ///
    /// With everything kept, checkpointed records can be asked for too.
    package func replay(
        _ files: any JournalFiles,
        after sequence: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        let replay = SegmentReplay(
            files: files,
            segments: segments,
            last: last.sequence,
            hash: configuration.hash,
            checkpointedDamage: checkpointedDamage
        )
        try replay.run(after: sequence, body)
    }
}
