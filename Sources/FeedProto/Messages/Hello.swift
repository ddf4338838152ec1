/// Introduces a client; in version 1 a connection without it is anonymous.
public struct HelloRequest: Equatable, Sendable {
    /// The protocol version that the client speaks.
    public var protocolVersion: UInt32
    /// The client's name and version, for the service's logs.
    public var clientName: String
    /// 16 random bytes that the client keeps permanently, or none.
    public var clientID: [UInt8]
    /// Distinguishes the connections of one client id; each has its own sequences.
    public var channel: UInt32

    /// An introduction, by default of an anonymous client of the current version.
    public init(
        protocolVersion: UInt32 = ProtocolVersion.current,
        clientName: String = "",
        clientID: [UInt8] = [],
        channel: UInt32 = 0
    ) {
        self.protocolVersion = protocolVersion
        self.clientName = clientName
        self.clientID = clientID
        self.channel = channel
    }
}

/// Introduces the service.
public struct HelloResponse: Equatable, Sendable {
    /// The protocol version that the service speaks.
    public var protocolVersion: UInt32
    /// The service's name and version.
    public var serverName: String
    /// Identifies the service's state; another number means a fresh or a restored state.
    public var instanceID: UInt64
    /// The service's clock, since the Unix epoch.
    public var serverTimeMilliseconds: Int64
    /// What the service accepts; nil where it does not say.
    public var limits: Limits?
    /// What the service offers beyond the calls of version 1.
    public var capabilities: [Capability]
    /// Whether the channel's sequences were remembered before this Hello.
    public var isClientKnown: Bool
    /// The highest sequence that was executed on the channel; 0 is none.
    public var lastSequence: UInt64
    /// Why the connection has no channel for calls with a sequence; nil where it has one, or is
    /// anonymous.
    public var channelStatus: Status?

    /// An introduction, by default with nothing beyond version 1.
    public init(
        protocolVersion: UInt32 = ProtocolVersion.current,
        serverName: String,
        instanceID: UInt64,
        serverTimeMilliseconds: Int64,
        limits: Limits?,
        capabilities: [Capability] = [],
        isClientKnown: Bool = false,
        lastSequence: UInt64 = 0,
        channelStatus: Status? = nil
    ) {
        self.protocolVersion = protocolVersion
        self.serverName = serverName
        self.instanceID = instanceID
        self.serverTimeMilliseconds = serverTimeMilliseconds
        self.limits = limits
        self.capabilities = capabilities
        self.isClientKnown = isClientKnown
        self.lastSequence = lastSequence
        self.channelStatus = channelStatus
    }
}
