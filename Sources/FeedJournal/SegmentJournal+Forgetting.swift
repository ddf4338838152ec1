// How segments go whose records are kept elsewhere: at once, or after a time for which they are kept.
extension SegmentJournal {
    package func forget(through number: UInt64) throws(JournalError) {
        forgotten = max(forgotten, number)
        while !space.isFull, try isOldestDue() { try releaseOldest() }
    }

    /// The bytes of the segments whose records are all forgotten, and that are kept for a time.
    package var keptByteCount: Int {
        let kept = segments.indices.dropLast().prefix { segments[$0 + 1].first - 1 <= forgotten }
        return kept.count * current.header.segmentByteCount
    }

    /// Removes kept segments, the oldest first, where the disk runs low, and one of those that are
    /// due and not needed for segments to come.
    ///
    /// An unlink holds up commits for some milliseconds, so there are no more of them at once than
    /// the room needs.
    func removeKept() throws(JournalError) {
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

    /// Removes the oldest kept segment for room on a full disk; false where there is none.
    func removeKeptForRoom() throws(JournalError) -> Bool {
        guard isOldestForgotten else { return false }
        try removeOldest()
        droppedSegmentCount += 1
        // Some file systems free the blocks only with the transaction that the unlink is in.
        try fileErrors { () throws(FileError) in
            try files.syncDirectory(SegmentLayout.directory)
        }
        return true
    }

    /// Whether all records of the oldest segment are forgotten.
    ///
    /// The current segment stays, so a newer one than any that goes is durable.
    private var isOldestForgotten: Bool {
        segments.count > 1 && segments[1].first - 1 <= forgotten
    }

    /// Whether the oldest segment is forgotten, and was kept for as long as it is to be.
    ///
    /// By the journal's age at its end and now: no clock is asked, and a journal that rests keeps what it
    /// has.
    private func isOldestDue() throws(JournalError) -> Bool {
        guard isOldestForgotten else { return false }
        guard configuration.keptMicroseconds > 0 else { return true }
        return try oldestEnd() + configuration.keptMicroseconds <= age.microseconds
    }

    /// The journal's age at the end of the oldest segment, as the next segment's header says; 0 where
    /// that does not tell: it is kept as long as if it had ended when the journal's age was first counted.
    private func oldestEnd() throws(JournalError) -> UInt64 {
        let next = segments[1]
        if let known = knownEnd, known.next == next { return known.age }
        let bytes = try fileErrors { () throws(FileError) in
            try files.begin(of: next.name, byteCount: SegmentHeader.byteCount) ?? []
        }
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
    private func releaseOldest() throws(JournalError) {
        let segment = segments[0]
        // Where a disk has damaged a file, a new one is safer.
        let isDamaged = segment.name == checkpointedDamage?.file
        try fileErrors { () throws(FileError) in
            try space.release(segment, isDamaged: isDamaged)
        }
        segments.removeFirst()
    }

    private func removeOldest() throws(JournalError) {
        let name = segments[0].name
        try fileErrors { () throws(FileError) in try files.remove(name) }
        segments.removeFirst()
    }
}
