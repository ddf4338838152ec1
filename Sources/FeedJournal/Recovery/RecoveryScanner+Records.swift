/// Where the records of a segment end, and why.
extension RecoveryScanner {
    /// Checks that a segment begins where the one before it, or the checkpoint, has ended.
    func link(_ reader: SegmentReader) -> JournalError? {
        let first = reader.header.previous
        guard first.number == last.number, first.hash != last.hash else { return nil }
        return .damaged(
            file: reader.name,
            offset: 0,
            record: first.number + 1,
            reason: "it does not continue record \(last.number) as that one is known"
        )
    }

    /// Walks past all records of a segment that are right, and tells where the last one begins.
    mutating func walkRecords(
        _ reader: inout SegmentReader,
        _ lastOffset: inout Int
    ) -> JournalError? {
        while true {
            let offset = reader.offset
            func damaged(_ reason: String) -> JournalError {
                .damaged(
                    file: reader.name,
                    offset: offset,
                    record: reader.last.number + 1,
                    reason: reason
                )
            }
            switch reader.next() {
            case .record(let record, body: _):
                for known in [checkpointed, configuration.known]
                where known.number == record.number {
                    guard known == record.position else {
                        return .damaged(
                            file: reader.name,
                            offset: offset,
                            record: record.number,
                            reason: "it is not the record that was durable once"
                        )
                    }
                }
                if let old = watermark, old.number == record.number, old != record.position {
                    isWatermarkForeign = true
                    watermark = nil
                }
                age.add(foundGap: record.microseconds - lastMicroseconds)
                last = record.position
                lastOffset = offset
                lastMicroseconds = record.microseconds
                noteCheckpointed()
            case .foreign(let record):
                return damaged(
                    "record \(record.number) is there and does not continue the journal"
                )
            case .end:
                guard !skipCheckpointed(&reader, &lastOffset) else { continue }
                return reader.sizeProblem.map(damaged)
            }
        }
    }

    /// Checks the place where a segment has no more records.
    func checkEnd(_ reader: SegmentReader, _ index: Int) -> JournalError? {
        let next = last.number + 1
        func damaged(_ reason: String) -> JournalError {
            .damaged(file: reader.name, offset: reader.offset, record: next, reason: reason)
        }
        if index + 1 < segments.count {
            let following = segments[index + 1].first
            if following == next { return nil }
            guard following > next else {
                return damaged("the next segment begins with record \(following)")
            }
            // Without a trace of it in this file, the record was in one that is not there.
            guard reader.hasTraceAtEnd || reader.laterRecord() != nil else {
                return .missing(records: next...following - 1)
            }
            return damaged("its hash is wrong, and the journal continues after it")
        }
        guard let later = reader.laterRecord() else { return nil }
        return damaged(
            "its hash is wrong, and record \(later.record.number) is after it"
                + " at offset \(later.offset)"
        )
    }

    /// What was durable once, by what is known of it, and is not found.
    func loss() -> JournalError? {
        let known = lastKnown
        guard last.number < known else {
            // The newest segment is never removed, even where all of it is checkpointed.
            guard segments.isEmpty, known > 0 else {
                let isMissed = configuration.known.number > 0 && watermark == nil
                return isMissed || isWatermarkForeign ? .missingWatermark(last: last.number) : nil
            }
            return .missing(records: known...known)
        }
        return .lost(records: last.number + 1...known)
    }
}
