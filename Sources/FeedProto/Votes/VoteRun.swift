/// For services: votes that were received one after another, all read before the first is executed.
///
/// The wait for its post's memory is most of the cost of a vote. A service that knows the next
/// votes can request their memory meanwhile, and then the waits overlap.
public struct VoteRun: ~Copyable {
    /// The most votes of a run.
    public static var capacity: Int { 64 }

    /// One vote, and where it ends in the received bytes.
    public struct Entry {
        /// The call.
        public var frame = VoteFrame(
            id: 0,
            vote: CastVoteRequest(postID: 0, direction: .unspecified)
        )
        /// Where the next frame begins.
        public var endOffset = 0
    }

    // Public, so that a service that reads each vote twice does not call a function to do so. An
    // array of fixed size: the compiler copies the whole of an `InlineArray` to read one of its
    // elements.
    /// Places for votes; the first `count` are in use.
    public private(set) var entries = [Entry](repeating: Entry(), count: capacity)
    /// How many votes there are.
    public private(set) var count = 0

    /// An empty run.
    public init() {}

    /// Finds the votes in `bytes` from `offset` on, up to the first other frame.
    ///
    /// Bytes that are no frame end a run, too: the service refuses them after the votes.
    public mutating func find(
        in bytes: RawSpan,
        at offset: Int,
        limit: Int,
        _ scanner: borrowing FrameScanner
    ) {
        var offset = offset
        var taken = 0
        var places = entries.mutableSpan
        while taken < min(limit, places.count),
            let body = (try? scanner.nextBody(in: bytes, at: offset)) ?? nil,
            let frame = VoteFrame(scanning: bytes, in: body)
        {
            offset = body.upperBound
            places[taken] = Entry(frame: frame, endOffset: offset)
            taken += 1
        }
        count = taken
    }

    /// The vote at the front of `bytes`; nil if the first frame is no vote.
    public static func firstVote(
        in bytes: RawSpan,
        _ scanner: borrowing FrameScanner
    ) -> VoteFrame? {
        guard let body = (try? scanner.nextBody(in: bytes, at: 0)) ?? nil else { return nil }
        return VoteFrame(scanning: bytes, in: body)
    }

    /// The post of the vote at the front of `bytes`; nil if the first frame is no vote.
    public static func firstPost(in bytes: RawSpan, _ scanner: borrowing FrameScanner) -> UInt64? {
        firstVote(in: bytes, scanner)?.vote.postID
    }
}
