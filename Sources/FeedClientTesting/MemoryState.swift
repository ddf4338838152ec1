internal import FeedCalls
internal import FeedClient
internal import FeedProto
internal import FeedRanking

/// Who calls on a connection.
struct MemoryCaller: Sendable {
    /// The number of its client.
    let number: UInt64
    /// The device of its client id; nil is none.
    var device: Device16?
    /// The number of its channel.
    var channel: UInt32 = 0
    var isService: Bool
    /// The token of its session; empty is none.
    var token: [UInt8] = []
    /// The revision of its last change, which its stable pages show.
    var lastChange: UInt64 = 0
    /// Who is signed in, as its client knows it.
    let user = CurrentUser(nil)
}

extension MemoryCaller {
    /// Its channel; nil without a client id.
    var channelID: MemoryChannel.ID? {
        device.map { MemoryChannel.ID(device: $0, number: channel) }
    }
}

/// What a call says beside its request.
struct MemoryCall {
    /// The revision that the answer must not be older than; 0 is any.
    let minimumRevision: UInt64
    /// The user whom the call acts for; 0 is the caller itself.
    let actingUserID: UserID
}

/// The state of a service in memory, and how it answers; one caller at a time.
struct MemoryState {
    let store: FeedStore
    /// What requests ask for, as the real service has it.
    let rules: CallRules
    let clock: @Sendable () -> Int64
    var accounts = MemoryAccounts()
    var channels: [MemoryChannel.ID: MemoryChannel] = [:]
    /// The watches that have not ended, by numbers in the order in which they have begun.
    var watches: [UInt64: MemoryWatch] = [:]
    /// The sessions whose end a watch has told to a client, by the numbers of the clients.
    var endedTokens: [UInt64: [UInt8]] = [:]
    private let serviceKeys: [Secret]
    private var lastNumber: UInt64 = 0

    static let serverName = "feed-service in memory"
    static let instanceID: UInt64 = 1
    static let frameByteCount = 1 << 20

    /// A state with the feeds that every service has.
    init(serviceKeys: [Secret], clock: @escaping @Sendable () -> Int64) {
        self.serviceKeys = serviceKeys
        self.clock = clock
        store = FeedStore(stripeCount: 1, clock: clock)
        // Nobody has a reason to forge the tokens of a test.
        rules = CallRules(store, CallLimits(), tokens: PageTokenCoder(key0: 0, key1: 0))
    }

    mutating func greet(_ hello: HelloRequest) throws(Status) -> (MemoryCaller, HelloResponse) {
        var caller = MemoryCaller(
            number: takeNumber(),
            device: Device16(clientID: hello.clientID),
            isService: serviceKeys.isEmpty
        )
        if !hello.serviceKey.isEmpty, !serviceKeys.isEmpty {
            guard serviceKeys.contains(where: { $0.bytes == hello.serviceKey }) else {
                throw .badCredentials
            }
            caller.isService = true
        }
        caller.channel = hello.channel
        caller.token = hello.sessionToken
        let session = try session(of: caller)
        caller.user.set(session?.user)
        var response = HelloResponse(
            serverName: Self.serverName,
            instanceID: Self.instanceID,
            serverTimeMilliseconds: clock(),
            limits: Limits(rules.limits),
            user: session?.user,
            capabilities: [.stablePages, .accounts, .sync, .watch]
        )
        if let id = caller.channelID {
            response.capabilities.append(.exactlyOnce)
            response.isClientKnown = channels[id] != nil
            response.lastSequence = channels[id]?.lastSequence ?? 0
            channels[id] = channels[id] ?? MemoryChannel()
        }
        return (caller, response)
    }

    /// A caller as its client knows it: as nobody, once a watch has told it that its session has ended.
    func asKnown(_ caller: MemoryCaller) -> MemoryCaller {
        var caller = caller
        if endedTokens[caller.number] == caller.token { caller.token = [] }
        return caller
    }

    /// A number for a client or a watch.
    mutating func takeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Executes a call.
    mutating func answer(
        to request: Request,
        _ call: MemoryCall,
        from caller: inout MemoryCaller
    ) throws(Status) -> Answer {
        guard call.minimumRevision <= store.revision else {
            throw .stateIsOlder(wanted: call.minimumRevision, revision: store.revision)
        }
        try checkActing(for: call.actingUserID, caller)
        let before = store.revision
        caller = asKnown(caller)
        let token = caller.token
        defer {
            if caller.token != token { adopt(caller) }
            if store.revision > before || request.mayEndSessions { showWatches() }
        }
        let response: Response
        do throws(Status) {
            response = try execute(request, call, from: &caller)
        } catch {
            // As a client forgets the token of a session that has ended.
            if error.reason == .sessionExpired {
                caller.token = []
                caller.user.set(nil)
                endWatches(of: caller, .refused(error))
            }
            throw error
        }
        if case .session(let session) = response { caller.user.set(session.user) }
        switch request {
        case .signOut, .deleteAccount: caller.user.set(nil)
        default: break
        }
        if store.revision > before { caller.lastChange = store.revision }
        return Answer(response: response, revision: store.revision)
    }

    private mutating func execute(
        _ request: Request,
        _ call: MemoryCall,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        if let response = try executeOnAccounts(request, from: &caller) { return response }
        let viewer = try viewer(of: caller, call)
        switch request {
        case .castVote(let request): return .castVote(try castVote(request, viewer))
        case .batchCastVotes(let request): return try castVotes(request, viewer)
        case .createPost(let request): return try createPost(request, viewer)
        case .getPost(let request): return try getPost(request, viewer)
        case .batchGetPosts(let request): return try batchGetPosts(request, viewer)
        case .updatePost(let request): return try updatePost(request, viewer, caller)
        case .deletePost(let request): return try deletePost(request, viewer, caller)
        case .listPosts(let request): return try listPosts(request, call, viewer, caller)
        case .syncPosts(let request): return try syncPosts(request, viewer)
        case .getPostRank(let request): return try rank(request)
        case .markPosts(let request): return try markPosts(request, viewer)
        case .listFeeds: return listFeeds(viewer)
        case .createFeed(let request): return try createFeed(request, caller)
        case .importPosts(let request): return try importPosts(request, caller)
        case .ping(let request):
            try rules.check(request)
            return .ping(PingResponse(payload: request.payload, serving: .serving))
        case .getServerStats: return .serverStats(stats)
        case .watchPosts, .cancel: throw .watchIsNoCall
        default: throw .unknownMethod
        }
    }

    /// Refuses a caller that acts for a user and is no service, and a user whom nobody knows.
    func checkActing(for user: UserID, _ caller: MemoryCaller) throws(Status) {
        guard user != 0 else { return }
        guard caller.isService else { throw .serviceOnly }
        guard !user.isOfService else { return }
        guard let account = accounts.account(user) else { throw .unknownActingUser(user) }
        guard !account.isSuspended else { throw .userSuspended }
    }

    /// The one who a call is of: a user, or else a device, or nobody.
    mutating func viewer(
        of caller: MemoryCaller,
        _ call: MemoryCall
    ) throws(Status) -> VoterKey? {
        let user = try session(of: caller)?.user
        if call.actingUserID != 0 { return .user(call.actingUserID.rawValue) }
        return user.map { .user($0.id.rawValue) } ?? caller.device.map(VoterKey.device)
    }

    /// The counters; those of what a service in memory does not have are 0.
    private var stats: ServerStats {
        ServerStats(
            serverName: Self.serverName,
            startTimeMilliseconds: 0,
            connectionCount: 1,
            postCount: store.postCount,
            revision: store.revision,
            methods: [],
            stripeContentionCount: 0,
            acceptedConnectionCount: 0,
            refusedConnectionCount: 0,
            slowFrameCount: 0,
            badFrameCount: 0,
            bufferedByteCount: 0,
            acceptPauseCount: 0,
            durability: "none",
            accountCount: UInt64(accounts.counts.accounts),
            sessionCount: UInt64(accounts.counts.sessions)
        )
    }
}

extension Request {
    /// Whether the call may change whose watches are whose, without a change of a post.
    fileprivate var mayEndSessions: Bool {
        switch self {
        case .signUp, .signIn, .signOut, .changePassword, .resetPassword, .deleteAccount,
            .endSession,
            .changeUser:
            true
        default: false
        }
    }
}

extension Limits {
    /// What Hello announces.
    fileprivate init(_ limits: CallLimits) {
        self.init(
            maximumFrameByteCount: UInt32(MemoryState.frameByteCount),
            maximumInFlightCount: 256,
            defaultPageSize: UInt32(limits.defaultPageSize),
            maximumPageSize: UInt32(limits.maximumPageSize),
            maximumBatchGetCount: UInt32(limits.maximumBatchGetCount),
            maximumBatchVoteCount: UInt32(limits.maximumBatchVoteCount),
            maximumSyncPostCount: UInt32(limits.maximumSyncPostCount),
            maximumWatchTopCount: UInt32(limits.maximumWatchTopCount),
            maximumTimeoutMilliseconds: 60_000,
            idleTimeoutMilliseconds: 90_000,
            sequenceWindow: 256,
            maximumImportPostCount: UInt32(limits.maximumImportPostCount),
            maximumWatchPostCount: UInt32(limits.maximumWatchPostCount),
            maximumWatchCount: UInt32(limits.maximumWatchesPerConnection),
            maximumTitleLength: UInt32(limits.defaultTitleCharacterCount),
            maximumTitleByteCount: UInt32(limits.defaultTitleByteLimit)
        )
    }
}

extension Status {
    fileprivate static var watchIsNoCall: Status {
        Status(
            code: .unimplemented,
            reason: .unknownMethod,
            message: "A watch is no call of one answer: begin it with watch(_:interval:)."
        )
    }

    /// The call is one that a service in memory does not have.
    fileprivate static var unknownMethod: Status {
        Status(
            code: .unimplemented,
            reason: .unknownMethod,
            message: "A service in memory does not have this call."
        )
    }
}
