import Glibc

/// A journal in files of one size, each named after its first record.
///
/// Bound to one thread at a time. Records lie one after the other, each a header and a body,
/// chained by their hashes; after the newest is nothing that passes for one. A record is written at
/// its end and synced before the append returns, so at most one, the last, can be torn. With
/// ``Durability/replicated`` it is synced later: see ``syncMark()``.
/// `docs/STORAGE.md` has the formats and the rules.
package final class SegmentJournal: Journal {
    private struct Current {
        let file: any JournalFile
        let header: SegmentHeader
        /// Where the next record goes; after it is nothing that passes for one.
        var offset: Int
        /// What counts as written beyond that, so that it ends early.
        var hurry = 0

        var fill: Int { offset + hurry }
    }

    /// What each record of a segment that has something to erase counts beside its bytes.
    private static let erasingByteCount = 256 << 10

    package static let directoryName = SegmentLayout.directory
    package static let watermarkName = DurableWatermark.name
    /// The file that is given up on a full disk.
    package static let ballastName = Ballast.name

    package private(set) var last: JournalPosition
    /// When the last record was written, in microseconds; the next one is not before.
    package private(set) var lastMicroseconds: UInt64
    /// How far the times of records are ahead of the clock in this run: so none stands still if the
    /// clock is behind the newest record.
    package var clockShift: UInt64 = 0

    private let files: any JournalFiles
    private let configuration: JournalConfiguration
    /// In order; the last is the current one.
    private var segments: [Segment]

    private var current: Current

    /// Damage in records that are checkpointed.
    ///
    /// The next checkpoint forgets the segment, whose file is not used again.
    package let checkpointedDamage: CheckpointedDamage?

    private var watermark: DurableWatermark
    private var space: JournalSpace
    /// All records up to this one are kept elsewhere.
    private var forgotten: UInt64
    /// Segments that begin with this record or before have something that is to leave the files.
    private var erased: UInt64 = 0
    private var age: JournalAge
    /// The journal's age when the segment before one ended, read from that one's header.
    private var knownEnd: (next: Segment, age: UInt64)?
    /// How many kept segments were removed before their time, as the disk ran low.
    package private(set) var droppedSegmentCount = 0
    private var failure: String?
    private var pending: PendingSync

    /// Damage above all that is known to be durable, which was cut off with what came after it.
    ///
    /// Only with ``Durability/replicated``; nil where there was none.
    package let cutProblem: StorageError?

    /// Opens the journal of a directory, or makes it if the directory is new.
    ///
    /// It is read from the record after `checkpointed`, and what a power cut has torn is cut off.
    /// Damage in records up to `checkpointed` alone costs nothing: see ``checkpointedDamage``. If
    /// more is missing the problem is thrown, unless `acceptedLoss` names the last record that is
    /// left; then all after it is moved to `quarantine/`, and the configuration's instance has to be
    /// a new one.
    package init(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition = .start,
        acceptedLoss: UInt64? = nil,
        progress: (JournalProgress) -> Void = { _ in }
    ) throws(StorageError) {
        configuration.check()
        self.files = files
        self.configuration = configuration
        let scan = try Self.scan(
            files,
            configuration,
            checkpointed: checkpointed,
            acceptedLoss: acceptedLoss,
            progress
        )
        last = scan.last
        lastMicroseconds = scan.lastMicroseconds
        age = scan.age
        checkpointedDamage = scan.checkpointedDamage
        cutProblem = scan.cutProblem
        pending = PendingSync(synced: scan.last)
        forgotten = checkpointed.number
        // Before anything is made, which may need the room.
        try SpareSegments.removeForgotten(files)
        (segments, current) = try Self.repair(
            files,
            configuration,
            scan,
            isLossAccepted: acceptedLoss != nil
        )
        watermark = try DurableWatermark(files, configuration.hash)
        // It is durable from here on: a watermark that is missing later was removed.
        try watermark.replace(with: last)
        try files.syncDirectory(".")
        space = try JournalSpace(files, configuration)
        _ = try checkSpace()
    }

    package func replay(
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(StorageError) {
        let replay = SegmentReplay(
            files: files,
            segments: segments,
            last: last.number,
            hash: configuration.hash,
            checkpointedDamage: checkpointedDamage
        )
        try replay.run(after: number, body)
    }

    /// Looks at the free space, writes the ballast if it is due, and says what may be taken.
    ///
    /// To be called every second or so, on the journal's thread.
    package func checkSpace() throws(StorageError) -> SpaceWatch.Mode {
        try removeKept()
        return try space.check()
    }
}

extension SegmentJournal {
    package func freeByteCount() throws(StorageError) -> Int { try files.freeByteCount() }

    /// The free bytes from which on changes are taken again, once they are not.
    package var writableByteCount: Int { space.writableByteCount }

    package var hasBallast: Bool { space.hasBallast }

    /// Gives up what only keeps room: the files for segments to come, and the ballast.
    ///
    /// For when another file of the directory finds no room. All of it is made anew when there is
    /// room again.
    package func giveUpReserves() throws(StorageError) {
        while try removeKeptForRoom() {}
        try space.giveUp()
    }

    /// Removes the files that only keep room: those for segments to come, and the ballast.
    ///
    /// For a start on a full disk, before there is a journal; all of them are made anew later.
    package static func removeReserves(_ files: any JournalFiles) throws(StorageError) {
        try JournalSpace.giveUp(files)
    }

    /// The bytes of the segments, each as large as the current one, and of those to come.
    package var fileByteCount: Int {
        (segments.count + space.spareCount) * current.header.segmentByteCount
    }
}

@available(*, unavailable)
extension SegmentJournal: Sendable {}

extension SegmentJournal {
    package func append(
        _ body: Span<UInt8>,
        count: UInt32,
        at microseconds: UInt64
    ) throws(StorageError) -> JournalPosition {
        if let failure { throw .journalStopped(reason: failure) }
        guard body.count <= configuration.maximumBodyByteCount else {
            throw .recordTooLarge(byteCount: body.count, limit: configuration.maximumBodyByteCount)
        }
        do {
            try appendRecord(body, count, recordTime(at: microseconds))
        } catch {
            failure = error.description
            throw error
        }
        age.add(recordAt: microseconds)
        do {
            try space.prepareSpare(currentOffset: current.fill)
        } catch {
            // The record that was appended is durable; what comes next is refused.
            failure = error.description
        }
        return last
    }

    /// The time of a record that is appended at a reading of the clock.
    package func recordTime(at clock: UInt64) -> UInt64 {
        max(clock &+ clockShift, lastMicroseconds)
    }

    private func appendRecord(
        _ body: Span<UInt8>,
        _ count: UInt32,
        _ microseconds: UInt64
    ) throws(StorageError) {
        let byteCount = RecordHeader.recordByteCount(body: body.count)
        if current.fill + byteCount > current.header.segmentByteCount { try roll() }
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
        if current.header.firstNumber <= erased { current.hurry += Self.erasingByteCount }
        last = record.position
        lastMicroseconds = microseconds
        if configuration.durability == .replicated {
            pending.byteCount += byteCount
        } else {
            try writeWatermark(record.position)
        }
    }

    /// Notes that a record is durable; some file systems take new blocks for it on a full disk.
    private func writeWatermark(_ position: JournalPosition) throws(StorageError) {
        do {
            try watermark.write(position)
        } catch {
            try makeRoom(after: error)
            try watermark.write(position)
        }
    }

    private func write(_ header: Span<UInt8>, _ body: Span<UInt8>) throws(StorageError) {
        do {
            try current.file.write(header, body, at: current.offset)
        } catch {
            try makeRoom(after: error)
            try current.file.write(header, body, at: current.offset)
        }
    }

    /// Removes what is not needed after an error that says that the disk is full: a segment that is
    /// only kept, else what keeps room.
    private func makeRoom(after error: StorageError) throws(StorageError) {
        if error.isOutOfSpace, try removeKeptForRoom() { return }
        try space.makeRoom(after: error)
    }

    private func roll() throws(StorageError) {
        do {
            try startNext()
        } catch {
            try makeRoom(after: error)
            do {
                try startNext()
            } catch {
                throw error.isOutOfSpace ? .outOfSpace(error) : error
            }
        }
    }

    private func startNext() throws(StorageError) {
        let next = try Self.start(
            space.takeSpare(),
            in: files,
            configuration,
            after: last,
            at: lastMicroseconds,
            age: age
        )
        if configuration.durability == .replicated { pending.roll(from: current.file) }
        current = next
        segments.append(Segment(first: last.number + 1))
    }

    /// Makes a spare the segment after a record: its header first, then its name.
    ///
    /// So a file with a segment's name is whole, always; one that is not has been damaged.
    private static func start(
        _ prepared: SpareSegment,
        in files: any JournalFiles,
        _ configuration: JournalConfiguration,
        after last: JournalPosition,
        at microseconds: UInt64,
        age: JournalAge
    ) throws(StorageError) -> Current {
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

// How another thread makes the records durable that were appended with `Durability.replicated`.
extension SegmentJournal {
    /// The bytes that were appended since the last mark.
    package var unmarkedByteCount: Int { pending.byteCount }

    /// What was written and has no mark yet, to be synced on another thread while this one appends.
    ///
    /// Nil if there is nothing, and while another mark has not ended: it ends by ``noteSynced(_:)`` or
    /// ``noteFailedSync(_:)``. If it were not so, a sync that succeeds behind one that has failed would
    /// pass for the proof of what the failed one has lost.
    package func syncMark() throws(StorageError) -> SyncMark? {
        guard failure == nil, configuration.durability == .replicated, !pending.isMarked,
            last != pending.synced
        else { return nil }
        do {
            var syncs = pending.rolled.map(\.fileSync)
            syncs.append(current.file.fileSync)
            if pending.hasNewName { syncs.append(try files.directorySync(SegmentLayout.directory)) }
            pending.mark()
            return SyncMark(position: last, syncs: syncs)
        } catch {
            failure = error.description
            throw error
        }
    }

    /// Learns that a mark was synced, and writes the watermark.
    ///
    /// The watermark is not synced itself: a power cut may leave an older one, and never one that names
    /// a record which the disk does not have.
    package func noteSynced(_ mark: SyncMark) throws(StorageError) {
        if let failure { throw .journalStopped(reason: failure) }
        precondition(pending.isMarked, "A mark ends once.")
        pending.end(at: mark.position)
        do {
            try writeWatermark(mark.position)
        } catch {
            failure = error.description
            throw error
        }
    }

    /// Learns that the sync of a mark has failed: nothing more is appended.
    package func noteFailedSync(_ error: StorageError) {
        failure = failure ?? error.description
    }
}

// How segments go whose records are kept elsewhere: at once, or after a time for which they are kept.
extension SegmentJournal {
    package func forget(through number: UInt64) throws(StorageError) {
        forgotten = max(forgotten, number)
        while !space.isFull, try isOldestDue() { try releaseOldest() }
    }

    /// The files of all present segments are not used again.
    ///
    /// A segment's records do not matter: its file may have old bytes behind them, of an earlier use. The
    /// current segment ends some hundred records later, so a journal with few changes forgets its bytes, too.
    package func erase() throws(StorageError) {
        erased = last.number
        try space.removeForgotten()
    }

    /// The bytes of the segments whose records are all forgotten, and that are kept for a time.
    package var keptByteCount: Int {
        let kept = segments.indices.dropLast().prefix { segments[$0 + 1].first - 1 <= forgotten }
        return kept.count * current.header.segmentByteCount
    }

    /// Removes kept segments, the oldest first, if the disk runs low, and one of those that are
    /// due and not needed for segments to come.
    ///
    /// An unlink holds up commits for some milliseconds, so there are no more of them at once than
    /// the room needs.
    private func removeKept() throws(StorageError) {
        if space.isFull, try isOldestDue() { try removeOldest() }
        guard configuration.keptMicroseconds > 0, isOldestForgotten else { return }
        let size = current.header.segmentByteCount
        let free = try freeByteCount()
        // Some file systems free the blocks later: they are counted here and not looked at again.
        var missing = configuration.space.keptByteCount - free
        while missing > 0, isOldestForgotten {
            try removeOldest()
            droppedSegmentCount += 1
            missing -= size
        }
    }

    /// Removes the oldest kept segment for room on a full disk; false if there is none.
    private func removeKeptForRoom() throws(StorageError) -> Bool {
        guard isOldestForgotten else { return false }
        try removeOldest()
        droppedSegmentCount += 1
        // Some file systems free the blocks only with the transaction that the unlink is in.
        try files.syncDirectory(SegmentLayout.directory)
        return true
    }

    /// Whether all records of the oldest segment are forgotten.
    ///
    /// The current segment stays, so a newer one than any that goes is durable.
    private var isOldestForgotten: Bool {
        guard segments.count > 1, segments[1].first - 1 <= forgotten else { return false }
        // The name of the next one is durable once a record in it is: else a power cut could leave none.
        return configuration.durability != .replicated || segments[1].first <= pending.synced.number
    }

    /// Whether the oldest segment is forgotten, and was kept for as long as it is to be.
    ///
    /// By the journal's age at its end and now: no clock is asked, and a journal that rests keeps what it
    /// has.
    private func isOldestDue() throws(StorageError) -> Bool {
        guard isOldestForgotten else { return false }
        guard configuration.keptMicroseconds > 0 else { return true }
        return try oldestEnd() + configuration.keptMicroseconds <= age.microseconds
    }

    /// The journal's age at the end of the oldest segment, as the next segment's header says; 0 if
    /// that does not tell: it is kept as long as if it had ended when the journal's age was first counted.
    private func oldestEnd() throws(StorageError) -> UInt64 {
        let next = segments[1]
        if let known = knownEnd, known.next == next { return known.age }
        let bytes = try files.begin(of: next.name, byteCount: SegmentHeader.byteCount) ?? []
        let header = try? SegmentHeader(
            bytes.span,
            file: next.name,
            first: next.first,
            configuration.hash
        )
        let age = header?.age ?? 0
        knownEnd = (next, age)
        return age
    }

    /// Keeps the file of the oldest segment for a segment to come.
    private func releaseOldest() throws(StorageError) {
        let segment = segments[0]
        // If a disk has damaged a file, a new one is safer.
        let isDamaged = segment.name == checkpointedDamage?.file
        try space.release(segment, isReusable: !isDamaged && segment.first > erased)
        segments.removeFirst()
    }

    private func removeOldest() throws(StorageError) {
        let name = segments[0].name
        try files.remove(name)
        segments.removeFirst()
    }

    /// Reads what there is, and throws what is wrong with it unless just that is accepted.
    private static func scan(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition,
        acceptedLoss: UInt64?,
        _ progress: (JournalProgress) -> Void
    ) throws(StorageError) -> RecoveryScan {
        // If a journal has begun, a folder that is missing is a loss.
        if configuration.known.number == 0 || acceptedLoss != nil {
            try files.createDirectory(SegmentLayout.directory)
            try files.syncDirectory(".")
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
    private static func repair(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        _ scan: RecoveryScan,
        isLossAccepted: Bool
    ) throws(StorageError) -> ([Segment], Current) {
        var segments = scan.segments
        if isLossAccepted {
            try Quarantine.keep(scan, files, configuration.hash)
            segments.removeSubrange((scan.end.lastKeptIndex + 1)...)
        }
        switch scan.end {
        case .segment(let index, let record, let offset, let content):
            try remove(&segments, from: index + 1, files)
            var current: Current?
            for place in min(scan.start, index)...index {
                let isKnown = place < index && segments[place + 1].first <= scan.lastKnown + 1
                let isRewritten = configuration.durability == .replicated && !isKnown
                current = try reopen(files, configuration, segments[place], isRewritten)
            }
            guard var current else { preconditionFailure("The journal ends in no segment.") }
            current.offset = offset
            let file = current.file
            let byteCount = current.header.segmentByteCount
            // Shorter only if a loss was accepted, or damage cut off.
            if try file.byteCount() < byteCount { try file.allocate(byteCount: byteCount) }
            if content > offset { try file.writeZeros(offset..<content) }
            // What was read may be in the system's memory only, after a crash of the process.
            // After a failed sync the system even takes the last record for written, and syncs
            // it only if it is written once more.
            let last = try file.read(record..<offset)
            try file.write(last.span, at: record)
            try file.sync()
            try files.syncDirectory(SegmentLayout.directory)
            // The next checkpoint may forget a damaged segment once it is not the current one.
            guard scan.checkpointedDamage?.file == segments[index].name else {
                return (segments, current)
            }
        case .fresh(let index):
            try remove(&segments, from: index, files)
        }
        segments.append(Segment(first: scan.last.number + 1))
        let current = try startAnew(
            files,
            configuration.durability == .os ? configuration : configuration.durably,
            after: scan.last,
            at: scan.lastMicroseconds,
            age: scan.age
        )
        return (segments, current)
    }

    /// Makes the first segment, or one in the place of those after a record.
    private static func startAnew(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        after last: JournalPosition,
        at microseconds: UInt64,
        age: JournalAge
    ) throws(StorageError) -> Current {
        do {
            let spare = try SpareSegment(files, configuration)
            return try start(
                spare,
                in: files,
                configuration,
                after: last,
                at: microseconds,
                age: age
            )
        } catch {
            throw error.isOutOfSpace ? .outOfSpace(error) : error
        }
    }

    /// Makes the journal of a state that was copied from another machine, durably: it begins behind the
    /// last record of the copy, of which no file here has anything.
    ///
    /// From then on it is opened as any other, with that record as the checkpointed one. Refused where
    /// there are segments. The segment is made last: after an interruption there is none, and the journal
    /// is begun again, or all of it is there.
    package static func begin(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        after last: JournalPosition,
        at microseconds: UInt64
    ) throws(StorageError) {
        configuration.check()
        try checkMayBegin(files)
        try files.createDirectory(SegmentLayout.directory)
        var watermark = try DurableWatermark(files, configuration.hash)
        try watermark.replace(with: last)
        try files.syncDirectory(".")
        let durably = configuration.durably
        _ = try startAnew(files, durably, after: last, at: microseconds, age: JournalAge(0))
    }

    /// Whether a directory has segments.
    package static func isBegun(_ files: any JournalFiles) throws(StorageError) -> Bool {
        try !RecoveryScan.firsts(files).isEmpty
    }

    /// Refuses a directory that has segments; changes nothing.
    package static func checkMayBegin(_ files: any JournalFiles) throws(StorageError) {
        guard try !isBegun(files) else {
            throw .system("begin", SegmentLayout.directory, code: EEXIST)
        }
    }

    /// Opens a segment that was scanned, makes it durable, and gives it its instance.
    ///
    /// After a failed sync the system takes what the sync has lost for written. One that had many records
    /// under way is written once more as a whole, so that the sync here does not miss them.
    private static func reopen(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        _ segment: Segment,
        _ isRewritten: Bool
    ) throws(StorageError) -> Current {
        let file = try RecoveryScan.open(files, segment)
        let bytes = try file.read(0..<(isRewritten ? file.byteCount() : SegmentHeader.byteCount))
        if isRewritten { try file.write(bytes.span, at: 0) }
        var header = try SegmentHeader(
            bytes.span,
            file: segment.name,
            first: segment.first,
            configuration.hash
        )
        let changed = header.instanceID != configuration.instanceID
        header.instanceID = configuration.instanceID
        let encoded = header.encoded(configuration.hash)
        // The header is within a sector, which a disk writes whole or not at all.
        if changed { try file.write(encoded.span, at: 0) }
        try file.sync()
        return Current(file: file, header: header, offset: SegmentLayout.firstRecord)
    }

    /// Removes segments, the newest first: after an interruption, what is left still ends with a proven loss.
    private static func remove(
        _ segments: inout [Segment],
        from index: Int,
        _ files: any JournalFiles
    ) throws(StorageError) {
        guard index < segments.count else { return }
        for segment in segments[index...].reversed() {
            try files.remove(segment.name)
            try files.syncDirectory(SegmentLayout.directory)
        }
        segments.removeSubrange(index...)
    }
}
