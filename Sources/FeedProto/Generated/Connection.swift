// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// Introduces a client.
///
/// Not required: a connection without it is anonymous, or has the role that its certificate gives;
/// or may do everything, where the service has no keys and the connection comes from a loopback
/// address.
public struct HelloRequest: Equatable, Sendable {
    /// The protocol version that the client speaks: 1.
    public var protocolVersion: UInt32
    /// The client's name and version.
    ///
    /// Each event loop of the service logs at most one name a second, its first 64 characters, with
    /// control characters escaped.
    public var clientName: String
    /// 16 random bytes that the client keeps permanently, or empty: a stable, anonymous identity.
    public var clientID: [UInt8]
    /// The token of a session, of 32 bytes: the connection's caller is its user.
    ///
    /// Empty is no user.
    public var sessionToken: [UInt8]
    /// A key of the service's `--service-keys`, of 32 bytes: the caller has the role of the key:
    /// app, reader, service or operator.
    ///
    /// Empty is none.
    public var serviceKey: [UInt8]
    /// Distinguishes the connections of one `clientID`: each has a channel, and its own sequences.
    ///
    /// A Hello takes the channel over: calls with a sequence on the connection that had it before
    /// are CHANNEL_FENCED from then on. Without a `clientID` it is not read.
    public var channel: UInt32

    /// All fields; each has a default.
    public init(
        protocolVersion: UInt32 = ProtocolVersion.current,
        clientName: String = "",
        clientID: [UInt8] = [],
        sessionToken: [UInt8] = [],
        serviceKey: [UInt8] = [],
        channel: UInt32 = 0
    ) {
        self.protocolVersion = protocolVersion
        self.clientName = clientName
        self.clientID = clientID
        self.sessionToken = sessionToken
        self.serviceKey = serviceKey
        self.channel = channel
    }
}

/// Introduces the service.
public struct HelloResponse: Equatable, Sendable {
    /// The protocol version that the service speaks: 1.
    public var protocolVersion: UInt32
    /// The service's name and version.
    public var serverName: String
    /// Identifies the service's state: another number is a fresh state, or one restored from a
    /// backup.
    ///
    /// A restart keeps it where the state is durable.
    public var instanceID: UInt64
    /// The service's clock, in milliseconds since the Unix epoch.
    public var serverTimeMilliseconds: Int64
    /// What the service accepts; nil where it does not say.
    public var limits: Limits?
    /// The user of the session token; nil where there is none.
    public var user: User?
    /// What the service offers this connection beyond the calls of version 1.
    public var capabilities: [Capability]
    /// Whether the sequences of this `clientID` and channel were remembered before this Hello.
    ///
    /// false is a new channel, or one that was forgotten: 10 minutes after its connection closed,
    /// or earlier where channels of its host take much memory.
    public var isClientKnown: Bool
    /// The highest sequence that was executed on this channel; 0 is none.
    public var lastSequence: UInt64
    /// Why this connection has no channel though it named a `clientID`; nil where it has one.
    ///
    /// All calls without a sequence are taken. A call with a sequence asks for the channel again.
    /// It is executed if there is one now, else refused with the cause as it then is,
    /// `isNotExecuted`.
    public var channelStatus: Status?
    /// What the service is in its cluster; absent without one.
    public var role: NodeRole
    /// The services of the cluster, as far as they are known; none without a cluster.
    public var members: [ClusterMember]
    /// Names the channel: one that was forgotten and made anew under its `clientID` and channel has
    /// another number.
    ///
    /// 0 without a channel, and of a service that does not say it.
    public var channelNumber: UInt64

    /// All fields; those with a default may be left out.
    public init(
        protocolVersion: UInt32 = ProtocolVersion.current,
        serverName: String,
        instanceID: UInt64,
        serverTimeMilliseconds: Int64,
        limits: Limits?,
        user: User? = nil,
        capabilities: [Capability] = [],
        isClientKnown: Bool = false,
        lastSequence: UInt64 = 0,
        channelStatus: Status? = nil,
        role: NodeRole = .unspecified,
        members: [ClusterMember] = [],
        channelNumber: UInt64 = 0
    ) {
        self.protocolVersion = protocolVersion
        self.serverName = serverName
        self.instanceID = instanceID
        self.serverTimeMilliseconds = serverTimeMilliseconds
        self.limits = limits
        self.user = user
        self.capabilities = capabilities
        self.isClientKnown = isClientKnown
        self.lastSequence = lastSequence
        self.channelStatus = channelStatus
        self.role = role
        self.members = members
        self.channelNumber = channelNumber
    }
}

/// A service of a cluster.
public struct ClusterMember: Hashable, Sendable {
    /// Where clients reach it, as host:port.
    public var address: String
    /// What it is; absent if that is not known.
    public var role: NodeRole

    /// All fields; each has a default.
    public init(address: String = "", role: NodeRole = .unspecified) {
        self.address = address
        self.role = role
    }
}

/// What a service is in its cluster.
public struct NodeRole: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// It has no cluster, or it is not known what it is.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// It takes changes, and its reads show each change that was answered before they were asked
    /// for.
    public static var leader: Self { Self(rawValue: 1) }
    /// It answers reads of a state that may be older, and refuses changes: NOT_LEADER.
    public static var follower: Self { Self(rawValue: 2) }

    /// The contract's names, by number.
    public static let names = ["NODE_ROLE_UNSPECIFIED", "NODE_LEADER", "NODE_FOLLOWER"]
}

/// What a service may offer beyond the calls of version 1.
public struct Capability: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No capability.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Changes may carry a sequence, and are then executed exactly once while the channel is
    /// remembered.
    ///
    /// Missing where the connection has no channel: see `HelloResponse.channelStatus`.
    public static var exactlyOnce: Self { Self(rawValue: 1) }
    /// Lists may be STABLE.
    public static var stablePages: Self { Self(rawValue: 2) }
    /// People may sign up and sign in.
    public static var accounts: Self { Self(rawValue: 3) }
    /// SyncPosts is served.
    public static var sync: Self { Self(rawValue: 4) }
    /// WatchPosts and Cancel are served.
    public static var watch: Self { Self(rawValue: 5) }

    /// The contract's names, by number.
    public static let names = [
        "CAPABILITY_UNSPECIFIED", "EXACTLY_ONCE", "STABLE_PAGES", "ACCOUNTS", "SYNC", "WATCH",
    ]
}

/// What the service accepts.
///
/// A build may have other values than those given here: read them.
public struct Limits: Equatable, Sendable {
    /// The longest frame, without its four bytes of length, both ways: 1,048,576.
    public var maximumFrameByteCount: UInt32
    /// The most calls in flight on a connection that a client should keep to: 256.
    ///
    /// The service executes in order as it reads; it takes no more than 64 KiB ahead of what it has
    /// executed.
    public var maximumInFlightCount: UInt32
    /// The page size for a `pageSize` of 0: 20.
    public var defaultPageSize: UInt32
    /// The greatest page size, to which a greater one is reduced: 100.
    public var maximumPageSize: UInt32
    /// The most ids in a BatchGetPosts: 100.
    public var maximumBatchGetCount: UInt32
    /// The most votes in a BatchCastVotes: 256.
    public var maximumBatchVoteCount: UInt32
    /// The most posts in an answer to SyncPosts: 500; 0 where it is not served.
    public var maximumSyncPostCount: UInt32
    /// The greatest `topCount` of a WatchPosts: 100; 0 where it is not served.
    public var maximumWatchTopCount: UInt32
    /// The greatest `timeoutMilliseconds`: 60,000.
    public var maximumTimeoutMilliseconds: UInt32
    /// Silence after which the service closes a connection; ping well before: 90,000.
    public var idleTimeoutMilliseconds: UInt32
    /// How many sequences a channel remembers: 256.
    ///
    /// A client sends none at or above its oldest unanswered one plus this.
    public var sequenceWindow: UInt32
    /// The most posts in an ImportPosts: 256.
    public var maximumImportPostCount: UInt32
    /// The most ids in a WatchPosts: 200; 0 where it is not served.
    public var maximumWatchPostCount: UInt32
    /// The most watches of a connection: 16; 0 where WatchPosts is not served.
    public var maximumWatchCount: UInt32
    /// The most characters of a title in a feed that names no limit: 255.
    ///
    /// A character is what a person takes for one, an extended grapheme cluster of Unicode, and may
    /// have several scalars; 0 is not said.
    public var maximumTitleLength: UInt32
    /// The most bytes of such a title: 10,200.
    ///
    /// A feed with titles of N characters takes 40 N bytes; at least 1,024 and at most 18,432.
    public var maximumTitleByteCount: UInt32

    /// All fields; those with a default may be left out.
    public init(
        maximumFrameByteCount: UInt32,
        maximumInFlightCount: UInt32,
        defaultPageSize: UInt32,
        maximumPageSize: UInt32,
        maximumBatchGetCount: UInt32,
        maximumBatchVoteCount: UInt32,
        maximumSyncPostCount: UInt32 = 0,
        maximumWatchTopCount: UInt32 = 0,
        maximumTimeoutMilliseconds: UInt32,
        idleTimeoutMilliseconds: UInt32,
        sequenceWindow: UInt32,
        maximumImportPostCount: UInt32,
        maximumWatchPostCount: UInt32 = 0,
        maximumWatchCount: UInt32 = 0,
        maximumTitleLength: UInt32 = 0,
        maximumTitleByteCount: UInt32 = 0
    ) {
        self.maximumFrameByteCount = maximumFrameByteCount
        self.maximumInFlightCount = maximumInFlightCount
        self.defaultPageSize = defaultPageSize
        self.maximumPageSize = maximumPageSize
        self.maximumBatchGetCount = maximumBatchGetCount
        self.maximumBatchVoteCount = maximumBatchVoteCount
        self.maximumSyncPostCount = maximumSyncPostCount
        self.maximumWatchTopCount = maximumWatchTopCount
        self.maximumTimeoutMilliseconds = maximumTimeoutMilliseconds
        self.idleTimeoutMilliseconds = idleTimeoutMilliseconds
        self.sequenceWindow = sequenceWindow
        self.maximumImportPostCount = maximumImportPostCount
        self.maximumWatchPostCount = maximumWatchPostCount
        self.maximumWatchCount = maximumWatchCount
        self.maximumTitleLength = maximumTitleLength
        self.maximumTitleByteCount = maximumTitleByteCount
    }
}

/// Asks for a sign of life.
public struct PingRequest: Equatable, Sendable {
    /// Bytes that come back unchanged; at most 4,096.
    public var payload: [UInt8]

    /// All fields; each has a default.
    public init(payload: [UInt8] = []) {
        self.payload = payload
    }
}

/// A sign of life.
public struct PingResponse: Equatable, Sendable {
    /// The request's payload.
    public var payload: [UInt8]
    /// Whether the service is about to stop.
    public var serving: ServingStatus

    /// All fields; each must be given.
    public init(payload: [UInt8], serving: ServingStatus) {
        self.payload = payload
        self.serving = serving
    }
}

/// Ends a watch of the connection.
///
/// It has no answer of its own: the last frame of the watch is CANCELLED. Where the connection has
/// no such watch, nothing happens.
public struct CancelRequest: Equatable, Sendable {
    /// The id of the frame that began the watch.
    public var id: UInt64

    /// All fields; each must be given.
    public init(id: UInt64) {
        self.id = id
    }
}

/// Whether a service is about to stop.
public struct ServingStatus: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The service did not say.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// It takes calls; changes may be refused all the same (READ_ONLY, CLOCK_JUMPED, OVERLOADED).
    public static var serving: Self { Self(rawValue: 1) }
    /// It is about to stop: finish your calls, and connect elsewhere.
    public static var draining: Self { Self(rawValue: 2) }

    /// The contract's names, by number.
    public static let names = ["SERVING_STATUS_UNSPECIFIED", "SERVING", "DRAINING"]
}

/// Says that the service is about to close the connection.
public struct GoAway: Equatable, Sendable {
    /// Calls with a greater id were not executed.
    public var lastID: UInt64
    /// How long the connection stays open for the answers.
    public var drainMilliseconds: UInt32
    /// Why it closes, in stable UPPER_SNAKE_CASE.
    public var reason: Reason
    /// Where the leader of the cluster is, as host:port, if it is another one and is known.
    public var leader: String

    /// All fields; those with a default may be left out.
    public init(lastID: UInt64, drainMilliseconds: UInt32, reason: Reason, leader: String = "") {
        self.lastID = lastID
        self.drainMilliseconds = drainMilliseconds
        self.reason = reason
        self.leader = leader
    }
}

extension HelloRequest: SwiftMessage {
    package static var fieldCount: Int { 6 }
    package static var structByteCount: Int { 104 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint32)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .bytes)
        case 3: FieldShape(4, .bytes)
        case 4: FieldShape(5, .bytes)
        default: FieldShape(6, .uint32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            protocolVersion: tree.number(node, 0),
            clientName: tree.text(node, 1, "client_name"),
            clientID: tree.bytes(node, 2),
            sessionToken: tree.bytes(node, 3),
            serviceKey: tree.bytes(node, 4),
            channel: tree.number(node, 5)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, protocolVersion)
        writer.text(2, clientName)
        writer.bytes(3, clientID)
        writer.bytes(4, sessionToken)
        writer.bytes(5, serviceKey)
        writer.number(6, channel)
    }
}

extension HelloResponse: SwiftMessage {
    package static var fieldCount: Int { 13 }
    package static var structByteCount: Int { 152 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint32)
        case 1: FieldShape(2, .bytes)
        case 2: FieldShape(3, .fixed64)
        case 3: FieldShape(4, .uint64)
        case 4: FieldShape(5, .message(Limits.self))
        case 5: FieldShape(6, .message(User.self))
        case 6: FieldShape(7, .int32, .repeated)
        case 7: FieldShape(8, .bool)
        case 8: FieldShape(9, .uint64)
        case 9: FieldShape(10, .message(Status.self))
        case 10: FieldShape(11, .int32)
        case 11: FieldShape(12, .message(ClusterMember.self), .repeated)
        default: FieldShape(13, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            protocolVersion: tree.number(node, 0),
            serverName: tree.text(node, 1, "server_name"),
            instanceID: tree.number(node, 2),
            serverTimeMilliseconds: tree.number(node, 3),
            limits: tree.message(node, 4, "limits"),
            user: tree.message(node, 5, "user"),
            capabilities: tree.values(node, 6),
            isClientKnown: tree.flag(node, 7),
            lastSequence: tree.number(node, 8),
            channelStatus: tree.message(node, 9, "channel_status"),
            role: tree.value(node, 10),
            members: tree.messages(node, 11, "members"),
            channelNumber: tree.number(node, 12)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, protocolVersion)
        writer.text(2, serverName)
        writer.fixed64(3, instanceID)
        writer.number(4, serverTimeMilliseconds)
        writer.message(5, limits)
        writer.message(6, user)
        writer.numbers(7, capabilities.map(\.rawValue))
        writer.flag(8, isClientKnown)
        writer.number(9, lastSequence)
        writer.message(10, channelStatus)
        writer.value(11, role)
        writer.messages(12, members)
        writer.number(13, channelNumber)
    }
}

extension ClusterMember: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 48 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        default: FieldShape(2, .int32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            address: tree.text(node, 0, "address"),
            role: tree.value(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, address)
        writer.value(2, role)
    }
}

extension Limits: SwiftMessage {
    package static var fieldCount: Int { 16 }
    package static var structByteCount: Int { 88 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint32)
        case 1: FieldShape(2, .uint32)
        case 2: FieldShape(3, .uint32)
        case 3: FieldShape(4, .uint32)
        case 4: FieldShape(5, .uint32)
        case 5: FieldShape(6, .uint32)
        case 6: FieldShape(7, .uint32)
        case 7: FieldShape(8, .uint32)
        case 8: FieldShape(9, .uint32)
        case 9: FieldShape(10, .uint32)
        case 10: FieldShape(11, .uint32)
        case 11: FieldShape(12, .uint32)
        case 12: FieldShape(13, .uint32)
        case 13: FieldShape(14, .uint32)
        case 14: FieldShape(15, .uint32)
        default: FieldShape(16, .uint32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            maximumFrameByteCount: tree.number(node, 0),
            maximumInFlightCount: tree.number(node, 1),
            defaultPageSize: tree.number(node, 2),
            maximumPageSize: tree.number(node, 3),
            maximumBatchGetCount: tree.number(node, 4),
            maximumBatchVoteCount: tree.number(node, 5),
            maximumSyncPostCount: tree.number(node, 6),
            maximumWatchTopCount: tree.number(node, 7),
            maximumTimeoutMilliseconds: tree.number(node, 8),
            idleTimeoutMilliseconds: tree.number(node, 9),
            sequenceWindow: tree.number(node, 10),
            maximumImportPostCount: tree.number(node, 11),
            maximumWatchPostCount: tree.number(node, 12),
            maximumWatchCount: tree.number(node, 13),
            maximumTitleLength: tree.number(node, 14),
            maximumTitleByteCount: tree.number(node, 15)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, maximumFrameByteCount)
        writer.number(2, maximumInFlightCount)
        writer.number(3, defaultPageSize)
        writer.number(4, maximumPageSize)
        writer.number(5, maximumBatchGetCount)
        writer.number(6, maximumBatchVoteCount)
        writer.number(7, maximumSyncPostCount)
        writer.number(8, maximumWatchTopCount)
        writer.number(9, maximumTimeoutMilliseconds)
        writer.number(10, idleTimeoutMilliseconds)
        writer.number(11, sequenceWindow)
        writer.number(12, maximumImportPostCount)
        writer.number(13, maximumWatchPostCount)
        writer.number(14, maximumWatchCount)
        writer.number(15, maximumTitleLength)
        writer.number(16, maximumTitleByteCount)
    }
}

extension PingRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .bytes)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            payload: tree.bytes(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.bytes(1, payload)
    }
}

extension PingResponse: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 48 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        default: FieldShape(2, .int32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            payload: tree.bytes(node, 0),
            serving: tree.value(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.bytes(1, payload)
        writer.value(2, serving)
    }
}

extension CancelRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 32 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .uint64)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            id: tree.number(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, id)
    }
}

extension GoAway: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .uint32)
        case 2: FieldShape(3, .bytes)
        default: FieldShape(4, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            lastID: tree.number(node, 0),
            drainMilliseconds: tree.number(node, 1),
            reason: Reason(rawValue: tree.text(node, 2, "reason")),
            leader: tree.text(node, 3, "leader")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, lastID)
        writer.number(2, drainMilliseconds)
        writer.text(3, reason.rawValue)
        writer.text(4, leader)
    }
}
