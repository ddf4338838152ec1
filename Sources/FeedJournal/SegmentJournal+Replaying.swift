extension SegmentJournal {
    package func replay(
        after sequence: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        guard sequence < last.sequence else { return }
        guard let start = segments.lastIndex(where: { $0.first <= sequence + 1 }) else {
            throw .missing(sequences: sequence + 1...segments[0].first - 1)
        }
        for segment in segments[start...] {
            let file = try RecoveryScan.open(files, segment)
            var reader = try SegmentReader(file, first: segment.first, configuration.hash)
            while reader.last.sequence < endSequence(of: segment) {
                let offset = reader.offset
                guard case .record(let header, body: let range) = reader.next() else {
                    throw .damaged(
                        file: segment.name,
                        offset: offset,
                        sequence: reader.last.sequence + 1,
                        reason: "it was whole when the journal was opened"
                    )
                }
                guard header.sequence > sequence else { continue }
                let record = JournalRecord(
                    position: header.position,
                    count: header.count,
                    microseconds: header.microseconds
                )
                guard body(record, reader.bytes.span.extracting(range)) else { return }
            }
        }
    }

    package func forget(through sequence: UInt64) throws(JournalError) {
        // The current segment stays, so a newer one than any that goes is durable.
        while segments.count > 1, endSequence(of: segments[0]) <= sequence {
            let name = segments[0].name
            try fileErrors { () throws(FileError) in try files.remove(name) }
            segments.removeFirst()
        }
    }

    /// The last record of a segment.
    private func endSequence(of segment: RecoveryScan.Segment) -> UInt64 {
        segments.first { $0.first > segment.first }.map { $0.first - 1 } ?? last.sequence
    }
}
