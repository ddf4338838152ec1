import CFeedProto

extension ServerStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ServerStats>) {
        unsafe feed__v1__server_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ServerStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            serverName: reader.text(message.pointee.server_name, "server_name"),
            startTimeMilliseconds: message.pointee.start_time_ms,
            connectionCount: message.pointee.connections,
            postCount: message.pointee.posts,
            revision: message.pointee.revision,
            methods: reader.messages(
                message.pointee.methods,
                count: message.pointee.n_methods,
                "methods"
            ),
            stripeContentionCount: message.pointee.stripe_contentions,
            acceptedConnectionCount: message.pointee.accepted_connections,
            refusedConnectionCount: message.pointee.refused_connections,
            slowFrameCount: message.pointee.slow_frames,
            badFrameCount: message.pointee.bad_frames,
            bufferedByteCount: message.pointee.buffered_bytes,
            acceptPauseCount: message.pointee.accept_pauses,
            durability: reader.text(message.pointee.durability, "durability"),
            journal: reader.message(message.pointee.journal, "journal"),
            channelCount: message.pointee.channels,
            evictedChannelCount: message.pointee.evicted_channels,
            repeatedCallCount: message.pointee.repeated_calls,
            overBudgetCloseCount: message.pointee.over_budget_closes,
            channelByteCount: message.pointee.channel_bytes,
            refusedChannelCount: message.pointee.refused_channels,
            refusedDeviceCount: message.pointee.refused_devices,
            backups: reader.message(message.pointee.backups, "backups")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ServerStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.server_name = arena.text(serverName)
        unsafe message.pointee.start_time_ms = startTimeMilliseconds
        unsafe message.pointee.connections = connectionCount
        unsafe message.pointee.posts = postCount
        unsafe message.pointee.revision = revision
        unsafe message.pointee.n_methods = methods.count
        unsafe message.pointee.methods = arena.messages(methods)
        unsafe message.pointee.stripe_contentions = stripeContentionCount
        unsafe message.pointee.accepted_connections = acceptedConnectionCount
        unsafe message.pointee.refused_connections = refusedConnectionCount
        unsafe message.pointee.slow_frames = slowFrameCount
        unsafe message.pointee.bad_frames = badFrameCount
        unsafe message.pointee.buffered_bytes = bufferedByteCount
        unsafe message.pointee.accept_pauses = acceptPauseCount
        unsafe message.pointee.durability = arena.text(durability)
        unsafe message.pointee.journal = arena.message(journal)
        unsafe message.pointee.channels = channelCount
        unsafe message.pointee.evicted_channels = evictedChannelCount
        unsafe message.pointee.repeated_calls = repeatedCallCount
        unsafe message.pointee.over_budget_closes = overBudgetCloseCount
        unsafe message.pointee.channel_bytes = channelByteCount
        unsafe message.pointee.refused_channels = refusedChannelCount
        unsafe message.pointee.refused_devices = refusedDeviceCount
        unsafe message.pointee.backups = arena.message(backups)
    }
}

extension MethodStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MethodStats>) {
        unsafe feed__v1__method_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MethodStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            method: reader.text(message.pointee.method, "method"),
            requestCount: message.pointee.num_requests,
            errorCount: message.pointee.num_errors,
            lastError: reader.text(message.pointee.last_error, "last_error")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MethodStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.method = arena.text(method)
        unsafe message.pointee.num_requests = requestCount
        unsafe message.pointee.num_errors = errorCount
        unsafe message.pointee.last_error = arena.text(lastError)
    }
}
