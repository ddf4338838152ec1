public import FeedClient
internal import FeedConcurrency
public import FeedProto

/// A feed service without a process, a network or a disk, for the tests of programs that call one.
///
/// It answers as the real service does: it reads requests, and keeps posts, orders, votes and marks, with the
/// same code. It is deterministic where its clock is: the tests of this library run one suite against both.
///
/// ```swift
/// let service = InMemoryFeedService()
/// let ada = try service.connect(as: ClientID())
/// let post = try await ada.createPost(PostDraft(title: "Apple"))
/// service.fail { request in
///     if case .castVote = request { .connectionLost(reason: "test", effect: .unknown) } else { nil }
/// }
/// ```
///
/// It keeps nothing beyond its own life, has no deadlines, and limits neither hosts nor memory. Only an
/// offline feed sends it sequences. It refuses Backup, CorrectTimes, DeletePosts (all posts of one), Drain
/// and SetLogLevel with `UNKNOWN_METHOD`.
public final class InMemoryFeedService: Sendable {
    /// Chooses the error that a call ends with in place of its execution; nil is none.
    public typealias Fault = @Sendable (Request) -> FeedClientError?

    private let state: Lock<MemoryState>
    private let fault = Lock<Fault?>(nil)

    /// A service with the feeds `posts` and `tweets` and nothing else.
    ///
    /// - Parameters:
    ///   - serviceKeys: The keys of services; without any, each client is a service.
    ///   - clock: The time in Unix milliseconds; by default it stands still in November 2023.
    public init(
        serviceKeys: [Secret] = [],
        clock: @escaping @Sendable () -> Int64 = { 1_700_000_000_000 }
    ) {
        state = Lock(MemoryState(serviceKeys: serviceKeys, clock: clock))
    }

    /// A client of the service, one of any number.
    ///
    /// - Parameters:
    ///   - clientID: The client's identity as a device; nil is none.
    ///   - serviceKey: The key of a service; nil is none.
    ///   - sessionToken: The token of a session that was begun before; nil is none.
    /// - Returns: The client.
    /// - Throws: A ``/FeedClient/FeedClientError``, as `SESSION_EXPIRED`.
    public func connect(
        as clientID: ClientID? = nil,
        serviceKey: Secret? = nil,
        sessionToken: Secret? = nil
    ) throws(FeedClientError) -> InMemoryFeedClient {
        var configuration = ClientConfiguration()
        configuration.clientID = clientID
        configuration.serviceKey = serviceKey
        configuration.sessionToken = sessionToken
        return try greet(configuration, sessionToken)
    }

    /// A client of the service as a program's configuration introduces it: by its client id, its key and its
    /// session, which begins and ends in the `sessionStore` too.
    ///
    /// A session of the store that has ended is removed, and the client is nobody's.
    ///
    /// - Parameter configuration: The client id, the key and where the session is.
    /// - Returns: The client.
    /// - Throws: A `FeedClientError`.
    public func connect(
        _ configuration: ClientConfiguration
    ) throws(FeedClientError) -> InMemoryFeedClient {
        let stored = configuration.sessionStore?.load()?.token
        do throws(FeedClientError) {
            return try greet(configuration, configuration.sessionToken ?? stored)
        } catch {
            guard error.endsSession, configuration.sessionToken == nil, let stored else {
                throw error
            }
            configuration.sessionStore?.remove(stored.bytes)
            return try greet(configuration, nil)
        }
    }

    private func greet(
        _ configuration: ClientConfiguration,
        _ token: Secret?
    ) throws(FeedClientError) -> InMemoryFeedClient {
        let hello = HelloRequest(
            clientID: configuration.clientID?.bytes ?? [],
            sessionToken: token?.bytes ?? [],
            serviceKey: configuration.serviceKey?.bytes ?? [],
            channel: configuration.channel ?? 0
        )
        do throws(Status) {
            let (caller, response) = try state.withLock {
                (state) throws(Status) -> (MemoryCaller, HelloResponse) in try state.greet(hello)
            }
            return InMemoryFeedClient(self, caller, response, sessions: configuration.sessionStore)
        } catch {
            throw .refused(error)
        }
    }

    /// Lets later calls fail, of all clients, for tests of what a program does then.
    ///
    /// A call that fails in this way is not executed. Its error may say something else.
    ///
    /// - Parameter fault: The error for a call; nil, also as its result, is none.
    public func fail(_ fault: Fault?) {
        self.fault.withLock { $0 = fault }
    }

    /// Begins a watch of a client, and returns what ends it.
    func watch(
        _ request: WatchPostsRequest,
        actingUserID: UserID,
        from caller: MemoryCaller,
        _ mailbox: WatchMailbox
    ) -> @Sendable () -> Void {
        if let error = fault.withLock({ $0 })?(.watchPosts(request)) {
            mailbox.end(error)
            return {}
        }
        let watch = MemoryWatch(
            request: request,
            actingUserID: actingUserID,
            caller: caller,
            copy: WatchCopy(of: request),
            mailbox: mailbox
        )
        let number = state.withLock { state in
            let number = state.takeNumber()
            do throws(Status) {
                try state.beginWatch(number, watch)
            } catch {
                mailbox.end(.refused(error))
            }
            return number
        }
        return { [self] in state.withLock { $0.endWatch(number) } }
    }

    /// Ends the watches of a client that is closed.
    func endWatches(of caller: MemoryCaller) {
        state.withLock { $0.endWatches(of: caller, .closed) }
    }

    /// Executes a call of a client, a numbered change once.
    func answer(
        to request: Request,
        minimumRevision: UInt64,
        actingUserID: UserID,
        from caller: inout MemoryCaller,
        numbered change: NumberedChange? = nil
    ) throws(FeedClientError) -> Answer {
        if let error = fault.withLock({ $0 })?(request) { throw error }
        let id = caller.channelID
        if let id, let change {
            let known = try state.withLock { (state) throws(FeedClientError) -> Answer? in
                try state.channels[id]?.answer(to: change)
            }
            if let known { return known }
        }
        let call = MemoryCall(minimumRevision: minimumRevision, actingUserID: actingUserID)
        do throws(Status) {
            return try state.withLock { (state) throws(Status) -> Answer in
                let answer = try state.answer(to: request, call, from: &caller)
                if let id, let change { state.channels[id]?.keep(answer, to: change) }
                return answer
            }
        } catch {
            throw .refused(error)
        }
    }
}
