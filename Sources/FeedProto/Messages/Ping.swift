/// Asks for a sign of life.
public struct PingRequest: Equatable, Sendable {
    /// Comes back as it is.
    public var payload: [UInt8]

    /// By default without a payload.
    public init(payload: [UInt8] = []) {
        self.payload = payload
    }
}

/// A sign of life.
public struct PingResponse: Equatable, Sendable {
    /// The request's payload.
    public var payload: [UInt8]
    /// Whether new calls are welcome.
    public var serving: ServingStatus

    /// An answer to a ping.
    public init(payload: [UInt8], serving: ServingStatus) {
        self.payload = payload
        self.serving = serving
    }
}
