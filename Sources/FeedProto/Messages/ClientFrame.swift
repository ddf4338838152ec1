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
    /// The call; nil where the frame has none, or one that this version does not know.
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
}
