extension SegmentJournal {
    /// How many files are kept for the segments to come, the one that is being prepared among them.
    private static let maximumSpareCount = 2

    package func forget(through sequence: UInt64) throws(JournalError) {
        // The current segment stays, so a newer one than any that goes is durable.
        while segments.count > 1, segments[1].first - 1 <= sequence {
            let segment = segments[0]
            try fileErrors { () throws(FileError) in try release(segment) }
            segments.removeFirst()
        }
    }

    /// Keeps a forgotten segment's file for a segment to come; on a full disk it goes.
    ///
    /// What is unlinked has to be taken and zeroed anew, and freeing its blocks may hold up the
    /// disk.
    private func release(_ segment: RecoveryScan.Segment) throws(FileError) {
        guard space.mode == .writable else { return try files.remove(segment.name) }
        // Where a disk has damaged a file, a new one is safer.
        guard segment.name != checkpointedDamage?.file else {
            return try files.discard(segment.name)
        }
        guard recycled.count + (spare == nil ? 0 : 1) < Self.maximumSpareCount else {
            return try files.discard(segment.name)
        }
        let name = SegmentLayout.recycledName(first: segment.first)
        do {
            try files.rename(segment.name, to: name)
        } catch {
            // It is gone already, or its new name finds no room: nothing hangs on it.
            return try files.remove(segment.name)
        }
        recycled.append(name)
    }

    /// Gives up the forgotten files that were kept; whether there were some.
    func releaseRecycled() throws(FileError) -> Bool {
        guard !recycled.isEmpty else { return false }
        while let name = recycled.popLast() { try files.remove(name) }
        return true
    }

    /// Gives up what only keeps room: what is kept for segments to come, and the ballast.
    ///
    /// For when another file of the directory finds no room. All of it is made anew when there is
    /// room again.
    package func giveUpReserves() throws(JournalError) {
        try fileErrors { () throws(FileError) in
            _ = try releaseRecycled()
            if let spare {
                try files.remove(spare.name)
                self.spare = nil
            }
            try files.syncDirectory(SegmentLayout.directory)
            if ballast.isThere { try ballast.release() }
        }
        space.ballastReleased()
    }

    /// Removes the files that only keep room: what is kept for segments to come, and the ballast.
    ///
    /// For a start on a full disk, before there is a journal; all of them are made anew later.
    package static func removeReserves(_ files: any JournalFiles) throws(JournalError) {
        try fileErrors { () throws(FileError) in
            if try files.names(in: ".").contains(SegmentLayout.directory) {
                try removeRecycled(files)
                try files.remove(SegmentLayout.spareName)
                try files.syncDirectory(SegmentLayout.directory)
            }
            try files.remove(Ballast.name)
            // Some file systems free the blocks only with the transaction that the unlink is in.
            try files.syncDirectory(".")
        }
    }

    /// Removes the forgotten files that an earlier run had kept.
    static func removeRecycled(_ files: any JournalFiles) throws(FileError) {
        for name in try files.names(in: SegmentLayout.directory)
        where name.hasPrefix(SegmentLayout.recycledPrefix) {
            try files.remove("\(SegmentLayout.directory)/\(name)")
        }
    }
}
