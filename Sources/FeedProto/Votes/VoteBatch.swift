/// For services: the call and the votes of a `BatchCastVotes`, read without a message decoder.
///
/// A reader keeps one of these and scans each batch into it, so that a batch allocates nothing.
public struct VoteBatch: ~Copyable {
    /// The most votes that are scanned; a longer batch is left to a `MessageDecoder`.
    public static var capacity: Int { 256 }

    /// Names the call; above 0 and strictly increasing on a connection.
    public internal(set) var id: UInt64 = 0
    /// How long the answer may take; 0 is the service's default.
    public internal(set) var timeoutMilliseconds: UInt32 = 0
    /// Names a change on its channel; 0 means that the change is executed at most once.
    ///
    /// The service remembers the outcomes of a window of a channel's latest sequences, and executes
    /// none of these changes twice.
    public internal(set) var sequence: UInt64 = 0
    /// The oldest revision of the state that the answer may reflect; 0 allows any.
    public internal(set) var minimumRevision: UInt64 = 0
    /// The user that a service acts for; 0 is the caller itself.
    public internal(set) var actingUserID: UInt64 = 0

    // An array of fixed size: the compiler copies the whole of an `InlineArray` to read one of its
    // elements.
    /// Places for votes; the first `count` are in use.
    public internal(set) var votes = [CastVoteRequest](
        repeating: CastVoteRequest(postID: 0, direction: .unspecified),
        count: capacity
    )
    /// How many votes there are.
    public internal(set) var count = 0
    /// The range of the votes in the scanned bytes.
    var content = 0..<0

    /// A batch without votes.
    public init() {}
}

extension ClientFrame {
    /// The same call in the form of any other call.
    public init(_ batch: borrowing VoteBatch) {
        self.init(
            id: batch.id,
            request: .batchCastVotes(
                BatchCastVotesRequest(votes: Array(batch.votes.prefix(batch.count)))
            ),
            timeoutMilliseconds: batch.timeoutMilliseconds,
            sequence: batch.sequence,
            minimumRevision: batch.minimumRevision,
            actingUserID: batch.actingUserID
        )
    }
}
