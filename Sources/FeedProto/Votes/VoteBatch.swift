internal import FeedSpans

/// For services: the call and the votes of a `BatchCastVotes`, read without a message decoder.
///
/// A reader keeps one of these and scans each batch into it, so that a batch allocates nothing.
public struct VoteBatch: ~Copyable {
    /// The most votes that are scanned; a longer batch is left to a `MessageDecoder`.
    public static var capacity: Int { 256 }

    /// Names the call; above 0 and strictly increasing on a connection.
    public private(set) var id: UInt64 = 0
    /// How long the answer may take; 0 is the service's default.
    public private(set) var timeoutMilliseconds: UInt32 = 0
    /// Names a change on its channel; 0 means that the change is executed at most once.
    ///
    /// The service remembers the outcomes of a window of a channel's latest sequences, and executes
    /// none of these changes twice.
    public private(set) var sequence: UInt64 = 0
    /// The oldest revision of the state that the answer may reflect; 0 allows any.
    public private(set) var minimumRevision: UInt64 = 0
    /// The user that a service acts for; 0 is the caller itself.
    public private(set) var actingUserID: UserID = 0

    // An array of fixed size: the compiler copies the whole of an `InlineArray` to read one of its
    // elements.
    /// Places for votes; the first `count` are in use.
    public private(set) var votes = [CastVoteRequest](
        repeating: CastVoteRequest(postID: 0, direction: .unspecified),
        count: capacity
    )
    /// How many votes there are.
    public private(set) var count = 0
    /// The range of the votes in the scanned bytes.
    private(set) var content = 0..<0

    /// A batch without votes.
    public init() {}
}

extension VoteBatch {
    /// Reads a frame's body without a message decoder, if it is a batch in the form that every
    /// encoder writes.
    ///
    /// In that form the fields are in order, each at most once; the numbers have their shortest
    /// form and none of them is zero; and there are 1 to 256 votes. O(votes).
    ///
    /// - Parameters:
    ///   - bytes: The received bytes.
    ///   - body: The range of the body in them.
    /// - Returns: Whether it is such a batch. Otherwise a `MessageDecoder` must read the body, and
    ///   this batch means nothing.
    public mutating func scan(_ bytes: RawSpan, in body: Range<Int>) -> Bool {
        var scan = FieldScan(of: body, in: bytes)
        id = scan.varint(tag: 0x08, in: bytes)
        let timeout = scan.varint(tag: 0x10, in: bytes)
        timeoutMilliseconds = UInt32(truncatingIfNeeded: timeout)
        sequence = scan.varint(tag: 0x18, in: bytes)
        minimumRevision = scan.varint(tag: 0x20, in: bytes)
        actingUserID = UserID(rawValue: scan.varint(tag: 0x28, in: bytes))
        guard id != 0, timeout <= UInt32.max,
            scan.enterLongMessage(tag: 0xCA, 0x02, in: bytes)
        else { return false }
        content = scan.rest
        return scanVotes(&scan, in: bytes)
    }

    @inline(__always)
    private mutating func scanVotes(_ scan: inout FieldScan, in bytes: RawSpan) -> Bool {
        count = 0
        var places = votes.mutableSpan
        var taken = 0
        while !scan.rest.isEmpty {
            guard taken < places.count, var vote = scan.takeMessage(tag: 0x0A, in: bytes) else {
                return false
            }
            let postID = PostID(rawValue: vote.varint(tag: 0x08, in: bytes))
            let direction = vote.lastByte(tag: 0x10, in: bytes)
            guard postID != 0, 1...3 ~= direction else { return false }
            places[taken] = CastVoteRequest(
                postID: postID,
                direction: VoteDirection(rawValue: Int32(direction))
            )
            taken += 1
        }
        count = taken
        return taken > 0
    }
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

/// For services: the result of each vote of a batch, collected to be encoded.
///
/// A service keeps one of these and fills it for each batch: only failures allocate.
public struct VoteBatchResults: ~Copyable {
    /// A vote that was not counted.
    public struct Failure: Sendable {
        /// The index of the vote in the batch, from 0.
        public var item: Int
        /// Why it was not counted.
        public var status: Status

        /// A vote that was not counted.
        public init(item: Int, status: Status) {
            self.item = item
            self.status = status
        }
    }

    /// Places for the counts after each vote; the first `count` are in use.
    ///
    /// The place of a failure is not read.
    public var votes = [CastVoteResponse](
        repeating: CastVoteResponse(postID: 0, score: 0, upvoteCount: 0, downvoteCount: 0),
        count: VoteBatch.capacity
    )
    /// How many votes the batch has, at most `VoteBatch.capacity`.
    public var count = 0
    /// The votes that were not counted, by rising `item`.
    public var failures: [Failure] = []

    /// Results of no vote.
    public init() {}
}

extension ServerFrame {
    /// The same answer in the form of any other answer.
    public init(_ results: borrowing VoteBatchResults, id: UInt64, revision: UInt64) {
        var list = results.votes.prefix(results.count).map { CastVoteResult(status: nil, vote: $0) }
        for failure in results.failures {
            list[failure.item] = CastVoteResult(status: failure.status, vote: nil)
        }
        self.init(
            id: id,
            revision: revision,
            response: .batchCastVotes(BatchCastVotesResponse(results: list))
        )
    }
}
