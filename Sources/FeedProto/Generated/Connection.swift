// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

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
        maximumWatchCount: UInt32 = 0
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

extension HelloRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__HelloRequest>) {
        unsafe feed__v1__hello_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__HelloRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            protocolVersion: message.pointee.protocol_version,
            clientName: reader.text(message.pointee.client_name, "client_name"),
            clientID: reader.bytes(message.pointee.client_id),
            sessionToken: reader.bytes(message.pointee.session_token),
            serviceKey: reader.bytes(message.pointee.service_key),
            channel: message.pointee.channel
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__HelloRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.protocol_version = protocolVersion
        unsafe message.pointee.client_name = arena.text(clientName)
        unsafe message.pointee.client_id = arena.bytes(clientID)
        unsafe message.pointee.session_token = arena.bytes(sessionToken)
        unsafe message.pointee.service_key = arena.bytes(serviceKey)
        unsafe message.pointee.channel = channel
    }
}

extension HelloResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__HelloResponse>) {
        unsafe feed__v1__hello_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__HelloResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            protocolVersion: message.pointee.protocol_version,
            serverName: reader.text(message.pointee.server_name, "server_name"),
            instanceID: message.pointee.instance_id,
            serverTimeMilliseconds: message.pointee.server_time_ms,
            limits: reader.message(message.pointee.limits, "limits"),
            user: reader.message(message.pointee.user, "user"),
            capabilities: reader.numbers(
                message.pointee.capabilities,
                count: message.pointee.n_capabilities
            ).map { Capability($0) },
            isClientKnown: message.pointee.client_known != 0,
            lastSequence: message.pointee.last_sequence,
            channelStatus: reader.message(message.pointee.channel_status, "channel_status"),
            role: NodeRole(message.pointee.role),
            members: reader.messages(
                message.pointee.members,
                count: message.pointee.n_members,
                "members"
            ),
            channelNumber: message.pointee.channel_number
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__HelloResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.protocol_version = protocolVersion
        unsafe message.pointee.server_name = arena.text(serverName)
        unsafe message.pointee.instance_id = instanceID
        unsafe message.pointee.server_time_ms = serverTimeMilliseconds
        unsafe message.pointee.limits = arena.message(limits)
        unsafe message.pointee.user = arena.message(user)
        unsafe message.pointee.n_capabilities = capabilities.count
        unsafe message.pointee.capabilities = arena.numbers(capabilities.map { $0.cValue() })
        unsafe message.pointee.client_known = isClientKnown ? 1 : 0
        unsafe message.pointee.last_sequence = lastSequence
        unsafe message.pointee.channel_status = arena.message(channelStatus)
        unsafe message.pointee.role = role.cValue()
        unsafe message.pointee.n_members = members.count
        unsafe message.pointee.members = arena.messages(members)
        unsafe message.pointee.channel_number = channelNumber
    }
}

extension ClusterMember: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ClusterMember>) {
        unsafe feed__v1__cluster_member__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ClusterMember>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            address: reader.text(message.pointee.address, "address"),
            role: NodeRole(message.pointee.role)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ClusterMember>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.address = arena.text(address)
        unsafe message.pointee.role = role.cValue()
    }
}

extension Limits: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__Limits>) {
        unsafe feed__v1__limits__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__Limits>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            maximumFrameByteCount: message.pointee.max_frame_bytes,
            maximumInFlightCount: message.pointee.max_in_flight,
            defaultPageSize: message.pointee.default_page_size,
            maximumPageSize: message.pointee.max_page_size,
            maximumBatchGetCount: message.pointee.max_batch_get,
            maximumBatchVoteCount: message.pointee.max_batch_votes,
            maximumSyncPostCount: message.pointee.max_sync,
            maximumWatchTopCount: message.pointee.max_watch_top,
            maximumTimeoutMilliseconds: message.pointee.max_timeout_ms,
            idleTimeoutMilliseconds: message.pointee.idle_timeout_ms,
            sequenceWindow: message.pointee.sequence_window,
            maximumImportPostCount: message.pointee.max_import_posts,
            maximumWatchPostCount: message.pointee.max_watch_posts,
            maximumWatchCount: message.pointee.max_watches
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__Limits>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.max_frame_bytes = maximumFrameByteCount
        unsafe message.pointee.max_in_flight = maximumInFlightCount
        unsafe message.pointee.default_page_size = defaultPageSize
        unsafe message.pointee.max_page_size = maximumPageSize
        unsafe message.pointee.max_batch_get = maximumBatchGetCount
        unsafe message.pointee.max_batch_votes = maximumBatchVoteCount
        unsafe message.pointee.max_sync = maximumSyncPostCount
        unsafe message.pointee.max_watch_top = maximumWatchTopCount
        unsafe message.pointee.max_timeout_ms = maximumTimeoutMilliseconds
        unsafe message.pointee.idle_timeout_ms = idleTimeoutMilliseconds
        unsafe message.pointee.sequence_window = sequenceWindow
        unsafe message.pointee.max_import_posts = maximumImportPostCount
        unsafe message.pointee.max_watch_posts = maximumWatchPostCount
        unsafe message.pointee.max_watches = maximumWatchCount
    }
}

extension PingRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PingRequest>) {
        unsafe feed__v1__ping_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PingRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            payload: reader.bytes(message.pointee.payload)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PingRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.payload = arena.bytes(payload)
    }
}

extension PingResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PingResponse>) {
        unsafe feed__v1__ping_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PingResponse>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            payload: reader.bytes(message.pointee.payload),
            serving: ServingStatus(message.pointee.serving)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PingResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.payload = arena.bytes(payload)
        unsafe message.pointee.serving = serving.cValue()
    }
}

extension CancelRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CancelRequest>) {
        unsafe feed__v1__cancel_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CancelRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: message.pointee.id
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CancelRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
    }
}

extension GoAway: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__GoAway>) {
        unsafe feed__v1__go_away__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__GoAway>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            lastID: message.pointee.last_id,
            drainMilliseconds: message.pointee.drain_ms,
            reason: Reason(rawValue: reader.text(message.pointee.reason, "reason")),
            leader: reader.text(message.pointee.leader, "leader")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__GoAway>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.last_id = lastID
        unsafe message.pointee.drain_ms = drainMilliseconds
        unsafe message.pointee.reason = arena.text(reason.rawValue)
        unsafe message.pointee.leader = arena.text(leader)
    }
}
