internal import FeedRanking
internal import FeedTransport

/// Who calls on a connection: a device that named itself in Hello, or nobody in particular.
struct Caller {
    /// The device that calls; nil on an anonymous connection.
    private(set) var device: Device?
    /// The number that the ranking knows the device by; nil until it is looked up.
    var voter: VoterID?
    /// The channel that the caller numbers its calls on; nil on an anonymous connection, and where
    /// the service had none for it.
    private(set) var channel: HeldChannel?
    /// The channel that the caller's Hello named, where it got none.
    private(set) var missedChannel: UInt32?
    /// Whether the connection has opened a channel that was not known.
    private(set) var hasOpenedChannel = false
    /// Whether the connection has brought a new device.
    var hasBroughtDevice = false
    private let openTime: MonotonicInstant
    /// The host that the connection came from; new devices are counted by it.
    let host: SocketAddress.Host

    /// A caller from this host who has not said who it is.
    init(host: SocketAddress.Host, openTime: MonotonicInstant = EventLoop.clock) {
        self.host = host
        self.openTime = openTime
    }

    /// Whether the caller is trusted as a service: there are no keys to show, so whoever is on this
    /// machine is, and nobody else.
    var isService: Bool { host.isLoopback }

    /// The caller said who it is; an anonymous Hello takes an earlier identity back.
    ///
    /// - Parameters:
    ///   - device: Who it is; nil is nobody.
    ///   - number: The channel that the Hello named.
    ///   - opening: The channel as it was opened; nil where there is none for the caller.
    mutating func introduce(_ device: Device?, on number: UInt32, _ opening: RecordTable.Opening?) {
        channel = nil
        missedChannel = device == nil ? nil : number
        if let opening { hold(opening) }
        guard device != self.device else { return }
        self.device = device
        voter = nil
    }

    /// The caller has a channel from now on.
    mutating func hold(_ opening: RecordTable.Opening) {
        channel = opening.channel
        missedChannel = nil
        if !opening.wasKnown { hasOpenedChannel = true }
    }

    /// How long the connection has been open.
    var age: Duration { EventLoop.clock.duration(since: openTime) }

    /// A client_id: 16 bytes that a client keeps for good.
    struct Device: Equatable {
        /// The first eight bytes.
        let high: UInt64
        /// The last eight bytes.
        let low: UInt64

        /// The length of a client_id.
        static let byteCount = 16

        /// Reads a client_id; nil unless it has 16 bytes.
        init?(bytes: [UInt8]) {
            guard bytes.count == Self.byteCount else { return nil }
            high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
            low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
