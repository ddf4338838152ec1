/// A growing buffer of encoded frames, one after another, each with its header.
public struct FrameEncoder: ~Copyable {
    /// Bytes appended and not removed.
    public private(set) var byteCount = 0

    /// An empty buffer for frames up to a limit.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
    }

    /// Appends a call; over the limit nothing is appended.
    public mutating func append(_ frame: ClientFrame) throws(FrameError) {
    }

    /// Appends an answer; over the limit nothing is appended.
    public mutating func append(_ frame: ServerFrame) throws(FrameError) {
    }

    /// Appends the answer to a vote; over the limit nothing is appended.
    public mutating func append(
        vote: CastVoteResponse,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
    }

    /// Appends an answer of one post whose texts lie in `texts`.
    public mutating func append(
        post: PostFields,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
    }

    /// Appends a page of posts whose texts lie in `texts`.
    public mutating func append(
        page: ListPostsFields,
        posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
    }

    /// Appends the answer of a batch get, of posts whose texts lie in `texts`.
    public mutating func append(
        batch posts: Span<PostFields>,
        missingIDs: Span<UInt64>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
    }

    /// Lends out all frames, to be written to a socket.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body([UInt8]().span.bytes)
    }

    /// Forgets all frames; keeps the memory for the next ones, up to a limit.
    public mutating func removeAll() { byteCount = 0 }
}
