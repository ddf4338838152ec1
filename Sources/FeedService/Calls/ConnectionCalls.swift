internal import FeedProto
internal import FeedRanking

/// The calls about the connection itself: Hello and Ping.
struct ConnectionCalls {
    /// The shared parts of all calls of the loop.
    let environment: CallEnvironment

    /// Introduces the two sides; a client_id makes the connection's caller a device.
    func hello(_ request: HelloRequest, from caller: inout Caller) throws(Status) -> Answer {
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
        let serviceKey = try environment.serviceKey(request.serviceKey, of: caller)
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
        let login = try environment.login(token: request.sessionToken)
        try environment.adopt(serviceKey, by: &caller)
        if !request.clientName.isEmpty {
            environment.log.introduced(request.clientName, from: caller.host)
        }
        let channel = openChannel(request.channel, of: device, from: &caller)
        caller.login = login
        let response = HelloResponse(
            serverName: ServiceVersion.serverName,
            instanceID: environment.context.instanceID,
            serverTimeMilliseconds: environment.context.timeOfDay(),
            limits: Limits(environment.context.limits),
            user: try login.session.map(environment.user(of:)),
            capabilities: [.stablePages, .accounts, .sync, .watch]
                + (channel.refusal == nil ? [.exactlyOnce] : []),
            isClientKnown: channel.wasKnown,
            lastSequence: channel.lastSequence,
            channelStatus: channel.refusal
        )
        return .response(.hello(response), revision: environment.store.revision)
    }

    /// Sends the payload back, and whether the service takes new calls.
    func ping(_ request: PingRequest) throws(Status) -> Answer {
        let limit = environment.context.limits.maximumPingByteCount
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
            serving: environment.context.isDraining ? .draining : .serving
        )
        return .response(.ping(response), revision: environment.store.revision)
    }
}
