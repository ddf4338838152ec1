// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

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
            maximumWatchCount: message.pointee.max_watches,
            maximumTitleLength: message.pointee.max_title_length,
            maximumTitleByteCount: message.pointee.max_title_bytes
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
        unsafe message.pointee.max_title_length = maximumTitleLength
        unsafe message.pointee.max_title_bytes = maximumTitleByteCount
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

#endif
