/// The frames of one write: filled, written and emptied once per connection and loop iteration.
///
/// Its state lies behind a fixed address, so that a property of a class can hold it as a constant
/// and no frame costs a check of exclusive access.
@safe package struct FrameBuffer: ~Copyable {
    @unsafe private struct State {
        var bytes: UnsafeMutableRawBufferPointer
        var filledByteCount = 0
    }

    private let state: UnsafeMutablePointer<State>

    /// A buffer that grows beyond `capacity` when needed.
    package init(capacity: Int) {
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(
            to: State(bytes: .allocate(byteCount: max(capacity, 64), alignment: 8))
        )
    }

    deinit {
        unsafe state.pointee.bytes.deallocate()
        unsafe state.deallocate()
    }

    @inline(__always)
    package var byteCount: Int { unsafe state.pointee.filledByteCount }

    /// Appends a vote for `postID` as `FrameEncoder` would encode it; a sequence of 0 means none, and
    /// so does an acting user of 0.
    ///
    /// Votes are most of what a run sends and differ in few numbers only. The length and the tags
    /// are constants, which saves the general encoder's two passes over a message.
    @inline(__always)
    package func appendVote(
        id: UInt64,
        sequence: UInt64 = 0,
        actingUserID: UInt64 = 0,
        postID: UInt64,
        direction: Ballot = .up
    ) {
        appendVotes(1) { _ in (id, sequence, actingUserID, postID, direction) }
    }

    /// Appends `count` votes, as `appendVote` would one after the other.
    @inline(__always)
    package func appendVotes(
        _ count: Int,
        _ vote: (Int) -> (
            id: UInt64, sequence: UInt64, actingUserID: UInt64, postID: UInt64, direction: Ballot
        )
    ) {
        reserve(count * Self.voteFrameByteCount)
        let bytes = unsafe state.pointee.bytes
        var end = unsafe state.pointee.filledByteCount
        for item in 0..<count {
            let vote = vote(item)
            unsafe Self.putVote(
                vote.id,
                vote.sequence,
                vote.actingUserID,
                vote.postID,
                vote.direction,
                bytes,
                &end
            )
        }
        unsafe state.pointee.filledByteCount = end
    }

    @inline(__always)
    private static func putVote(
        _ id: UInt64,
        _ sequence: UInt64,
        _ actingUserID: UInt64,
        _ postID: UInt64,
        _ direction: Ballot,
        _ bytes: UnsafeMutableRawBufferPointer,
        _ end: inout Int
    ) {
        let start = end
        end &+= 4
        unsafe Self.putEnvelope(id, sequence, actingUserID, bytes, &end)
        unsafe Self.put(0xC2, bytes, &end)
        unsafe Self.put(0x02, bytes, &end)
        let inner = end
        end &+= 1
        unsafe Self.put(0x08, bytes, &end)
        unsafe Self.putVarint(postID, bytes, &end)
        unsafe Self.put(0x10, bytes, &end)
        unsafe Self.put(direction.rawValue, bytes, &end)
        unsafe bytes[inner] = UInt8(truncatingIfNeeded: end &- inner &- 1)
        let length = UInt32(truncatingIfNeeded: end &- start &- 4).bigEndian
        unsafe bytes.storeBytes(of: length, toByteOffset: start, as: UInt32.self)
    }

    /// Appends a batch of `count` votes as `FrameEncoder` would encode it.
    ///
    /// A sequence of 0 means none, and so does an acting user of 0. `vote` gives the post and the
    /// direction of each item.
    @inline(__always)
    package func appendBatch(
        id: UInt64,
        sequence: UInt64 = 0,
        actingUserID: UInt64 = 0,
        count: Int,
        _ vote: (Int) -> (postID: UInt64, direction: Ballot)
    ) {
        reserve(Self.batchHeadByteCount + count * Self.batchedVoteByteCount)
        var length = 0
        for item in 0..<count { length &+= 5 &+ Self.byteCount(ofVarint: vote(item).postID) }
        let bytes = unsafe state.pointee.bytes
        let start = unsafe state.pointee.filledByteCount
        var end = start + 4
        unsafe Self.putEnvelope(id, sequence, actingUserID, bytes, &end)
        unsafe Self.put(0xCA, bytes, &end)
        unsafe Self.put(0x02, bytes, &end)
        unsafe Self.putVarint(UInt64(length), bytes, &end)
        for item in 0..<count {
            let (postID, direction) = vote(item)
            unsafe Self.put(0x0A, bytes, &end)
            let inner = end
            end &+= 1
            unsafe Self.put(0x08, bytes, &end)
            unsafe Self.putVarint(postID, bytes, &end)
            unsafe Self.put(0x10, bytes, &end)
            unsafe Self.put(direction.rawValue, bytes, &end)
            unsafe bytes[inner] = UInt8(truncatingIfNeeded: end &- inner &- 1)
        }
        let frameLength = UInt32(truncatingIfNeeded: end &- start &- 4).bigEndian
        unsafe bytes.storeBytes(of: frameLength, toByteOffset: start, as: UInt32.self)
        unsafe state.pointee.filledByteCount = end
    }

    /// Appends frames that were encoded elsewhere.
    package func append(_ frames: RawSpan) {
        reserve(frames.byteCount)
        let start = byteCount
        unsafe frames.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(rebasing: state.pointee.bytes[start...])
                .copyMemory(from: source)
        }
        unsafe state.pointee.filledByteCount = start + frames.byteCount
    }

    /// Appends a command of RESP2: `head`, then `number` in the 12 digits that its last argument
    /// ends with.
    @inline(__always)
    package func appendCommand(_ head: RawSpan, number: UInt64) {
        append(head)
        reserve(Self.commandDigitCount + 2)
        let bytes = unsafe state.pointee.bytes
        let end = byteCount + Self.commandDigitCount
        var rest = number
        for place in 1...Self.commandDigitCount {
            unsafe bytes[end &- place] = UInt8(truncatingIfNeeded: rest % 10) &+ 0x30
            rest /= 10
        }
        unsafe bytes[end] = 0x0D
        unsafe bytes[end &+ 1] = 0x0A
        unsafe state.pointee.filledByteCount = end + 2
    }

    /// The filled bytes, for the duration of the call.
    @inline(__always)
    package func withBytes(_ body: (RawSpan) -> Void) {
        let filled = unsafe UnsafeRawBufferPointer(rebasing: state.pointee.bytes[..<byteCount])
        unsafe body(RawSpan(_unsafeBytes: filled))
    }

    /// Empties the buffer and keeps its memory.
    @inline(__always)
    package func removeAll() {
        unsafe state.pointee.filledByteCount = 0
    }

    private static var commandDigitCount: Int { 12 }

    /// The longest vote frame: the length, three times a tag and a number of 10 bytes, two tags, and
    /// the vote.
    private static let voteFrameByteCount = 4 + 33 + 3 + 11 + 2

    /// The most bytes before a batch's first vote: the length, three times a tag and a number of
    /// 10 bytes, and the tag and the length of the message that holds the votes.
    private static let batchHeadByteCount = 4 + 33 + 2 + 10
    /// The longest vote of a batch: its tag and length, a post and a direction.
    private static let batchedVoteByteCount = 2 + 11 + 2

    @inline(__always)
    private static func byteCount(ofVarint value: UInt64) -> Int {
        (70 &- (value | 1).leadingZeroBitCount) / 7
    }

    @inline(__always)
    private func reserve(_ count: Int) {
        if unsafe state.pointee.bytes.count - byteCount < count { grow(count) }
    }

    @inline(never)
    private func grow(_ count: Int) {
        let old = unsafe state.pointee.bytes
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * old.count, byteCount + count),
            alignment: 8
        )
        unsafe larger.copyMemory(from: UnsafeRawBufferPointer(old))
        unsafe old.deallocate()
        unsafe state.pointee.bytes = larger
    }

    /// Writes what comes before the message of a frame; numbers that are 0 are left out.
    @inline(__always)
    private static func putEnvelope(
        _ id: UInt64,
        _ sequence: UInt64,
        _ actingUserID: UInt64,
        _ bytes: UnsafeMutableRawBufferPointer,
        _ end: inout Int
    ) {
        unsafe put(0x08, bytes, &end)
        unsafe putVarint(id, bytes, &end)
        if sequence > 0 {
            unsafe put(0x18, bytes, &end)
            unsafe putVarint(sequence, bytes, &end)
        }
        if actingUserID > 0 {
            unsafe put(0x28, bytes, &end)
            unsafe putVarint(actingUserID, bytes, &end)
        }
    }

    @inline(__always)
    private static func put(_ byte: UInt8, _ bytes: UnsafeMutableRawBufferPointer, _ end: inout Int)
    {
        unsafe bytes[end] = byte
        end &+= 1
    }

    @inline(__always)
    private static func putVarint(
        _ value: UInt64,
        _ bytes: UnsafeMutableRawBufferPointer,
        _ end: inout Int
    ) {
        // The lengths of most ids, without a loop.
        if value < 0x80 { return unsafe put(UInt8(truncatingIfNeeded: value), bytes, &end) }
        if value < 0x4000 {
            let pair = UInt16(truncatingIfNeeded: value & 0x7F | (value & 0x3F80) << 1 | 0x80)
            unsafe bytes.storeBytes(of: pair.littleEndian, toByteOffset: end, as: UInt16.self)
            end &+= 2
            return
        }
        if value < 0x20_0000 {
            let pair = UInt16(truncatingIfNeeded: value & 0x7F | (value & 0x3F80) << 1 | 0x8080)
            unsafe bytes.storeBytes(of: pair.littleEndian, toByteOffset: end, as: UInt16.self)
            unsafe bytes[end &+ 2] = UInt8(truncatingIfNeeded: value >> 14)
            end &+= 3
            return
        }
        var rest = value
        while rest >= 0x80 {
            unsafe put(UInt8(truncatingIfNeeded: rest) | 0x80, bytes, &end)
            rest >>= 7
        }
        unsafe put(UInt8(truncatingIfNeeded: rest), bytes, &end)
    }
}
