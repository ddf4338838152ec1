/// Reads the records of segments that have been checked before, in order.
struct SegmentReplay {
    let files: any JournalFiles

    /// All segments, in order.
    let segments: [RecoveryScan.Segment]

    /// The last record that is given.
    let last: UInt64

    let hash: RecordHash

    /// Damage in checkpointed records, skipped where only the records behind it are asked for.
    let checkpointedDamage: CheckpointedDamage?

    /// Gives the records behind a position, until `body` says false or none is left.
    func run(
        after sequence: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        guard sequence < last else { return }
        guard let start = segments.lastIndex(where: { $0.first <= sequence + 1 }) else {
            throw .missing(sequences: sequence + 1...(segments.first?.first ?? last + 1) - 1)
        }
        for index in start..<segments.count {
            let segment = segments[index]
            let file = try RecoveryScan.open(files, segment)
            var reader = try SegmentReader(file, first: segment.first, hash)
            if let damage = checkpointedDamage, damage.file == segment.name,
                let place = damage.resumption, place.previous.sequence <= sequence
            {
                reader.resume(at: place)
            }
            while reader.last.sequence < endSequence(index) {
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

    /// The last record of a segment.
    private func endSequence(_ index: Int) -> UInt64 {
        index + 1 < segments.count ? min(last, segments[index + 1].first - 1) : last
    }
}
