/// The files for the segments to come: forgotten segments, and one that is being made where no
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

    /// The segment that is being made.
    private var made: SpareSegment?

    /// No spare segments yet.
    init(_ files: any JournalFiles, _ configuration: JournalConfiguration) {
        self.files = files
        self.configuration = configuration
    }

    /// How many files there are, each as large as a segment.
    var count: Int { forgotten.count + (made == nil ? 0 : 1) }

    /// Makes the next segment, where none is forgotten, so that it is ready when the current one is
    /// half full; O(bytes that were appended since the last call).
    mutating func prepare(currentOffset: Int) throws(FileError) {
        guard forgotten.isEmpty else { return }
        while true {
            var next = if let made { made } else { try SpareSegment(files, configuration) }
            defer { made = next }
            guard !next.isReady, next.zeroedByteCount < 2 * currentOffset else { return }
            try next.advance()
        }
    }

    /// The next segment's file: a forgotten one, else the one that is being made.
    mutating func take() throws(FileError) -> SpareSegment {
        while let name = forgotten.popLast() {
            if let next = try SpareSegment(files, configuration, recycling: name) { return next }
            try files.remove(name)
        }
        defer { made = nil }
        return if let made { made } else { try SpareSegment(files, configuration) }
    }

    /// Keeps the file of a forgotten segment; removes it where it cannot be renamed.
    mutating func keep(_ segment: Segment) throws(FileError) {
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
    mutating func removeForgotten() throws(FileError) -> Bool {
        guard !forgotten.isEmpty else { return false }
        while let name = forgotten.popLast() { try files.remove(name) }
        return true
    }

    /// Removes all of them, durably.
    mutating func removeAll() throws(FileError) {
        _ = try removeForgotten()
        if let made {
            try files.remove(made.name)
            self.made = nil
        }
        try files.syncDirectory(SegmentLayout.directory)
    }

    /// Removes the files of forgotten segments that an earlier run has kept.
    static func removeForgotten(_ files: any JournalFiles) throws(FileError) {
        for name in try files.names(in: SegmentLayout.directory)
        where name.hasPrefix(SegmentLayout.recycledPrefix) {
            try files.remove("\(SegmentLayout.directory)/\(name)")
        }
    }
}
