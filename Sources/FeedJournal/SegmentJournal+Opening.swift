extension SegmentJournal {
    /// Reads what there is, and throws what is wrong with it unless just that is accepted.
    static func scan(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition,
        acceptedLoss: UInt64?,
        _ progress: (JournalProgress) -> Void
    ) throws(JournalError) -> RecoveryScan {
        // Where a journal has begun, a folder that is missing is a loss.
        if configuration.known.number == 0 || acceptedLoss != nil {
            try fileErrors { () throws(FileError) in
                try files.createDirectory(SegmentLayout.directory)
                try files.syncDirectory(".")
            }
        }
        let scan = try RecoveryScan(
            files,
            configuration,
            checkpointed: checkpointed,
            acceptsAnyInstance: acceptedLoss != nil,
            progress: progress
        )
        guard let acceptedLoss else {
            if let problem = scan.problem { throw problem }
            return scan
        }
        guard acceptedLoss == scan.last.number else {
            throw .otherLossAccepted(accepted: acceptedLoss, last: scan.last.number)
        }
        return scan
    }

    /// Makes the files what the scan says they hold: durable, zero after the last record, and of
    /// the configured instance.
    static func repair(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        _ scan: RecoveryScan,
        isLossAccepted: Bool
    ) throws(JournalError) -> ([Segment], Current) {
        var segments = scan.segments
        if isLossAccepted {
            try Quarantine.keep(scan, files, configuration.hash)
            segments.removeSubrange((scan.end.lastKeptIndex + 1)...)
        }
        switch scan.end {
        case .segment(let index, let record, let offset, let content):
            try remove(&segments, from: index + 1, files)
            var current: Current?
            for segment in segments[min(scan.start, index)...] {
                current = try reopen(files, configuration, segment)
            }
            guard var current else { preconditionFailure("The journal ends in no segment.") }
            current.offset = offset
            let file = current.file
            let byteCount = current.header.segmentByteCount
            try fileErrors { () throws(FileError) in
                // Shorter only where a loss was accepted.
                if try file.byteCount() < byteCount { try file.allocate(byteCount: byteCount) }
                if content > offset { try file.writeZeros(offset..<content) }
                // What was read may be in the system's memory only, after a crash of the process.
                // After a failed sync the system even takes the last record for written, and syncs
                // it only where it is written once more.
                let last = try file.read(record..<offset)
                try file.write(last.span, at: record)
                try file.sync()
                try files.syncDirectory(SegmentLayout.directory)
            }
            // The next checkpoint may forget a damaged segment once it is not the current one.
            guard scan.checkpointedDamage?.file == segments[index].name else {
                return (segments, current)
            }
        case .fresh(let index):
            try remove(&segments, from: index, files)
        }
        segments.append(Segment(first: scan.last.number + 1))
        return (segments, try startAnew(files, configuration, scan))
    }

    /// Makes the segment after the last record.
    private static func startAnew(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        _ scan: RecoveryScan
    ) throws(JournalError) -> Current {
        do {
            let spare = try SpareSegment(files, configuration)
            return try start(
                spare,
                in: files,
                configuration,
                after: scan.last,
                at: scan.lastMicroseconds,
                age: scan.age
            )
        } catch {
            throw error.isOutOfSpace ? .outOfSpace(error) : .file(error)
        }
    }

    /// Opens a segment that was scanned, makes it durable, and gives it its instance.
    private static func reopen(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        _ segment: Segment
    ) throws(JournalError) -> Current {
        let file = try RecoveryScan.open(files, segment)
        let bytes = try fileErrors { () throws(FileError) in
            try file.read(0..<SegmentHeader.byteCount)
        }
        var header = try SegmentHeader(
            bytes.span,
            file: segment.name,
            first: segment.first,
            configuration.hash
        )
        let changed = header.instanceID != configuration.instanceID
        header.instanceID = configuration.instanceID
        let encoded = header.encoded(configuration.hash)
        try fileErrors { () throws(FileError) in
            // The header is within a sector, which a disk writes whole or not at all.
            if changed { try file.write(encoded.span, at: 0) }
            try file.sync()
        }
        return Current(file: file, header: header, offset: SegmentLayout.firstRecord)
    }

    /// Removes segments, the newest first: after an interruption, what is left still ends with a proven loss.
    private static func remove(
        _ segments: inout [Segment],
        from index: Int,
        _ files: any JournalFiles
    ) throws(JournalError) {
        guard index < segments.count else { return }
        for segment in segments[index...].reversed() {
            try fileErrors { () throws(FileError) in
                try files.remove(segment.name)
                try files.syncDirectory(SegmentLayout.directory)
            }
        }
        segments.removeSubrange(index...)
    }
}
