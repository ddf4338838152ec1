/// Votes that were received one behind another, all read before the first is executed.
///
/// A vote costs little but the wait for its post's memory. Whoever knows the next votes can ask for
/// theirs meanwhile, and then the waits overlap.
public struct VoteRun: ~Copyable {
    /// The most votes of a run.
    public static var capacity: Int { 64 }

    /// One vote, and where it ends in what was received.
    public struct Entry {
        /// The call.
        public var frame = VoteFrame(
            id: 0,
            vote: CastVoteRequest(postID: 0, direction: .unspecified)
        )
        /// Where the next frame begins.
        public var endOffset = 0
    }

    // Public, so that a service that looks at each vote twice does not call a function to do so; and
    // an array of fixed size, as the compiler copies the whole of an `InlineArray` for a look at one
    // of its elements.
    /// Places for votes, of which the first `count` are taken.
    public private(set) var entries = [Entry](repeating: Entry(), count: capacity)
    /// How many votes there are.
    public private(set) var count = 0

    /// An empty run.
    public init() {}

    /// Finds the votes that `bytes` has from `offset` on, up to the first other frame.
    ///
    /// What is no frame ends a run too: it is to be refused when it is its turn, behind the votes.
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
}
