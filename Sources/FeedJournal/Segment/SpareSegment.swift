/// The segment to come: its blocks are taken and zeroed piece by piece, ahead of need.
///
/// Zeroed and not only allocated: the first write to an allocated block changes the file's extents,
/// which makes each sync commit the file system's own journal too (`docs/JOURNAL.md`).
struct SpareSegment {
    private let files: any JournalFiles
    private let configuration: JournalConfiguration

    /// The file, whose name is to be given.
    let file: any JournalFile

    /// How far it is zeroed.
    private(set) var zeroedByteCount = 0

    /// Whether the file is whole, and durable with its name.
    private(set) var isReady = false

    /// Takes the blocks; what an earlier run had prepared is given up.
    init(_ files: any JournalFiles, _ configuration: JournalConfiguration) throws(FileError) {
        self.files = files
        self.configuration = configuration
        try files.remove(SegmentLayout.spareName)
        file = try files.create(SegmentLayout.spareName)
        try file.allocate(byteCount: configuration.segmentByteCount)
    }

    /// Zeroes the next piece, or makes the file durable when no piece is left.
    mutating func advance() throws(FileError) {
        guard !isReady else { return }
        let start = zeroedByteCount
        let end = min(start + configuration.pieceByteCount, configuration.segmentByteCount)
        guard start < end else {
            if configuration.durability == .fsync {
                try file.sync()
                try files.syncDirectory(SegmentLayout.directory)
            }
            isReady = true
            return
        }
        try file.writeZeros(start..<end)
        // Else the sync of the whole would find all of it to be written, and hold up commits.
        file.startWriting(start..<end)
        zeroedByteCount = end
    }

    /// Does what is left.
    mutating func complete() throws(FileError) {
        while !isReady { try advance() }
    }
}
