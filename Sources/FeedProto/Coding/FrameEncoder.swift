internal import FeedSpans

/// A growing buffer of encoded frames, one after another, each with its header.
///
/// Once it has grown to what its program needs, encoding allocates nothing.
public struct FrameEncoder: ~Copyable {
    /// The longest frame that is appended, without its header.
    public let maximumFrameByteCount: Int
    private var encoder = Codec.Encoder()
    private var output = OutputBuffer()

    /// An empty buffer for frames up to a limit.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
        precondition(
            maximumFrameByteCount > 0 && maximumFrameByteCount <= Int(UInt32.max),
            "A frame limit is at least 1 byte and fits into a header."
        )
        self.maximumFrameByteCount = maximumFrameByteCount
    }

    /// Bytes appended and not removed.
    public var byteCount: Int { output.byteCount }

    /// Appends a call; appends nothing over the limit.
    public mutating func append(_ frame: ClientFrame) throws(FrameError) {
        try encoder.append(frame, to: &output, limit: maximumFrameByteCount)
    }

    /// Appends an answer; appends nothing over the limit.
    public mutating func append(_ frame: ServerFrame) throws(FrameError) {
        try encoder.append(frame, to: &output, limit: maximumFrameByteCount)
    }

    /// Lends out all frames, to be written to a socket.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try output.withBytes(body)
    }

    /// Lends out all frames; not generic, because each batch of answers leaves through here.
    public func lendBytes(to body: (RawSpan) -> Void) { output.lendBytes(to: body) }

    /// All frames as an array of their own.
    public func bytes() -> [UInt8] {
        withBytes { bytes in
            var copy: [UInt8] = []
            copy.append(copying: bytes)
            return copy
        }
    }

    /// Drops all frames; keeps the memory for the next ones, up to a limit.
    public mutating func removeAll() { output.removeAll() }

    /// Drops all frames and overwrites the memory that they were made in.
    package mutating func overwrite() {
        encoder.overwrite()
        output.overwrite()
    }
}

// Votes and their answers, in the bytes that protobuf-c would write, without a C message.
extension FrameEncoder {
    /// Appends a call that casts a vote; appends nothing over the limit.
    public mutating func append(_ frame: VoteFrame) throws(FrameError) {
        var writer = voteWriter()
        writer.varint(tag: 0x08, frame.id)
        writer.varint(tag: 0x10, UInt64(frame.timeoutMilliseconds))
        writer.varint(tag: 0x18, frame.sequence)
        writer.varint(tag: 0x20, frame.minimumRevision)
        writer.varint(tag: 0x28, frame.actingUserID.rawValue)
        let start = writer.beginMessage(tag: 0xC2, 0x02)
        writer.varint(tag: 0x08, frame.vote.postID.rawValue)
        writer.varint(tag: 0x10, frame.vote.direction.wireNumber)
        writer.endMessage(at: start)
        try commit(writer.end())
    }

    /// Appends the answer to a vote; appends nothing over the limit.
    public mutating func append(
        vote: CastVoteResponse,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        var writer = voteWriter()
        writer.varint(tag: 0x08, id)
        writer.varint(tag: 0x10, revision)
        let start = writer.beginMessage(tag: 0xC2, 0x02)
        writer.varint(tag: 0x08, vote.postID.rawValue)
        writer.varint(tag: 0x10, UInt64(bitPattern: vote.score))
        writer.varint(tag: 0x18, vote.upvoteCount)
        writer.varint(tag: 0x20, vote.downvoteCount)
        writer.varint(tag: 0x28, vote.vote.wireNumber)
        writer.endMessage(at: start)
        try commit(writer.end())
    }

    /// The most bytes of a vote or its answer: seven numbers, the message that holds some of them,
    /// and the frame's header.
    private static var voteByteCount: Int {
        FrameHeader.byteCount + 7 * FieldWriter.numberByteCount + FieldWriter.messageHeadByteCount
    }

    @inline(__always)
    private mutating func voteWriter() -> FieldWriter {
        unsafe FieldWriter(room: output.reserve(Self.voteByteCount), byteCount: Self.voteByteCount)
    }

    /// Ends a frame of this length that was written into reserved room; it is dropped over the limit.
    @inline(__always)
    private mutating func commit(_ length: Int) throws(FrameError) {
        guard length <= maximumFrameByteCount else {
            throw .tooLarge(length: UInt64(length), limit: maximumFrameByteCount)
        }
        output.commit(FrameHeader.byteCount + length)
    }
}

// Answers to batches of votes, in the bytes that protobuf-c would write. Only the status of a
// failed vote goes through the general encoder.
extension FrameEncoder {
    /// Appends the answer to a batch of votes; appends nothing over the limit.
    ///
    /// O(votes).
    public mutating func append(
        _ results: borrowing VoteBatchResults,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let votes = results.votes.span
        let bound =
            Self.headByteCount + results.count * Self.resultByteCount
            + failuresByteCount(of: results)
        var writer = unsafe FieldWriter(room: output.reserve(bound), byteCount: bound)
        writer.varint(tag: 0x08, id)
        writer.varint(tag: 0x10, revision)
        let start = writer.beginLongMessage(tag: 0xCA, 0x02)
        var item = 0
        for failure in results.failures {
            for item in item..<failure.item { writer.append(votes[item]) }
            encoder.append(failure.status, to: &writer)
            item = failure.item + 1
        }
        for item in item..<results.count { writer.append(votes[item]) }
        writer.endLongMessage(at: start)
        try commit(writer.end())
    }

    /// The most bytes before the first result: the header, two numbers, and the tag and the length
    /// of the message that holds all results.
    private static var headByteCount: Int {
        FrameHeader.byteCount + 3 * FieldWriter.numberByteCount
    }

    /// The most bytes of one result: two nested messages and five numbers.
    private static var resultByteCount: Int { 2 * 2 + 5 * FieldWriter.numberByteCount }

    /// The bytes of all statuses, each with room for two tags and two lengths.
    private mutating func failuresByteCount(of results: borrowing VoteBatchResults) -> Int {
        var byteCount = 0
        for failure in results.failures {
            byteCount += encoder.byteCount(of: failure.status) + 2 * FieldWriter.numberByteCount
        }
        return byteCount
    }
}

extension FieldWriter {
    @inline(__always)
    fileprivate mutating func append(_ vote: CastVoteResponse) {
        let result = beginMessage(tag: 0x0A)
        let counts = beginMessage(tag: 0x12)
        varint(tag: 0x08, vote.postID.rawValue)
        varint(tag: 0x10, UInt64(bitPattern: vote.score))
        varint(tag: 0x18, vote.upvoteCount)
        varint(tag: 0x20, vote.downvoteCount)
        varint(tag: 0x28, vote.vote.wireNumber)
        endMessage(at: counts)
        endMessage(at: result)
    }
}

// Answers with posts, for a program that keeps its texts as bytes: in the bytes that protobuf-c would
// write, without a String and without a C message.
extension FrameEncoder {
    /// Appends an answer with one post whose texts lie in `texts`.
    public mutating func append(
        post: PostFields,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        var writer = answerWriter(post.maximumEncodedByteCount, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0xF2, 0x01)
        writer.fields(of: post, texts: texts)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Appends a page of posts whose texts lie in `texts`.
    public mutating func append(
        page: ListPostsFields,
        posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let bound = FieldWriter.maximumByteCount(of: posts) + page.maximumEncodedByteCount
        var writer = answerWriter(bound, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0x8A, 0x02)
        writer.posts(tag: FieldWriter.pagePostTag, posts, texts: texts)
        writer.fields(of: page, texts: texts)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Appends posts, as a page has them, as a frame of their own; returns where the fields of each lie.
    mutating func append(bodiesOf posts: Span<PostFields>, texts: Span<UInt8>) -> [Range<Int>] {
        let bound = FrameHeader.byteCount + FieldWriter.maximumByteCount(of: posts)
        var writer = unsafe FieldWriter(room: output.reserve(bound), byteCount: bound)
        var bodies: [Range<Int>] = []
        bodies.reserveCapacity(posts.count)
        for index in posts.indices {
            let post = posts[index]
            precondition(post.viewer == nil, "The posts are those of every caller.")
            let start = writer.beginLongMessage(tag: FieldWriter.pagePostTag)
            writer.fields(of: post, texts: texts)
            let byteCount = writer.byteCount - start
            writer.endLongMessage(at: start)
            bodies.append(writer.byteCount - byteCount..<writer.byteCount)
        }
        output.commit(FrameHeader.byteCount + writer.end())
        return bodies
    }

    /// Appends a page of posts that are encoded; its tokens lie in `texts`.
    ///
    /// `viewers` has what the caller has made of each post, or nothing for a caller without identity.
    public mutating func append(
        page: ListPostsFields,
        posts: EncodedPosts,
        viewers: Span<Viewer>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        precondition(viewers.isEmpty || viewers.count == posts.bodies.count, "Each post has one.")
        let bound = posts.maximumEncodedByteCount + page.maximumEncodedByteCount
        var writer = answerWriter(bound, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0x8A, 0x02)
        writer.posts(posts, viewers: viewers)
        writer.fields(of: page, texts: texts)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Appends a page of changes, with posts whose texts lie in `texts`.
    public mutating func append(
        changes: SyncPostsFields,
        posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        var marks = MessageWriter()
        marks.message(7, changes.marks)
        let bound =
            FieldWriter.maximumByteCount(of: posts) + 5 * FieldWriter.numberByteCount
            + marks.bytes.count
        var writer = answerWriter(bound, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0xA2, 0x02)
        writer.posts(tag: 0x0A, posts, texts: texts)
        writer.varint(tag: 0x10, changes.nextRevision)
        writer.varint(tag: 0x18, changes.hasMore ? 1 : 0)
        writer.varint(tag: 0x20, changes.isReset ? 1 : 0)
        writer.varint(tag: 0x28, changes.copyRevision)
        writer.fixed64(tag: 0x31, changes.instanceID)
        writer.bytes(copying: marks.bytes.span)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Appends the answer to a batch get, with posts whose texts lie in `texts`.
    public mutating func append(
        batch posts: Span<PostFields>,
        missingIDs: [PostID],
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let bound =
            FieldWriter.maximumByteCount(of: posts) + FieldWriter.maximumByteCount(of: missingIDs)
        var writer = answerWriter(bound, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0x82, 0x02)
        writer.posts(tag: 0x0A, posts, texts: texts)
        writer.ids(tag: 0x12, missingIDs)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// A writer of an answer whose body takes at most so many bytes; it has written the id and the
    /// revision.
    private mutating func answerWriter(
        _ bodyByteCount: Int,
        id: UInt64,
        revision: UInt64
    ) -> FieldWriter {
        // The header, two numbers, and the tag and the length of the body.
        let byteCount = FrameHeader.byteCount + 3 * FieldWriter.numberByteCount + bodyByteCount
        var writer = unsafe FieldWriter(room: output.reserve(byteCount), byteCount: byteCount)
        writer.varint(tag: 0x08, id)
        writer.varint(tag: 0x10, revision)
        return writer
    }
}

// The times that a service adds to an answer, whose frame is encoded before they are known.
extension FrameEncoder {
    /// The bytes of the times with their tag and length: three numbers of eight bytes with tags.
    private static var timesByteCount: Int { 2 + 3 * (1 + MemoryLayout<UInt64>.size) }

    /// Adds the times of a call to the answer that was appended last, whose frame begins at `start`; false if
    /// the frame limit leaves no room.
    ///
    /// They become the last field of the frame, and when the answer was released its last eight bytes.
    package mutating func append(_ times: CallTimes, toFrameAt start: Int) -> Bool {
        let length = output.byteCount - start - FrameHeader.byteCount
        precondition(start >= 0 && length > 0, "Times are added to a frame.")
        let newLength = length + Self.timesByteCount
        guard newLength <= maximumFrameByteCount else { return false }
        let offset = output.byteCount
        output.appendZeros(Self.timesByteCount)
        output.store(0x2A as UInt8, at: offset)
        output.store(UInt8(Self.timesByteCount - 2), at: offset + 1)
        store(times.receivedNanoseconds, tag: 0x09, at: offset + 2)
        store(times.executedNanoseconds, tag: 0x11, at: offset + 11)
        store(times.releasedNanoseconds, tag: 0x19, at: offset + 20)
        output.store(UInt32(newLength).bigEndian, at: start)
        return true
    }

    private mutating func store(_ number: UInt64, tag: UInt8, at offset: Int) {
        output.store(tag, at: offset)
        output.store(number.littleEndian, at: offset + 1)
    }

    /// Sets when the answer with times was released that ends at an offset of the bytes.
    package mutating func setReleaseTime(_ nanoseconds: UInt64, endingAt end: Int) {
        output.store(nanoseconds.littleEndian, at: end - MemoryLayout<UInt64>.size)
    }
}

// Events of watches. Many watches may get the same event: it is encoded once, and each watch gets a
// copy behind its own id.
extension FrameEncoder {
    /// Appends an event of a watch, with posts whose texts lie in `texts`.
    public mutating func append(
        event: WatchEventFields,
        changed posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let bound =
            FieldWriter.maximumByteCount(of: posts)
            + FieldWriter.maximumByteCount(of: event.ranking)
            + FieldWriter.maximumByteCount(of: event.removedIDs) + 3 * FieldWriter.numberByteCount
        var writer = answerWriter(bound, id: id, revision: revision)
        writer.varint(tag: 0x20, 1)
        let body = writer.beginLongMessage(tag: 0xAA, 0x02)
        writer.posts(tag: 0x0A, posts, texts: texts)
        writer.ids(tag: 0x12, event.ranking)
        writer.ids(tag: 0x1A, event.removedIDs)
        writer.varint(tag: 0x20, UInt64(event.newPostCount))
        writer.varint(tag: 0x28, event.isReset ? 1 : 0)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Takes the bytes behind the id of the only frame, which was encoded with the id 0; no frame is left.
    public mutating func takeBytesBehindID() -> [UInt8] {
        defer { removeAll() }
        return withBytes { bytes in
            var copy: [UInt8] = []
            // An id of 0 is left out, so all that follows the header is behind it.
            copy.append(copying: bytes.extracting(droppingFirst: FrameHeader.byteCount))
            return copy
        }
    }

    /// Appends a frame with the bytes behind its id that `takeBytesBehindID()` has given.
    public mutating func append(behindID rest: [UInt8], id: UInt64) throws(FrameError) {
        let byteCount = FrameHeader.byteCount + FieldWriter.numberByteCount + rest.count
        var writer = unsafe FieldWriter(room: output.reserve(byteCount), byteCount: byteCount)
        writer.varint(tag: 0x08, id)
        writer.bytes(copying: rest.span)
        try commit(writer.end())
    }
}

extension ClientFrame {
    /// The frame with its header, ready to be sent.
    public func encoded() throws(FrameError) -> [UInt8] {
        var encoder = FrameEncoder()
        try encoder.append(self)
        return encoder.bytes()
    }
}

extension ServerFrame {
    /// The frame with its header, ready to be sent.
    public func encoded() throws(FrameError) -> [UInt8] {
        var encoder = FrameEncoder()
        try encoder.append(self)
        return encoder.bytes()
    }
}

/// Bytes to be sent: the buffer grows by doubling, and returns memory that it rarely needs.
///
/// It is not private: a module that ends an encoder links with the end of its buffer.
@safe package struct OutputBuffer: ~Copyable {
    /// The memory that is kept when the buffer is emptied.
    static var retainedByteCount: Int { 256 << 10 }

    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var byteCount = 0

    package init() {
        capacity = 4096
        unsafe base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { unsafe base.deallocate() }

    /// Room for `count` bytes behind the last one, valid until the buffer is changed.
    @inline(__always)
    mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if count > capacity - byteCount { grow(toFit: byteCount + count) }
        return unsafe base + byteCount
    }

    /// Adds the bytes that were written to the room reserved last.
    @inline(__always)
    mutating func commit(_ count: Int) {
        precondition(count <= capacity - byteCount, "Bytes are written to reserved room only.")
        byteCount += count
    }

    /// Appends a frame with its header.
    mutating func append(frame body: Span<UInt8>) {
        let byteCount = FrameHeader.byteCount + body.count
        var writer = unsafe FieldWriter(room: reserve(byteCount), byteCount: byteCount)
        writer.bytes(copying: body)
        commit(FrameHeader.byteCount + writer.end())
    }

    mutating func appendZeros(_ count: Int) {
        unsafe reserve(count).initializeMemory(as: UInt8.self, repeating: 0, count: count)
        commit(count)
    }

    /// Writes a number over bytes that are there.
    mutating func store(_ number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
        let count = MemoryLayout.size(ofValue: number)
        precondition(offset >= 0 && offset <= byteCount - count, "Bytes that are there change.")
        unsafe base.storeBytes(of: number, toByteOffset: offset, as: type(of: number))
    }

    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(RawSpan(_unsafeStart: base, byteCount: byteCount))
    }

    /// Lends out all bytes; not generic, so that a call needs no thunk.
    func lendBytes(to body: (RawSpan) -> Void) {
        unsafe body(RawSpan(_unsafeStart: base, byteCount: byteCount))
    }

    package mutating func removeAll() {
        byteCount = 0
        guard capacity > Self.retainedByteCount else { return }
        unsafe base.deallocate()
        capacity = Self.retainedByteCount
        unsafe base = .allocate(byteCount: capacity, alignment: 16)
    }

    mutating func overwrite() {
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: capacity)
        removeAll()
    }

    @inline(never)
    private mutating func grow(toFit needed: Int) {
        let newCapacity = max(needed, 2 * capacity)
        let newBase = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        unsafe newBase.copyMemory(from: base, byteCount: byteCount)
        unsafe base.deallocate()
        unsafe base = unsafe newBase
        capacity = newCapacity
    }
}
