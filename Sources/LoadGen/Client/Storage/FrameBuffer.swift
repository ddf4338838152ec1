/// The frames of one write: filled, written and emptied once for each connection and turn.
@safe struct FrameBuffer: ~Copyable {
    private var bytes: UnsafeMutableRawBufferPointer
    private var capacity: Int
    /// How many bytes are filled.
    private(set) var byteCount = 0

    /// A buffer that grows beyond `capacity` where it must.
    init(capacity: Int) {
        self.capacity = max(capacity, Self.voteFrameByteCount)
        unsafe bytes = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit {
        unsafe bytes.deallocate()
    }

    /// Appends a vote up for `postID`, as `FrameEncoder` would encode it.
    ///
    /// Votes are most of what a run sends and differ in two numbers only: the length, the tags and the
    /// direction are constants, which saves the general encoder's two passes over a message.
    @inline(__always)
    mutating func appendVote(id: UInt64, postID: UInt64) {
        reserve(Self.voteFrameByteCount)
        let start = byteCount
        byteCount += 4
        put(0x08)
        putVarint(id)
        put(0xC2)
        put(0x02)
        let inner = byteCount
        byteCount += 1
        put(0x08)
        putVarint(postID)
        put(0x10)
        put(0x01)
        unsafe bytes[inner] = UInt8(truncatingIfNeeded: byteCount &- inner &- 1)
        let length = UInt32(truncatingIfNeeded: byteCount &- start &- 4).bigEndian
        unsafe bytes.storeBytes(of: length, toByteOffset: start, as: UInt32.self)
    }

    /// Appends frames that were encoded elsewhere.
    mutating func append(_ frames: RawSpan) {
        reserve(frames.byteCount)
        unsafe frames.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[byteCount...])
                .copyMemory(from: source)
        }
        byteCount += frames.byteCount
    }

    /// The filled bytes, for the length of the call.
    @inline(__always)
    func withBytes(_ body: (RawSpan) -> Void) {
        let filled = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<byteCount])
        unsafe body(RawSpan(_unsafeBytes: filled))
    }

    /// Empties the buffer and keeps its memory.
    @inline(__always)
    mutating func removeAll() { byteCount = 0 }

    /// The longest vote frame: the length, a tag and a number of 10 bytes, two tags, and the vote.
    private static let voteFrameByteCount = 4 + 11 + 3 + 11 + 2

    @inline(__always)
    private mutating func reserve(_ count: Int) {
        if capacity - byteCount < count { grow(count) }
    }

    @inline(never)
    private mutating func grow(_ count: Int) {
        capacity = max(2 * capacity, byteCount + count)
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 8)
        unsafe larger.copyMemory(from: UnsafeRawBufferPointer(bytes))
        unsafe bytes.deallocate()
        unsafe bytes = larger
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        unsafe bytes[byteCount] = byte
        byteCount &+= 1
    }

    @inline(__always)
    private mutating func putVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            put(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        put(UInt8(truncatingIfNeeded: rest))
    }
}
