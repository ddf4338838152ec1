/// The sidecar that remembers which record was durable last, to prove a loss.
///
/// Two slots of `{sequence, hash, checksum}`, each in a sector of its own, written in turn after
/// each commit and never synced: a power cut may leave an older mark, or none, but never a newer
/// one than the journal's end, and a write that was cut short spoils one slot only.
struct HighWaterMark {
    static let name = "durable.hwm"
    private static let slotByteCount = 512
    private static let contentByteCount = 24

    private let file: any JournalFile
    private let hash: RecordHash

    /// The newest mark that the file holds whole; nil in a new or spoiled one.
    private(set) var position: JournalPosition?

    /// Opens the file, or makes it.
    init(_ files: any JournalFiles, _ hash: RecordHash) throws(FileError) {
        let existing = try files.open(Self.name)
        file = if let existing { existing } else { try files.create(Self.name) }
        self.hash = hash
        let bytes = try file.read(0..<2 * Self.slotByteCount)
        position = Self.newest(bytes, hash)
        // A mark must find room on a full disk too.
        if bytes.count < 2 * Self.slotByteCount {
            try file.allocate(byteCount: 2 * Self.slotByteCount)
        }
    }

    /// The newest mark of a file that is only looked at.
    static func read(
        _ files: any JournalFiles,
        _ hash: RecordHash
    ) throws(FileError)
        -> JournalPosition?
    {
        guard let file = try files.open(name) else { return nil }
        return newest(try file.read(0..<2 * slotByteCount), hash)
    }

    /// Notes that a record is durable.
    mutating func write(_ position: JournalPosition) throws(FileError) {
        try write(position, slot: Int(position.sequence & 1))
    }

    /// Forgets all marks for one that may be lower, durably.
    mutating func replace(with position: JournalPosition) throws(FileError) {
        try write(position, slot: 0)
        try write(position, slot: 1)
        try file.sync()
    }

    private mutating func write(_ position: JournalPosition, slot: Int) throws(FileError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.contentByteCount)
        bytes.append(littleEndian: position.sequence)
        bytes.append(littleEndian: position.hash)
        bytes.append(littleEndian: hash.digest(bytes.span, 0))
        try file.write(bytes.span, at: slot * Self.slotByteCount)
        self.position = position
    }

    private static func newest(_ bytes: [UInt8], _ hash: RecordHash) -> JournalPosition? {
        var newest: JournalPosition?
        for start in [0, slotByteCount] where start + contentByteCount <= bytes.count {
            let slot = bytes.span.extracting(start..<start + contentByteCount)
            guard hash.digest(slot.extracting(first: 16), 0) == slot.uint64(at: 16) else {
                continue
            }
            let position = JournalPosition(
                sequence: slot.uint64(at: 0),
                hash: slot.uint64(at: 8)
            )
            if newest.map({ $0.sequence < position.sequence }) ?? true { newest = position }
        }
        return newest
    }
}
