/// The room that a journal takes beside its segments: files that only keep room, to be given up
/// when the disk is full, and the watch that says when it counts as full.
struct JournalSpace {
    private let files: any JournalFiles
    private let limits: SpaceLimits
    /// Whether forgotten segments are used again.
    ///
    /// Their old names have to be durably gone first, for which no append waits in a cluster.
    private let recycles: Bool
    private var spares: SpareSegments
    private var ballast: Ballast
    private var watch: SpaceWatch

    init(_ files: any JournalFiles, _ configuration: JournalConfiguration) throws(StorageError) {
        self.files = files
        limits = configuration.space
        recycles = configuration.durability != .replicated
        spares = SpareSegments(files, configuration)
        ballast = try Ballast(files, byteCount: limits.ballastByteCount)
        watch = SpaceWatch(limits, hasBallast: ballast.isThere)
    }

    var writableByteCount: Int { watch.writableByteCount }

    var hasBallast: Bool { ballast.isThere }

    /// Whether no more files are kept for segments to come.
    ///
    /// On a disk that counts as full none is kept, and each one that is released is removed.
    var isFull: Bool { watch.mode == .writable && spares.count >= SpareSegments.maximumCount }

    var spareCount: Int { spares.count }

    /// Looks at the free space, writes the ballast if it is due, and says what may be taken.
    mutating func check() throws(StorageError) -> SpaceWatch.Mode {
        var free = try files.freeByteCount()
        // What is kept for later is no reason to refuse anything.
        if free < limits.readOnlyByteCount, try spares.removeForgotten() {
            free = try files.freeByteCount()
        }
        if watch.observe(freeByteCount: free), try ballast.write() { watch.ballastWritten() }
        return watch.mode
    }

    /// Makes the next segment ahead of need.
    ///
    /// A full disk is no error: it matters when the segment is needed.
    mutating func prepareSpare(currentOffset: Int) throws(StorageError) {
        do {
            try spares.prepare(currentOffset: currentOffset)
        } catch {
            guard error.isOutOfSpace else { throw error }
            if ballast.isThere { try makeRoom(after: error) }
        }
    }

    mutating func takeSpare() throws(StorageError) -> SpareSegment { try spares.take() }

    /// Keeps the file of a forgotten segment for a segment to come, if it may be used again; removes it
    /// else, on a full disk and in a cluster.
    mutating func release(_ segment: Segment, isReusable: Bool) throws(StorageError) {
        guard watch.mode == .writable, isReusable, recycles else {
            return try files.remove(segment.name)
        }
        try spares.keep(segment)
    }

    /// Removes the forgotten segments.
    mutating func removeForgotten() throws(StorageError) { _ = try spares.removeForgotten() }

    /// Removes the ballast and the forgotten segments after an error that says that the disk is
    /// full; throws any other error, and this one if there is nothing to remove.
    mutating func makeRoom(after error: StorageError) throws(StorageError) {
        guard error.isOutOfSpace else { throw error }
        let hadForgotten = try spares.removeForgotten()
        guard ballast.isThere else {
            guard hadForgotten else { throw .outOfSpace(error) }
            return
        }
        try ballast.release()
        watch.ballastReleased()
    }

    /// Removes all that only keeps room, for another file of the directory; it is made anew when
    /// there is room again.
    mutating func giveUp() throws(StorageError) {
        try spares.removeAll()
        if ballast.isThere { try ballast.release() }
        watch.ballastReleased()
    }

    /// The same if no journal is open.
    static func giveUp(_ files: any JournalFiles) throws(StorageError) {
        if try files.names(in: ".").contains(SegmentLayout.directory) {
            try SpareSegments.removeForgotten(files)
            try files.remove(SegmentLayout.spareName)
            try files.syncDirectory(SegmentLayout.directory)
        }
        try files.remove(Ballast.name)
        // Some file systems free the blocks only with the transaction that the unlink is in.
        try files.syncDirectory(".")
    }
}

/// When a disk counts as full; durability's only allowance for it.
package struct SpaceLimits: Equatable, Sendable {
    /// With less than this free nothing new is taken: 256 MiB.
    package var readOnlyByteCount = 256 << 20
    /// With this much free again all is as before: 512 MiB, well above, so as not to flap.
    package var resumeByteCount = 512 << 20
    /// What is kept to be deleted on a full disk, 64 MiB: more than is ever taken and not written.
    package var ballastByteCount = 64 << 20
    /// With less than this free no segment is kept that checkpoints need no more, 1 GiB: so they go
    /// before anything is refused.
    package var keptByteCount = 1 << 30

    package init() {}
}

/// Decides from the free space whether new work may be taken.
package struct SpaceWatch: Equatable, Sendable {
    package enum Mode: Equatable, Sendable {
        case writable
        /// Nothing that has to be journaled; what was taken before is still committed.
        case readOnly
    }

    package private(set) var mode = Mode.readOnly

    private let limits: SpaceLimits
    private var hasBallast: Bool
    /// Whether the watch was writable once; before, it need not stay clear of flapping.
    private var hasStarted = false

    init(_ limits: SpaceLimits, hasBallast: Bool) {
        self.limits = limits
        self.hasBallast = hasBallast
    }

    /// The free bytes from which on new work is taken again, once it is not.
    var writableByteCount: Int {
        hasStarted
            ? limits.resumeByteCount
            : limits.readOnlyByteCount + (hasBallast ? 0 : limits.ballastByteCount)
    }

    /// Takes note of the space that is free now.
    ///
    /// - Returns: Whether the ballast is to be written, and success told by ``ballastWritten()``.
    mutating func observe(freeByteCount: Int) -> Bool {
        switch mode {
        case .writable:
            if freeByteCount < limits.readOnlyByteCount { mode = .readOnly }
        case .readOnly:
            guard freeByteCount >= writableByteCount else { break }
            guard hasBallast else { return true }
            becomeWritable()
        }
        return false
    }

    mutating func ballastWritten() {
        hasBallast = true
        becomeWritable()
    }

    mutating func ballastReleased() {
        hasBallast = false
        hasStarted = true
        mode = .readOnly
    }

    private mutating func becomeWritable() {
        hasStarted = true
        mode = .writable
    }
}

/// A file that only takes room, to be deleted when the disk is full.
struct Ballast {
    static let name = "ballast"
    private let files: any JournalFiles
    private let byteCount: Int
    private(set) var isThere: Bool

    /// Looks for the file; one of another size is removed.
    init(_ files: any JournalFiles, byteCount: Int) throws(StorageError) {
        self.files = files
        self.byteCount = byteCount
        isThere = try files.open(Self.name)?.byteCount() == byteCount
        if !isThere { try files.remove(Self.name) }
    }

    /// Takes the room; false if there is not enough.
    mutating func write() throws(StorageError) -> Bool {
        do {
            let file = try files.create(Self.name)
            try file.allocate(byteCount: byteCount)
            try file.sync()
            isThere = true
        } catch {
            try files.remove(Self.name)
            guard error.isOutOfSpace else { throw error }
        }
        return isThere
    }

    mutating func release() throws(StorageError) {
        isThere = false
        try files.remove(Self.name)
        // Some file systems free the blocks only with the transaction that the unlink is in.
        try files.syncDirectory(".")
    }
}
