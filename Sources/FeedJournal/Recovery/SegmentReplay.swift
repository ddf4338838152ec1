/// Reads the records of segments that have been checked before, in order.
struct SegmentReplay {
    let files: any JournalFiles

    /// All segments, in order.
    let segments: [Segment]

    /// The last record that is given.
    let last: UInt64

    let hash: RecordHash

    /// Damage in checkpointed records, skipped where only the records after it are asked for.
    let checkpointedDamage: CheckpointedDamage?

    /// Gives the records after a position, until `body` says false or none is left.
    func run(
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        guard number < last else { return }
        guard let start = segments.lastIndex(where: { $0.first <= number + 1 }) else {
            throw .missing(records: number + 1...(segments.first?.first ?? last + 1) - 1)
        }
        for index in start..<segments.count {
            let segment = segments[index]
            let file = try RecoveryScan.open(files, segment)
            var reader = try SegmentReader(file, first: segment.first, hash)
            if let damage = checkpointedDamage, damage.file == segment.name,
                let place = damage.resumption, place.previous.number <= number
            {
                reader.resume(at: place)
            }
            while reader.last.number < lastNumber(index) {
                let offset = reader.offset
                guard case .record(let header, body: let range) = reader.next() else {
                    throw .damaged(
                        file: segment.name,
                        offset: offset,
                        record: reader.last.number + 1,
                        reason: "it was whole when the journal was opened"
                    )
                }
                guard header.number > number else { continue }
                let record = JournalRecord(
                    position: header.position,
                    count: header.count,
                    microseconds: header.microseconds
                )
                guard body(record, reader.bytes.span.extracting(range)) else { return }
            }
        }
    }

    /// The last record of a segment.
    private func lastNumber(_ index: Int) -> UInt64 {
        index + 1 < segments.count ? min(last, segments[index + 1].first - 1) : last
    }
}

extension RecoveryScan {
    /// Gives the records that were found after a position in order, until `body` says false or
    /// none is left; changes nothing.
    ///
    /// With everything kept, checkpointed records can be asked for too.
    package func replay(
        _ files: any JournalFiles,
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        let replay = SegmentReplay(
            files: files,
            segments: segments,
            last: last.number,
            hash: configuration.hash,
            checkpointedDamage: checkpointedDamage
        )
        try replay.run(after: number, body)
    }
}
