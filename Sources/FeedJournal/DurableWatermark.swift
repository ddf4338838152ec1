/// The durable watermark: a sidecar that notes which record was durable last, to prove a loss.
///
/// It has two slots of `{number, hash, checksum}`, each in a sector of its own. They are written
/// in turn after each commit, and only a start syncs them. A power cut may leave an older watermark
/// or none. With `fsync` it never leaves one that is newer than the journal's end, as the record is
/// synced first. With `os` it may, and the next start refuses the loss that the watermark names.
/// An interrupted write spoils one slot only.
struct DurableWatermark {
    static let name = "durable.hwm"
    private static let slotByteCount = 512
    private static let contentByteCount = 24

    private let file: any JournalFile
    private let hash: RecordHash
    /// The newest whole watermark in the file; nil in a new or spoiled file.
    private(set) var position: JournalPosition?

    init(_ files: any JournalFiles, _ hash: RecordHash) throws(StorageError) {
        let existing = try files.open(Self.name)
        file = if let existing { existing } else { try files.create(Self.name) }
        self.hash = hash
        let bytes = try file.read(0..<2 * Self.slotByteCount)
        position = Self.newest(bytes, hash)
        // A watermark must have room on a full disk too.
        if bytes.count < 2 * Self.slotByteCount {
            try file.allocate(byteCount: 2 * Self.slotByteCount)
        }
    }

    /// Reads the newest watermark of a file, and changes nothing.
    static func read(
        _ files: any JournalFiles,
        _ hash: RecordHash
    ) throws(StorageError) -> JournalPosition? {
        guard let file = try files.open(name) else { return nil }
        return newest(try file.read(0..<2 * slotByteCount), hash)
    }

    mutating func write(_ position: JournalPosition) throws(StorageError) {
        try write(position, slot: Int(position.number & 1))
    }

    /// Replaces all watermarks durably; the new one may be lower.
    mutating func replace(with position: JournalPosition) throws(StorageError) {
        try write(position, slot: 0)
        try write(position, slot: 1)
        try file.sync()
    }

    private mutating func write(_ position: JournalPosition, slot: Int) throws(StorageError) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.contentByteCount)
        bytes.append(littleEndian: position.number)
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
            let position = JournalPosition(number: slot.uint64(at: 0), hash: slot.uint64(at: 8))
            if newest.map({ $0.number < position.number }) ?? true { newest = position }
        }
        return newest
    }
}
