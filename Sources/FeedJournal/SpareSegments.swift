/// The files for the segments to come: forgotten segments, and one that is being made if no
/// forgotten one is left.
///
/// A forgotten segment is kept until its room is needed, so a journal soon has as many files as its
/// checkpoints take, and neither makes nor removes another one.
struct SpareSegments {
    /// How many files there are at most, 1 GiB: more than checkpoints that lag leave, so that a
    /// journal that ends to keep old segments gives their room back.
    static let maximumCount = 16

    private let files: any JournalFiles
    private let configuration: JournalConfiguration
    /// The names of forgotten segments, the next one to be used last.
    private var forgotten: [String] = []
    private var made: SpareSegment?

    init(_ files: any JournalFiles, _ configuration: JournalConfiguration) {
        self.files = files
        self.configuration = configuration
    }

    var count: Int { forgotten.count + (made == nil ? 0 : 1) }

    /// Makes the next segment, if none is forgotten, so that it is ready when the current one is
    /// half full; O(bytes that were appended since the last call).
    mutating func prepare(currentOffset: Int) throws(StorageError) {
        guard forgotten.isEmpty else { return }
        while true {
            var next = if let made { made } else { try SpareSegment(files, configuration) }
            defer { made = next }
            guard !next.isReady, next.zeroedByteCount < 2 * currentOffset else { return }
            try next.advance()
        }
    }

    /// The next segment's file: a forgotten one, else the one that is being made.
    mutating func take() throws(StorageError) -> SpareSegment {
        while let name = forgotten.popLast() {
            if let next = try SpareSegment(files, configuration, recycling: name) { return next }
            try files.remove(name)
        }
        defer { made = nil }
        return if let made { made } else { try SpareSegment(files, configuration) }
    }

    /// Keeps the file of a forgotten segment; removes it if it cannot be renamed.
    mutating func keep(_ segment: Segment) throws(StorageError) {
        let name = SegmentLayout.recycledName(first: segment.first)
        do {
            try files.rename(segment.name, to: name)
        } catch {
            // It is gone already, or its new name finds no room: it is not needed.
            return try files.remove(segment.name)
        }
        forgotten.append(name)
    }

    /// Removes the files of forgotten segments; returns whether there were some.
    mutating func removeForgotten() throws(StorageError) -> Bool {
        guard !forgotten.isEmpty else { return false }
        while let name = forgotten.popLast() { try files.remove(name) }
        return true
    }

    /// Removes all of them, durably.
    mutating func removeAll() throws(StorageError) {
        _ = try removeForgotten()
        if let made {
            try files.remove(made.name)
            self.made = nil
        }
        try files.syncDirectory(SegmentLayout.directory)
    }

    /// Removes the files of forgotten segments that an earlier run has kept.
    static func removeForgotten(_ files: any JournalFiles) throws(StorageError) {
        for name in try files.names(in: SegmentLayout.directory)
        where name.hasPrefix(SegmentLayout.recycledPrefix) {
            try files.remove("\(SegmentLayout.directory)/\(name)")
        }
    }
}

/// A file for a segment to come: a new one, whose blocks are taken and zeroed piece by piece ahead
/// of need, or a forgotten segment, as PostgreSQL recycles its log.
///
/// Zeroed and not only allocated: the first write to an allocated block changes the file's extents,
/// which makes each sync commit the file system's own journal too (`docs/STORAGE.md`).
struct SpareSegment {
    /// After how many zeroed bytes the file is synced, so that no sync holds up a commit for long.
    private static let syncByteCount = 1 << 20

    private let files: any JournalFiles
    private let configuration: JournalConfiguration
    let file: any JournalFile
    /// What it is called until then.
    let name: String
    private(set) var zeroedByteCount = 0
    /// Whether the file is whole, and durable with its name.
    private(set) var isReady = false

    /// Takes the blocks; what an earlier run had prepared is given up.
    init(_ files: any JournalFiles, _ configuration: JournalConfiguration) throws(StorageError) {
        self.files = files
        self.configuration = configuration
        name = SegmentLayout.spareName
        try files.remove(name)
        file = try files.create(name)
        do {
            try file.allocate(byteCount: configuration.segmentByteCount)
        } catch {
            // A part of the blocks may be taken, and other files have no room then.
            try files.remove(name)
            throw error
        }
        // Zeros keep the syncs of appends short, and there are none.
        isReady = configuration.durability == .replicated
    }

    /// Takes a segment that was forgotten and renamed; nil if it cannot be had.
    ///
    /// What it holds needs no zeros: none of it is a record under another segment's salt. Its old
    /// name is durably gone on return: so no start finds both names.
    init?(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        recycling name: String
    ) throws(StorageError) {
        guard let file = try files.open(name),
            try file.byteCount() == configuration.segmentByteCount
        else { return nil }
        if configuration.durability == .fsync { try files.syncDirectory(SegmentLayout.directory) }
        self.files = files
        self.configuration = configuration
        self.file = file
        self.name = name
        isReady = true
    }

    /// Zeroes the next piece, or makes the file durable when no piece is left.
    ///
    /// The caller is the thread that commits, so each MiB is synced alone: one sync of the whole
    /// segment would hold up commits for tens of milliseconds.
    mutating func advance() throws(StorageError) {
        guard !isReady else { return }
        let start = zeroedByteCount
        let end = min(start + configuration.pieceByteCount, configuration.segmentByteCount)
        let isSynced = configuration.durability == .fsync
        guard start < end else {
            if isSynced {
                try file.sync()
                try files.syncDirectory(SegmentLayout.directory)
            }
            isReady = true
            return
        }
        try file.writeZeros(start..<end)
        if isSynced, start / Self.syncByteCount < end / Self.syncByteCount { try file.sync() }
        zeroedByteCount = end
    }

    mutating func complete() throws(StorageError) {
        while !isReady { try advance() }
    }
}
