import CFeedProto

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
    public var actingUserID: UInt64
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
        actingUserID: UInt64 = 0,
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

    init(
        _ frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        byteCount: Int
    ) throws(MessageError) {
        let reader = unsafe WireReader(byteCount: byteCount, frameID: frame.pointee.id)
        try unsafe reader.rejectFieldZero(frame)
        try unsafe self.init(
            id: frame.pointee.id,
            request: Request(frame, reader),
            timeoutMilliseconds: frame.pointee.timeout_ms,
            sequence: frame.pointee.sequence,
            minimumRevision: frame.pointee.min_revision,
            actingUserID: frame.pointee.acting_user_id,
            isTimed: frame.pointee.timed != 0
        )
    }

    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        _ arena: borrowing MessageArena
    ) {
        unsafe frame.pointee.id = id
        unsafe frame.pointee.timeout_ms = timeoutMilliseconds
        unsafe frame.pointee.sequence = sequence
        unsafe frame.pointee.min_revision = minimumRevision
        unsafe frame.pointee.acting_user_id = actingUserID
        unsafe frame.pointee.timed = isTimed ? 1 : 0
        if let request { unsafe request.write(to: frame, arena) }
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

    init(
        _ frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        byteCount: Int
    ) throws(MessageError) {
        let reader = unsafe WireReader(byteCount: byteCount, frameID: frame.pointee.id)
        try unsafe reader.rejectFieldZero(frame)
        id = unsafe frame.pointee.id
        revision = unsafe frame.pointee.revision
        status = try unsafe reader.message(frame.pointee.status, "status")
        hasMore = unsafe frame.pointee.more != 0
        times = try unsafe reader.message(frame.pointee.times, "times")
        response = try unsafe Response(frame, reader)
    }

    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        _ arena: borrowing MessageArena
    ) {
        unsafe frame.pointee.id = id
        unsafe frame.pointee.revision = revision
        unsafe frame.pointee.status = arena.message(status)
        unsafe frame.pointee.more = hasMore ? 1 : 0
        unsafe frame.pointee.times = arena.message(times)
        if let response { unsafe response.write(to: frame, arena) }
    }
}

extension Status: Error {}

extension Status: CustomStringConvertible {
    /// The code, the reason and the sentence.
    public var description: String { "\(code) / \(reason): \(message)" }
}
