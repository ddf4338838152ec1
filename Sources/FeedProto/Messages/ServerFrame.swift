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
    /// The answer; nil where the call failed, or where this version does not know the answer.
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
