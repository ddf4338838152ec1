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
            try appendRecord(body, count, max(microseconds &+ clockShift, lastMicroseconds))
        } catch {
            failure = error.description
            throw error
        }
        age.add(recordAt: microseconds)
        do {
            try space.prepareSpare(currentOffset: current.offset)
        } catch {
            // The record that was appended is durable; what comes next is refused.
            failure = error.description
        }
        return last
    }

    private func appendRecord(
        _ body: Span<UInt8>,
        _ count: UInt32,
        _ microseconds: UInt64
    ) throws(JournalError) {
        let byteCount = RecordHeader.recordByteCount(body: body.count)
        if current.offset + byteCount > current.header.segmentByteCount { try roll() }
        var record = RecordHeader(
            bodyByteCount: body.count,
            count: count,
            number: last.number + 1,
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
        try writeWatermark(record.position)
    }

    /// Notes that a record is durable; some file systems take new blocks for it on a full disk.
    private func writeWatermark(_ position: JournalPosition) throws(JournalError) {
        do {
            try watermark.write(position)
        } catch {
            try makeRoom(after: error)
            try fileErrors { () throws(FileError) in try watermark.write(position) }
        }
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

    /// Removes what is not needed after an error that says that the disk is full: a segment that is
    /// only kept, else what keeps room.
    private func makeRoom(after error: FileError) throws(JournalError) {
        if error.isOutOfSpace, try removeKeptForRoom() { return }
        try space.makeRoom(after: error)
    }

    /// Makes the next segment the current one, once its file is ready.
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
        current = try Self.start(
            space.takeSpare(),
            in: files,
            configuration,
            after: last,
            at: lastMicroseconds,
            age: age
        )
        segments.append(Segment(first: last.number + 1))
    }

    /// Makes a spare the segment after a record: its header first, then its name.
    ///
    /// So a file with a segment's name is whole, always; one that is not has been damaged.
    static func start(
        _ prepared: SpareSegment,
        in files: any JournalFiles,
        _ configuration: JournalConfiguration,
        after last: JournalPosition,
        at microseconds: UInt64,
        age: JournalAge
    ) throws(FileError) -> Current {
        var spare = prepared
        try spare.complete()
        let header = SegmentHeader(
            instanceID: configuration.instanceID,
            segmentByteCount: configuration.segmentByteCount,
            firstNumber: last.number + 1,
            previousHash: last.hash,
            previousMicroseconds: microseconds,
            salt: configuration.drawSalt(),
            age: age.microseconds
        )
        try spare.file.write(header.encoded(configuration.hash).span, at: 0)
        let isSynced = configuration.durability == .fsync
        if isSynced { try spare.file.sync() }
        let name = SegmentLayout.name(first: header.firstNumber)
        try files.rename(spare.name, to: name)
        spare.file.name = name
        if isSynced { try files.syncDirectory(SegmentLayout.directory) }
        return Current(file: spare.file, header: header, offset: SegmentLayout.firstRecord)
    }
}
