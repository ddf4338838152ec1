// The messages have ids, so `import FeedProto` brings the types of ids.
@_exported public import FeedIdentifiers

/// What a client sends: one call.
public struct ClientFrame: Equatable, Sendable {
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
    ///
    /// Ids with the top bit set are users of the service that calls, without an account here.
    public var actingUserID: UserID
    /// Whether the answer is to have the service's own times of the call.
    public var isTimed: Bool
    /// The call; nil if the frame has none, or one that this version does not know.
    public var request: Request?

    /// A frame with the service's default deadline, executed at most once, on any state.
    public init(
        id: UInt64,
        request: Request?,
        timeoutMilliseconds: UInt32 = 0,
        sequence: UInt64 = 0,
        minimumRevision: UInt64 = 0,
        actingUserID: UserID = 0,
        isTimed: Bool = false
    ) {
        self.id = id
        self.timeoutMilliseconds = timeoutMilliseconds
        self.sequence = sequence
        self.minimumRevision = minimumRevision
        self.actingUserID = actingUserID
        self.isTimed = isTimed
        self.request = request
    }
}

/// What the service sends: the answer to one call, or something about the connection.
public struct ServerFrame: Equatable, Sendable {
    /// The id of the frame that this answers; 0 is about the connection itself.
    public var id: UInt64
    /// The revision of the state that this answer reflects.
    public var revision: UInt64
    /// Why the call failed; nil is OK.
    public var status: Status?
    /// Whether further frames with this id follow, as after each event of a watch.
    public var hasMore: Bool
    /// When the service had the call; nil unless the call asked for it.
    public var times: CallTimes?
    /// The answer; nil if the call failed, or if this version does not know the answer.
    public var response: Response?

    /// An answer.
    public init(id: UInt64, revision: UInt64, response: Response?, hasMore: Bool = false) {
        self.id = id
        self.revision = revision
        self.status = nil
        self.hasMore = hasMore
        times = nil
        self.response = response
    }

    /// A failure.
    public init(id: UInt64, revision: UInt64, status: Status) {
        self.id = id
        self.revision = revision
        self.status = status
        self.hasMore = false
        times = nil
        self.response = nil
    }
}

extension ClientFrame {
    init(_ node: Int, in tree: borrowing MessageTree) throws(MessageError) {
        try tree.rejectFieldZero(node)
        try self.init(
            id: tree.number(node, 0),
            request: Request(node, in: tree),
            timeoutMilliseconds: tree.number(node, 1),
            sequence: tree.number(node, 2),
            minimumRevision: tree.number(node, 3),
            actingUserID: tree.number(node, 4),
            isTimed: tree.flag(node, 5)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.number(2, timeoutMilliseconds)
        writer.number(3, sequence)
        writer.number(4, minimumRevision)
        writer.number(5, actingUserID)
        writer.flag(6, isTimed)
        request?.write(to: &writer)
    }
}

extension ServerFrame {
    init(_ node: Int, in tree: borrowing MessageTree) throws(MessageError) {
        try tree.rejectFieldZero(node)
        id = tree.number(node, 0)
        revision = tree.number(node, 1)
        status = try tree.message(node, 2, "status")
        hasMore = tree.flag(node, 3)
        times = try tree.message(node, 4, "times")
        response = try Response(node, in: tree)
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
        writer.number(2, revision)
        writer.message(3, status)
        writer.flag(4, hasMore)
        writer.message(5, times)
        response?.write(to: &writer)
    }
}

extension Status: Error {}

extension Status: CustomStringConvertible {
    /// The code, the reason and the sentence.
    public var description: String { "\(code) / \(reason): \(message)" }
}
