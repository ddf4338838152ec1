/// Says that the service is about to close the connection.
public struct GoAway: Equatable, Sendable {
    /// Calls with a greater id were not executed.
    public var lastID: UInt64
    /// How long the connection stays open for the answers.
    public var drainMilliseconds: UInt32
    /// Why it closes.
    public var reason: Reason

    /// A farewell.
    public init(lastID: UInt64, drainMilliseconds: UInt32, reason: Reason) {
        self.lastID = lastID
        self.drainMilliseconds = drainMilliseconds
        self.reason = reason
    }
}
