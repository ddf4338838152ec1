extension SegmentJournal {
    package func append(
        _ body: Span<UInt8>,
        count: UInt32,
        at microseconds: UInt64
    ) throws(JournalError) -> JournalPosition {
        if let failure { throw .stopped(reason: failure) }
        guard body.count <= configuration.maximumBodyByteCount else {
            throw .recordTooLarge(
                byteCount: body.count,
                limit: configuration.maximumBodyByteCount
            )
        }
        do {
            try commit(body, count, max(microseconds, lastMicroseconds))
        } catch {
            failure = error.description
            throw error
        }
        prepareSpare()
        return last
    }

    private func commit(
        _ body: Span<UInt8>,
        _ count: UInt32,
        _ microseconds: UInt64
    ) throws(JournalError) {
        let byteCount = RecordHeader.recordByteCount(body: body.count)
        if current.offset + byteCount > current.header.segmentByteCount { try roll() }
        var record = RecordHeader(
            bodyByteCount: body.count,
            count: count,
            sequence: last.sequence + 1,
            microseconds: microseconds,
            previousHash: last.hash
        )
        let header = record.seal(body, salt: current.header.salt, configuration.hash)
        try write(header.span, body)
        if configuration.durability == .fsync {
            do {
                try current.file.sync()
            } catch {
                throw .syncFailed(error)
            }
        }
        current.offset += byteCount
        last = record.position
        lastMicroseconds = microseconds
        try fileErrors { () throws(FileError) in try watermark.write(record.position) }
    }

    private func write(_ header: Span<UInt8>, _ body: Span<UInt8>) throws(JournalError) {
        do {
            try current.file.write(header, body, at: current.offset)
        } catch {
            try makeRoom(after: error)
            try fileErrors { () throws(FileError) in
                try current.file.write(header, body, at: current.offset)
            }
        }
    }

    /// Deletes the ballast and what is kept for later after an error that says that the disk is
    /// full; throws any other.
    private func makeRoom(after error: FileError) throws(JournalError) {
        guard error.isOutOfSpace else { throw .file(error) }
        let hadRecycled = try fileErrors { () throws(FileError) in try releaseRecycled() }
        guard ballast.isThere else {
            guard hadRecycled else { throw .outOfSpace(error) }
            return
        }
        try fileErrors { () throws(FileError) in try ballast.release() }
        space.ballastReleased()
    }

    /// Keeps the next segment's preparation ahead: it is whole when this one is half full.
    private func prepareSpare() {
        guard recycled.isEmpty else { return }
        do {
            while true {
                var next = if let spare { spare } else { try SpareSegment(files, configuration) }
                defer { spare = next }
                guard !next.isReady, next.zeroedByteCount < 2 * current.offset else { return }
                try next.advance()
            }
        } catch {
            // The record that was appended is durable. A full disk matters when the segment is
            // needed; any other failure stops what comes next.
            guard error.isOutOfSpace else {
                failure = error.description
                return
            }
            do {
                if ballast.isThere { try makeRoom(after: error) }
            } catch {
                failure = error.description
            }
        }
    }

    /// Goes on in the next segment, which is finished first if it is not ready.
    private func roll() throws(JournalError) {
        do {
            try startNext()
        } catch {
            try makeRoom(after: error)
            do {
                try startNext()
            } catch {
                throw error.isOutOfSpace ? .outOfSpace(error) : .file(error)
            }
        }
    }

    private func startNext() throws(FileError) {
        current = try Self.start(takeNext(), files, configuration, after: last, lastMicroseconds)
        segments.append(RecoveryScan.Segment(first: last.sequence + 1))
    }

    /// The next segment's file: a forgotten one, else the one that was prepared.
    private func takeNext() throws(FileError) -> SpareSegment {
        while let name = recycled.popLast() {
            if let next = try SpareSegment(files, configuration, recycling: name) { return next }
            try files.discard(name)
        }
        defer { spare = nil }
        return if let spare { spare } else { try SpareSegment(files, configuration) }
    }

    /// Makes a spare the segment behind a record: its header first, then its name.
    ///
    /// So a file with a segment's name is whole, always; one that is not has been damaged.
    static func start(
        _ prepared: SpareSegment,
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        after last: JournalPosition,
        _ microseconds: UInt64
    ) throws(FileError) -> Current {
        var spare = prepared
        try spare.complete()
        let header = SegmentHeader(
            instanceID: configuration.instanceID,
            segmentByteCount: configuration.segmentByteCount,
            firstSequence: last.sequence + 1,
            previousHash: last.hash,
            previousMicroseconds: microseconds,
            salt: configuration.drawSalt()
        )
        try spare.file.write(header.encoded(configuration.hash).span, at: 0)
        let isSynced = configuration.durability == .fsync
        if isSynced { try spare.file.sync() }
        let name = SegmentLayout.name(first: header.firstSequence)
        try files.rename(spare.name, to: name)
        spare.file.name = name
        if isSynced { try files.syncDirectory(SegmentLayout.directory) }
        return Current(file: spare.file, header: header, offset: SegmentLayout.firstRecord)
    }
}
