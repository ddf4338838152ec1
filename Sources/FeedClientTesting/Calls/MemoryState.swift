internal import FeedClient
internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

/// The state of a service in memory, and how it answers; one caller at a time.
struct MemoryState {
    let store: FeedStore
    let serviceKeys: [Secret]
    let clock: @Sendable () -> Int64
    var accounts = MemoryAccounts()
    var tokens = PageTokens()
    /// The watches that have not ended, by numbers in the order in which they have begun.
    var watches: [UInt64: MemoryWatch] = [:]
    /// The sessions whose end a watch has told to a client, by the numbers of the clients.
    var endedTokens: [UInt64: [UInt8]] = [:]
    private var lastNumber: UInt64 = 0

    /// A state with the feeds that every service has.
    init(serviceKeys: [Secret], clock: @escaping @Sendable () -> Int64) {
        self.serviceKeys = serviceKeys
        self.clock = clock
        store = FeedStore(stripeCount: 1, clock: clock)
    }

    /// Answers Hello.
    mutating func greet(_ hello: HelloRequest) throws(Status) -> (MemoryCaller, HelloResponse) {
        var caller = MemoryCaller(
            number: takeNumber(),
            device: Device16(hello.clientID),
            isService: serviceKeys.isEmpty
        )
        if !hello.serviceKey.isEmpty, !serviceKeys.isEmpty {
            guard serviceKeys.contains(where: { $0.bytes == hello.serviceKey }) else {
                throw .badCredentials
            }
            caller.isService = true
        }
        caller.token = hello.sessionToken
        let session = try session(of: caller)
        let response = HelloResponse(
            serverName: "feed-service in memory",
            instanceID: 1,
            serverTimeMilliseconds: clock(),
            limits: MemoryLimits.announced,
            user: session?.user,
            capabilities: [.stablePages, .accounts, .watch]
        )
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
            throw Status(
                code: .failedPrecondition,
                reason: .instanceChanged,
                message: "The newest revision is \(store.revision), not \(call.minimumRevision)."
            )
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
                endWatches(of: caller, .refused(error))
            }
            throw error
        }
        if store.revision > before { caller.lastChange = store.revision }
        return Answer(response: response, revision: store.revision)
    }

    private mutating func execute(
        _ request: Request,
        _ call: MemoryCall,
        from caller: inout MemoryCaller
    ) throws(Status) -> Response {
        switch request {
        case .signUp(let request): return try signUp(request, from: &caller)
        case .signIn(let request): return try signIn(request, from: &caller)
        case .getSession: return .session(try requireSession(of: caller))
        case .signOut(let request): return try signOut(request, from: &caller)
        default: break
        }
        let viewer = try viewer(of: caller, call)
        switch request {
        case .castVote(let request): return .castVote(try castVote(request, viewer))
        case .batchCastVotes(let request): return try castVotes(request, viewer)
        case .createPost(let request): return try createPost(request, viewer)
        case .getPost(let request): return .post(try post(request.id, viewer))
        case .batchGetPosts(let request): return try posts(request, viewer)
        case .updatePost(let request): return try updatePost(request, viewer, caller)
        case .deletePost(let request): return try deletePost(request, viewer, caller)
        case .listPosts(let request): return try listPosts(request, call, viewer, caller)
        case .getPostRank(let request): return try rank(request)
        case .markPosts(let request): return try markPosts(request, viewer)
        case .listFeeds: return listFeeds(viewer)
        case .createFeed(let request): return try createFeed(request, caller)
        case .importPosts(let request): return try importPosts(request, caller)
        case .ping(let request): return try ping(request)
        case .getServerStats: return .serverStats(stats)
        case .watchPosts, .cancel: throw .watchIsNoCall
        default: throw .unknownMethod
        }
    }

    /// Refuses a caller that is no service.
    func requireService(_ caller: MemoryCaller) throws(Status) {
        guard caller.isService else { throw .serviceOnly }
    }

    func checkActing(for user: UInt64, _ caller: MemoryCaller) throws(Status) {
        guard user != 0 else { return }
        try requireService(caller)
        guard user >> 63 == 1 || accounts.name(of: user) != nil else {
            throw .invalid(.badField, "acting_user_id", actual: user)
        }
    }

    /// The one who a call is of.
    mutating func viewer(
        of caller: MemoryCaller,
        _ call: MemoryCall
    ) throws(Status) -> MemoryViewer {
        let session = try session(of: caller)
        let userID = call.actingUserID != 0 ? call.actingUserID : session?.user?.id ?? 0
        guard userID == 0 else {
            return MemoryViewer(
                userID: userID,
                name: accounts.name(of: userID),
                key: .user(userID)
            )
        }
        return MemoryViewer(userID: 0, key: caller.device.map(VoterKey.device))
    }
}

extension Request {
    /// Whether the call may change whose watches are whose, without a change of a post.
    fileprivate var mayEndSessions: Bool {
        switch self {
        case .signUp, .signIn, .signOut: true
        default: false
        }
    }
}

extension Device16 {
    /// The device of a client id; nil of none.
    fileprivate init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        let words = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: words[0], low: words[1])
    }
}
