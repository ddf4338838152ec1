/// Counts memory as `MessageArena` takes it for protobuf-c: in blocks, each at least twice the size of all
/// before.
struct MemoryCount {
    private let limitByteCount: Int
    private var reservedByteCount = 0
    /// The rest of the newest block.
    private var freeByteCount = 0

    private static var firstBlockByteCount: Int { 64 << 10 }
    private static var linkByteCount: Int { 16 }
    /// The bytes that protobuf-c takes for an unknown field, beside its content.
    static var unknownFieldByteCount: Int { 24 }

    init(limitByteCount: Int) { self.limitByteCount = limitByteCount }

    mutating func take(_ byteCount: Int) throws(MessageError) {
        guard byteCount <= limitByteCount else {
            throw .tooManyFields(limitByteCount: limitByteCount)
        }
        let alignedByteCount = (byteCount + 7) & ~7
        if alignedByteCount > freeByteCount { try addBlock(for: alignedByteCount) }
        freeByteCount -= alignedByteCount
    }

    mutating func reset() { self = Self(limitByteCount: limitByteCount) }

    private mutating func addBlock(for byteCount: Int) throws(MessageError) {
        let needed = byteCount + Self.linkByteCount
        let available = limitByteCount - reservedByteCount
        guard needed <= available else {
            throw .tooManyFields(limitByteCount: limitByteCount)
        }
        let size = min(available, max(needed, 2 * reservedByteCount, Self.firstBlockByteCount))
        reservedByteCount += size
        freeByteCount = size - Self.linkByteCount
    }
}

/// Counts the memory in which protobuf-c keeps where the fields of a message lie: none for the first 16, then
/// slabs, each twice the size of the one before.
struct ScannedMembers {
    private var count = 0
    private var slabCount = 16
    private var roomCount = 16

    private static var memberByteCount: Int { 32 }

    @inline(__always)
    mutating func add(to memory: inout MemoryCount) throws(MessageError) {
        if count == roomCount {
            slabCount *= 2
            roomCount += slabCount
            try memory.take(slabCount * Self.memberByteCount)
        }
        count += 1
    }
}
