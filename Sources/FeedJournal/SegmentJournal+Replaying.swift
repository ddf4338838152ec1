extension SegmentJournal {
    package func replay(
        after sequence: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        let replay = SegmentReplay(
            files: files,
            segments: segments,
            last: last.sequence,
            hash: configuration.hash
        )
        try replay.run(after: sequence, body)
    }

    package func forget(through sequence: UInt64) throws(JournalError) {
        // The current segment stays, so a newer one than any that goes is durable.
        while segments.count > 1, segments[1].first - 1 <= sequence {
            let name = segments[0].name
            try fileErrors { () throws(FileError) in try files.discard(name) }
            segments.removeFirst()
        }
    }
}

extension RecoveryScan {
    /// Gives the records that were found behind a position in order, until `body` says false or
    /// none is left; changes nothing.
    ///
    /// With everything kept, also those that are folded can be asked for.
    package func replay(
        _ files: any JournalFiles,
        after sequence: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        let replay = SegmentReplay(
            files: files,
            segments: segments,
            last: last.sequence,
            hash: configuration.hash
        )
        try replay.run(after: sequence, body)
    }
}
