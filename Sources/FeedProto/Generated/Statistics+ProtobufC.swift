// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

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
            snapshotCount: message.pointee.snapshots,
            snapshotByteCount: message.pointee.snapshot_bytes,
            watchCount: message.pointee.watches,
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
            accountCount: message.pointee.accounts,
            sessionCount: message.pointee.sessions,
            queuedHashCount: message.pointee.queued_hashes,
            refusedSignInCount: message.pointee.refused_sign_ins,
            backups: reader.message(message.pointee.backups, "backups"),
            latencies: reader.messages(
                message.pointee.latencies,
                count: message.pointee.n_latencies,
                "latencies"
            ),
            heldTime: reader.message(message.pointee.held_time, "held_time"),
            watchingPeers: reader.messages(
                message.pointee.watching_peers,
                count: message.pointee.n_watching_peers,
                "watching_peers"
            ),
            postByteCount: message.pointee.post_bytes,
            postLimitByteCount: message.pointee.post_limit_bytes,
            refusedPostCount: message.pointee.refused_posts
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
        unsafe message.pointee.snapshots = snapshotCount
        unsafe message.pointee.snapshot_bytes = snapshotByteCount
        unsafe message.pointee.watches = watchCount
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
        unsafe message.pointee.accounts = accountCount
        unsafe message.pointee.sessions = sessionCount
        unsafe message.pointee.queued_hashes = queuedHashCount
        unsafe message.pointee.refused_sign_ins = refusedSignInCount
        unsafe message.pointee.backups = arena.message(backups)
        unsafe message.pointee.n_latencies = latencies.count
        unsafe message.pointee.latencies = arena.messages(latencies)
        unsafe message.pointee.held_time = arena.message(heldTime)
        unsafe message.pointee.n_watching_peers = watchingPeers.count
        unsafe message.pointee.watching_peers = arena.messages(watchingPeers)
        unsafe message.pointee.post_bytes = postByteCount
        unsafe message.pointee.post_limit_bytes = postLimitByteCount
        unsafe message.pointee.refused_posts = refusedPostCount
    }
}

extension WatchingPeer: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__WatchingPeer>) {
        unsafe feed__v1__watching_peer__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__WatchingPeer>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            peer: reader.text(message.pointee.peer, "peer"),
            watchCount: message.pointee.watches
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__WatchingPeer>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.peer = arena.text(peer)
        unsafe message.pointee.watches = watchCount
    }
}

extension LatencyStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__LatencyStats>) {
        unsafe feed__v1__latency_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__LatencyStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            method: reader.text(message.pointee.method, "method"),
            answerCount: message.pointee.num_answers,
            medianNanoseconds: message.pointee.p50_ns,
            p90Nanoseconds: message.pointee.p90_ns,
            p99Nanoseconds: message.pointee.p99_ns,
            p999Nanoseconds: message.pointee.p999_ns,
            maximumNanoseconds: message.pointee.max_ns
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__LatencyStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.method = arena.text(method)
        unsafe message.pointee.num_answers = answerCount
        unsafe message.pointee.p50_ns = medianNanoseconds
        unsafe message.pointee.p90_ns = p90Nanoseconds
        unsafe message.pointee.p99_ns = p99Nanoseconds
        unsafe message.pointee.p999_ns = p999Nanoseconds
        unsafe message.pointee.max_ns = maximumNanoseconds
    }
}

#endif
