internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking
internal import FeedState

struct ConnectionCalls {
    let environment: CallEnvironment

    /// Introduces the two sides; a client_id makes the connection's caller a device.
    func hello(_ request: HelloRequest, from caller: inout Caller) throws(Status) -> Answer {
        let supported = ServiceVersion.protocolVersions
        guard supported.contains(request.protocolVersion) else {
            throw Status(
                .unsupportedVersion,
                "protocol_version is \(request.protocolVersion); "
                    + "\(ServiceVersion.serverName) speaks \(supported.lowerBound) to "
                    + "\(supported.upperBound)."
            )
        }
        let serviceKey = try environment.serviceKey(request.serviceKey, of: caller)
        let device = try Device16(ifNamed: request.clientID)
        let login = try environment.login(token: request.sessionToken)
        try environment.adopt(serviceKey, by: &caller)
        if !request.clientName.isEmpty {
            environment.log.introduced(request.clientName, from: caller.host)
        }
        let (opening, refusal) = openChannel(request.channel, of: device, from: &caller)
        caller.login = login
        let response = HelloResponse(
            serverName: ServiceVersion.serverName,
            instanceID: environment.context.instanceID,
            serverTimeMilliseconds: environment.context.timeOfDay(),
            limits: Limits(environment.context.limits),
            user: try login.session.map(environment.user(of:)),
            capabilities: [.stablePages, .accounts, .sync, .watch]
                + (refusal == nil ? [.exactlyOnce] : []),
            isClientKnown: opening?.wasKnown ?? false,
            lastSequence: opening?.lastSequence ?? 0,
            channelStatus: refusal,
            // As the channel was refused: the node may have begun to lead meanwhile.
            role: caller.hasMetFollower
                ? .follower : environment.context.node?.role ?? .unspecified,
            members: environment.context.node?.members ?? [],
            channelNumber: opening?.held.channel.identity.number ?? 0
        )
        return .response(.hello(response), revision: environment.store.revision)
    }

    /// Sends the payload back, and whether the service takes new calls.
    func ping(_ request: PingRequest) throws(Status) -> Answer {
        try environment.rules.check(request)
        let response = PingResponse(
            payload: request.payload,
            serving: environment.context.isDraining ? .draining : .serving
        )
        return .response(.ping(response), revision: environment.store.revision)
    }
}

/// How callers get the channels that they number their calls on.
extension ConnectionCalls {
    /// Gives a device's channel to the caller, which returns its earlier one.
    ///
    /// A caller without a channel is introduced, too: only numbered calls need a channel. A caller whose
    /// role may change nothing gets none, because a new channel is a change of the state; a follower gives
    /// nobody one.
    private func openChannel(
        _ channel: UInt32,
        of device: Device16?,
        from caller: inout Caller
    ) -> (opening: ChannelTable.Opening?, refusal: Status?) {
        var opening: ChannelTable.Opening?
        var refusal: Status?
        if let device {
            do throws(Status) {
                try environment.checkAccess(of: caller, to: .castVote)
                try environment.checkLeadership(for: .castVote, of: caller)
                opening = try environment.changeLog.transaction { () throws(Status) in
                    try open(channel, of: device, isLate: false, for: caller)
                }
            } catch {
                refusal = error
            }
        }
        // This Hello may have taken the held channel over. Then it has a newer epoch, and stays open.
        if let held = caller.channel { environment.context.channels.close(held, isLeft: true) }
        caller.introduce(device, on: channel, opening)
        caller.hasMetFollower = refusal?.reason == .notLeader
        return (opening, refusal)
    }

    /// Gives the caller the channel that was not available when it said Hello; within a
    /// transaction.
    func openMissedChannel(of caller: inout Caller) throws(Status) -> HeldChannel {
        guard let device = caller.device, let channel = caller.missedChannel else {
            throw .sequenceNeedsIdentity
        }
        // The channel may be in the log, and nothing tells whether another connection has taken it since.
        if caller.hasMetFollower, let node = environment.context.node {
            throw .leadsSinceHello(at: node.address)
        }
        let opening = try open(channel, of: device, isLate: true, for: caller)
        caller.hold(opening)
        return opening.held
    }

    private func open(
        _ channel: UInt32,
        of device: Device16,
        isLate: Bool,
        for caller: borrowing Caller
    ) throws(Status) -> ChannelTable.Opening {
        let changeRefusal = environment.context.changeRefusal
        let key = ChannelTable.Key(device, channel: channel)
        var request = ChannelTable.Request(key, from: caller.identity)
        request.isFurther = caller.hasOpenedChannel
        request.mayAdd = changeRefusal == nil
        request.isLate = isLate
        do throws(ChannelTable.Refusal) {
            return try environment.context.channels.open(request, log: environment.changeLog)
        } catch {
            switch error {
            case .noRoom(let used, let limit):
                throw .tooManyChannels(hostByteCount: used, limit: limit)
            case .tooFast(let wait):
                throw .newChannelsTooFast(
                    perMinute: environment.context.limits.channels.newChannelsPerMinute,
                    wait: wait
                )
            case .mayNotAdd:
                guard let changeRefusal else {
                    throw .journalBehind(isOfCluster: environment.context.node != nil)
                }
                // A late channel belongs to a change, which is refused with it.
                if isLate { environment.context.count(changeRefusal) }
                throw changeRefusal.status
            case .takenOver: throw .channelFenced
            }
        }
    }
}

extension ClusterNode {
    /// What this service is.
    fileprivate var role: NodeRole { isLeading ? .leader : .follower }

    /// The services of the cluster that clients reach, as far as this one knows them.
    fileprivate var members: [FeedProto.ClusterMember] {
        guard let status else { return [] }
        // What the replica has said is up to a second old.
        let leader = isLeading ? status.node : status.leader == status.node ? 0 : status.leader
        return status.members.filter { !$0.address.isEmpty }.map { member in
            let isKnown = member.isConnected || member.node == status.node
            return ClusterMember(
                address: member.address,
                role: member.node == leader ? .leader : isKnown ? .follower : .unspecified
            )
        }
    }
}

extension Limits {
    fileprivate init(_ limits: ServiceLimits) {
        self.init(
            maximumFrameByteCount: UInt32(limits.maximumFrameByteCount),
            maximumInFlightCount: UInt32(limits.maximumInFlightCount),
            defaultPageSize: UInt32(limits.calls.defaultPageSize),
            maximumPageSize: UInt32(limits.calls.maximumPageSize),
            maximumBatchGetCount: UInt32(limits.calls.maximumBatchGetCount),
            maximumBatchVoteCount: UInt32(limits.calls.maximumBatchVoteCount),
            maximumSyncPostCount: UInt32(limits.calls.maximumSyncPostCount),
            maximumWatchTopCount: UInt32(limits.calls.maximumWatchTopCount),
            maximumTimeoutMilliseconds: limits.maximumTimeoutMilliseconds,
            idleTimeoutMilliseconds: UInt32(limits.idleTimeout.millisecondsRoundedDown),
            sequenceWindow: UInt32(RecentCalls.window),
            maximumImportPostCount: UInt32(limits.calls.maximumImportPostCount),
            maximumWatchPostCount: UInt32(limits.calls.maximumWatchPostCount),
            maximumWatchCount: UInt32(limits.calls.maximumWatchesPerConnection),
            maximumTitleLength: UInt32(limits.calls.defaultTitleCharacterCount),
            maximumTitleByteCount: UInt32(limits.calls.defaultTitleByteLimit)
        )
    }
}

extension Device16 {
    /// The device of a client_id; nil of an empty one.
    init?(ifNamed clientID: [UInt8]) throws(Status) {
        guard !clientID.isEmpty else { return nil }
        guard let device = Device16(clientID: clientID) else {
            throw .invalid(
                .badField,
                field: "client_id",
                "client_id has \(clientID.count) bytes; it has 16, or none.",
                limit: 16,
                actual: UInt64(clientID.count)
            )
        }
        self = device
    }
}
