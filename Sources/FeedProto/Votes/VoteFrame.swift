/// For services: a `ClientFrame` that casts one vote, which is the most frequent call.
public struct VoteFrame: Equatable, Sendable {
    /// Names the call; above 0 and strictly increasing on a connection.
    public var id: UInt64
    /// How long the answer may take; 0 is the service's default.
    public var timeoutMilliseconds: UInt32
    /// Names a change on its channel; 0 means that the change is executed at most once.
    ///
    /// The service remembers the outcomes of a window of a channel's latest sequences, and executes
    /// none of these changes twice.
    public var sequence: UInt64
    /// The oldest revision of the state that the answer may reflect; 0 allows any.
    public var minimumRevision: UInt64
    /// The user that a service acts for; 0 is the caller itself.
    public var actingUserID: UInt64
    /// The vote.
    public var vote: CastVoteRequest

    /// A frame with the service's default deadline, executed at most once, on any state.
    public init(
        id: UInt64,
        vote: CastVoteRequest,
        timeoutMilliseconds: UInt32 = 0,
        sequence: UInt64 = 0,
        minimumRevision: UInt64 = 0,
        actingUserID: UInt64 = 0
    ) {
        self.id = id
        self.timeoutMilliseconds = timeoutMilliseconds
        self.sequence = sequence
        self.minimumRevision = minimumRevision
        self.actingUserID = actingUserID
        self.vote = vote
    }
}

extension VoteFrame {
    /// Reads a body without a message decoder, if it is a vote in the form that every encoder
    /// writes.
    ///
    /// In that form the fields are in order, each at most once, none of them is zero, and the
    /// numbers have their shortest form. nil says nothing else about the body: a `MessageDecoder`
    /// must read it. A returned frame equals what that decoder would make of the body.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes; more than the body, so that words can be read at once.
    ///   - body: The range of the body in them.
    @inline(__always)
    public init?(scanning bytes: RawSpan, in body: Range<Int>) {
        var scan = FieldScan(of: body, in: bytes)
        id = scan.varint(tag: 0x08, in: bytes)
        timeoutMilliseconds = 0
        sequence = 0
        minimumRevision = 0
        actingUserID = 0
        // Most votes have none of the fields in between.
        if !scan.enterMessage(tag: 0xC2, 0x02, in: bytes) {
            let timeout = scan.varint(tag: 0x10, in: bytes)
            timeoutMilliseconds = UInt32(truncatingIfNeeded: timeout)
            sequence = scan.varint(tag: 0x18, in: bytes)
            minimumRevision = scan.varint(tag: 0x20, in: bytes)
            actingUserID = scan.varint(tag: 0x28, in: bytes)
            guard timeout <= UInt32.max, scan.enterMessage(tag: 0xC2, 0x02, in: bytes) else {
                return nil
            }
        }
        let postID = scan.varint(tag: 0x08, in: bytes)
        let direction = scan.lastByte(tag: 0x10, in: bytes)
        guard id != 0, postID != 0, 1...3 ~= direction else { return nil }
        vote = CastVoteRequest(postID: postID, direction: VoteDirection(rawValue: Int32(direction)))
    }
}

extension ClientFrame {
    /// The same call in the form of any other call.
    public init(_ frame: VoteFrame) {
        self.init(
            id: frame.id,
            request: .castVote(frame.vote),
            timeoutMilliseconds: frame.timeoutMilliseconds,
            sequence: frame.sequence,
            minimumRevision: frame.minimumRevision,
            actingUserID: frame.actingUserID
        )
    }
}
