/// For programs that vote much: a `ServerFrame` that answers one vote, which is the most frequent
/// answer.
public struct VoteAnswerFrame: Equatable, Sendable {
    /// The id of the frame that this answers; above 0.
    public var id: UInt64
    /// The revision of the state that the answer reflects.
    public var revision: UInt64
    /// The counts of the post.
    public var vote: CastVoteResponse

    /// Reads a body without a message decoder, if it is the answer to a vote in the form that every
    /// encoder writes.
    ///
    /// nil says nothing else about the body: a `MessageDecoder` must read it. A returned frame equals what
    /// that decoder would make of the body.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes; more than the body, so that words can be read at once.
    ///   - body: The range of the body in them.
    @inline(__always)
    public init?(scanning bytes: RawSpan, in body: Range<Int>) {
        var scan = FieldScan(of: body, in: bytes)
        id = scan.varint(tag: 0x08, in: bytes)
        revision = scan.varint(tag: 0x10, in: bytes)
        guard scan.enterMessage(tag: 0xC2, 0x02, in: bytes) else { return nil }
        let postID = scan.varint(tag: 0x08, in: bytes)
        let score = Int64(bitPattern: scan.varint(tag: 0x10, in: bytes))
        let upvoteCount = scan.varint(tag: 0x18, in: bytes)
        let downvoteCount = scan.varint(tag: 0x20, in: bytes)
        let ballot = scan.lastByte(tag: 0x28, in: bytes)
        guard id != 0, ballot != 0 || scan.rest.isEmpty else { return nil }
        vote = CastVoteResponse(
            postID: postID,
            score: score,
            upvoteCount: upvoteCount,
            downvoteCount: downvoteCount,
            vote: VoteDirection(rawValue: Int32(ballot))
        )
    }
}

extension ServerFrame {
    /// The same answer in the form of any other answer.
    @inline(__always)
    public init(_ frame: VoteAnswerFrame) {
        self.init(id: frame.id, revision: frame.revision, response: .castVote(frame.vote))
    }
}
