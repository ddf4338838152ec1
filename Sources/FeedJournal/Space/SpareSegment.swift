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

    /// The file, whose name is to be given.
    let file: any JournalFile

    /// What it is called until then.
    let name: String

    /// How far it is zeroed.
    private(set) var zeroedByteCount = 0

    /// Whether the file is whole, and durable with its name.
    private(set) var isReady = false

    /// Takes the blocks; what an earlier run had prepared is given up.
    init(_ files: any JournalFiles, _ configuration: JournalConfiguration) throws(FileError) {
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
    }

    /// Takes a segment that was forgotten and renamed; nil where it cannot be had.
    ///
    /// What it holds needs no zeros: none of it is a record under another segment's salt. Its old
    /// name is durably gone on return: so no start finds both names.
    init?(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        recycling name: String
    ) throws(FileError) {
        guard let file = try files.open(name),
            try file.byteCount() == configuration.segmentByteCount
        else { return nil }
        if configuration.durability == .fsync {
            try files.syncDirectory(SegmentLayout.directory)
        }
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
    mutating func advance() throws(FileError) {
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

    /// Does what is left.
    mutating func complete() throws(FileError) {
        while !isReady { try advance() }
    }
}
