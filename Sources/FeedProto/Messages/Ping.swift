/// Asks for a sign of life.
public struct PingRequest: Equatable, Sendable {
    /// Bytes that are returned unchanged.
    public var payload: [UInt8]

    /// A request, by default without a payload.
    public init(payload: [UInt8] = []) {
        self.payload = payload
    }
}

/// A sign of life.
public struct PingResponse: Equatable, Sendable {
    /// The request's payload.
    public var payload: [UInt8]
    /// Whether the service welcomes new calls.
    public var serving: ServingStatus

    /// An answer to a ping.
    public init(payload: [UInt8], serving: ServingStatus) {
        self.payload = payload
        self.serving = serving
    }
}
