/// A file that only takes room, to be deleted when the disk is full.
struct Ballast {
    static let name = "ballast"
    private let files: any JournalFiles
    private let byteCount: Int

    /// Whether the file is there, whole.
    private(set) var isThere: Bool

    /// Looks for the file; one of another size is removed.
    init(_ files: any JournalFiles, byteCount: Int) throws(FileError) {
        self.files = files
        self.byteCount = byteCount
        isThere = try files.open(Self.name)?.byteCount() == byteCount
        if !isThere { try files.remove(Self.name) }
    }

    /// Takes the room; false where there is not enough.
    mutating func write() throws(FileError) -> Bool {
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

    /// Gives the room back.
    mutating func release() throws(FileError) {
        isThere = false
        try files.remove(Self.name)
        // Some file systems free the blocks only with the transaction that the unlink is in.
        try files.syncDirectory(".")
    }
}
