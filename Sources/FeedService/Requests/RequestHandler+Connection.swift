internal import FeedJournal
internal import FeedProto
internal import FeedRanking
internal import FeedState

/// Hello, Ping and GetServerStats: the calls about the connection and the service.
extension RequestHandler {
    /// Introduces the two sides; a client_id makes the connection's caller a device.
    mutating func hello(_ request: HelloRequest, from caller: inout Caller) throws(Status) -> Answer
    {
        let supported = ServiceVersion.protocolVersions
        guard supported.contains(request.protocolVersion) else {
            throw Status(
                code: .unimplemented,
                reason: .unsupportedVersion,
                message: "protocol_version is \(request.protocolVersion); "
                    + "\(ServiceVersion.serverName) speaks \(supported.lowerBound) to "
                    + "\(supported.upperBound)."
            )
        }
        let device = Caller.Device(bytes: request.clientID)
        guard device != nil || request.clientID.isEmpty else {
            throw .invalid(
                .badField,
                field: "client_id",
                "client_id has \(request.clientID.count) bytes; it has "
                    + "\(Caller.Device.byteCount), or none.",
                limit: UInt64(Caller.Device.byteCount),
                actual: UInt64(request.clientID.count)
            )
        }
        if !request.clientName.isEmpty { log.introduced(request.clientName, from: caller.host) }
        let channel = openChannel(request.channel, of: device, from: &caller)
        let response = HelloResponse(
            serverName: ServiceVersion.serverName,
            instanceID: context.instanceID,
            serverTimeMilliseconds: context.timeOfDay(),
            limits: Limits(context.limits),
            capabilities: channel.refusal == nil ? [.exactlyOnce] : [],
            isClientKnown: channel.wasKnown,
            lastSequence: channel.lastSequence,
            channelStatus: channel.refusal
        )
        return .response(.hello(response), revision: store.revision)
    }

    /// Sends the payload back, and says whether new calls are welcome.
    mutating func ping(_ request: PingRequest) throws(Status) -> Answer {
        let limit = context.limits.maximumPingByteCount
        guard request.payload.count <= limit else {
            throw .invalid(
                .badField,
                field: "payload",
                "payload has \(request.payload.count) bytes; the limit is \(limit).",
                limit: UInt64(limit),
                actual: UInt64(request.payload.count)
            )
        }
        let response = PingResponse(
            payload: request.payload,
            serving: context.isDraining ? .draining : .serving
        )
        return .response(.ping(response), revision: store.revision)
    }

    /// Counts over all loops, as they stand.
    func serverStats() -> Answer {
        let revision = store.revision
        let statistics = ServiceStatistics(loops: context.counters)
        let stats = ServerStats(
            serverName: ServiceVersion.serverName,
            startTimeMilliseconds: context.startTimeMilliseconds,
            connectionCount: context.openConnectionCount,
            postCount: store.postCount,
            revision: revision,
            methods: statistics.methods(),
            stripeContentionCount: store.contentionCount,
            acceptedConnectionCount: context.acceptedConnectionCount,
            refusedConnectionCount: context.refusedConnectionCount,
            slowFrameCount: statistics.slowFrameCount,
            badFrameCount: statistics.badFrameCount,
            bufferedByteCount: context.bufferedByteCount,
            acceptPauseCount: context.acceptPauseCount,
            durability: context.state?.durability.rawValue ?? "none",
            journal: context.state.map { JournalStats($0, statistics) },
            channelCount: UInt64(context.channels.count),
            evictedChannelCount: context.channels.evictedCount,
            repeatedCallCount: statistics.repeatedCallCount,
            overBudgetCloseCount: statistics.overBudgetCloseCount,
            channelByteCount: UInt64(clamping: context.channels.byteCount),
            refusedChannelCount: context.channels.refusedCount,
            refusedDeviceCount: context.devices.refusedCount,
            backups: context.state.map { BackupStats($0.checkpointing.backups.status) }
        )
        return .response(.serverStats(stats), revision: revision)
    }
}

/// What is said without having been asked.
extension RequestHandler {
    /// Refuses a frame that never became a request; 0 is the connection itself.
    mutating func refuse(id: UInt64, _ status: Status) {
        append(ServerFrame(id: id, revision: store.revision, status: status))
    }

    /// A refusal of a whole connection, as bytes.
    func refusal(_ status: Status) -> [UInt8] {
        do throws(FrameError) {
            return try ServerFrame(id: 0, revision: 0, status: status).encoded()
        } catch {
            preconditionFailure("A refusal fits into any frame: \(error)")
        }
    }

    /// Says that the connection is about to close, and which request was the last executed.
    mutating func sayGoAway(lastID: UInt64) {
        let goAway = GoAway(
            lastID: lastID,
            drainMilliseconds: UInt32(context.limits.drainTimeout.wholeMilliseconds),
            reason: .draining
        )
        append(ServerFrame(id: 0, revision: store.revision, response: .goAway(goAway)))
    }
}
