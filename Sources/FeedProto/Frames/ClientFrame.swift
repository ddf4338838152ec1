/// What a client sends: one call.
public struct ClientFrame: Equatable, Sendable {
    /// Names the call; above 0 and strictly increasing on a connection.
    public var id: UInt64
    /// How long the answer may take; 0 is the service's default.
    public var timeoutMilliseconds: UInt32
    /// Names a mutation for good, so that it is executed exactly once; 0 is at most once.
    public var sequence: UInt64
    /// The answer is never from a state older than this revision; 0 is any.
    public var minimumRevision: UInt64
    /// The call; nil where the frame has none, or one that this version does not know.
    public var request: Request?

    /// A frame with the service's default deadline, at most once, from any state.
    public init(
        id: UInt64,
        request: Request?,
        timeoutMilliseconds: UInt32 = 0,
        sequence: UInt64 = 0,
        minimumRevision: UInt64 = 0
    ) {
        self.id = id
        self.timeoutMilliseconds = timeoutMilliseconds
        self.sequence = sequence
        self.minimumRevision = minimumRevision
        self.request = request
    }
}
