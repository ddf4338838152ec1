internal import FeedProto

/// Votes that were received one behind another, all decoded before the first is executed.
///
/// A vote costs little but the wait for its post's memory. Whoever knows the next votes can ask for
/// theirs meanwhile, and then the waits overlap.
struct VoteRun {
    /// The most votes of a run, as many as one turn usually executes.
    static let capacity = 64

    /// One vote, and where it ends in what was received.
    struct Entry {
        /// The call.
        var frame = VoteFrame(id: 0, vote: CastVoteRequest(postID: 0, direction: .unspecified))
        /// Where the next frame begins.
        var endOffset = 0
    }

    private var entries = InlineArray<64, Entry>(repeating: Entry())
    /// How many votes there are.
    private(set) var count = 0

    /// The vote of this number.
    subscript(number: Int) -> Entry { entries[number] }

    /// Begins an empty run.
    mutating func removeAll() { count = 0 }

    /// Adds a vote; there must be room.
    mutating func append(_ frame: VoteFrame, endOffset: Int) {
        entries[count] = Entry(frame: frame, endOffset: endOffset)
        count += 1
    }
}
