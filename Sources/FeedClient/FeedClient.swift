internal import FeedNetwork
public import FeedProto

/// A client of the feed service whose calls are async functions.
///
/// Any number of tasks may use one client: all calls share one connection, or a few
/// (``ClientConfiguration/connectionCount``). Over each they leave in the order in which they were made,
/// and do not wait for one another's answers. Calls beyond the number that the service takes in flight
/// wait in order. A thread of the client's own runs the connections.
///
/// ```swift
/// let client = try FeedClient(to: "127.0.0.1:7433")
/// let post = try await client.createPost(PostDraft(title: "Apple"))
/// let counts = try await client.vote(on: post.id, .up)
/// await client.close()
/// ```
///
/// Every call ends: by its answer, or by a ``FeedClientError`` that says whether the call may have
/// been executed. A lost connection is opened again while calls wait. Reads are asked again; changes
/// are sent again if the client has an id, and executed once.
public final class FeedClient: FeedCalling {
    /// Where a service listens by default.
    public static let defaultAddress = "127.0.0.1:7433"

    /// The address of a service as people type it: if it has no port, with that of the usual address,
    /// which nil stands for.
    package static func address(of target: String?, usual: String = defaultAddress) -> String {
        guard let target else { return usual }
        let hasPort = target.hasPrefix("[") ? !target.hasSuffix("]") : target.contains(":")
        return hasPort || target.isEmpty ? target : target + usual.drop { $0 != ":" }
    }

    /// The addresses of the services of a cluster as people type them, with commas between them; one of a
    /// service alone.
    package static func addresses(of target: String?, usual: String = defaultAddress) -> [String] {
        guard let target, target.contains(",") else { return [address(of: target, usual: usual)] }
        return target.split(separator: ",", omittingEmptySubsequences: false)
            .map { address(of: String($0), usual: usual) }
    }

    private let links: LinkPool
    private let configuration: ClientConfiguration
    /// The user whom the calls act for; 0 is the client itself.
    private let actingUserID: UserID

    private init(
        _ links: LinkPool,
        _ configuration: ClientConfiguration,
        actingUserID: UserID = 0
    ) {
        self.links = links
        self.configuration = configuration
        self.actingUserID = actingUserID
    }

    /// A client of a service at `127.0.0.1:7433`, `[::1]:7433` or `feed.example.org:7433`, which connects
    /// with its first call or watch.
    ///
    /// A call waits for the connection until its deadline, as it does after a loss. All addresses of a name
    /// are tried in order. `localhost` is the IPv4 loopback address. From here on, writing to a closed
    /// connection is an error and no longer a signal (SIGPIPE) that ends the process.
    ///
    /// - Parameters:
    ///   - address: Where the service listens.
    ///   - configuration: How the client introduces itself, and how patient it is.
    /// - Throws: A ``FeedClientError`` if the address is none, or a file of ``ClientConfiguration/tls``
    ///   cannot be used; nothing for want of a network.
    public convenience init(
        to address: String = defaultAddress,
        configuration: ClientConfiguration = ClientConfiguration()
    ) throws(FeedClientError) {
        try self.init(to: [address], configuration: configuration)
    }

    /// A client of the first of several services that answers, and of another one when it fails.
    ///
    /// Each try to connect begins with the service that was reached last. The services have to be one
    /// instance, as the addresses of one service are, or those of a cluster, of which the client finds the
    /// leader. If another instance answers, changes without an answer end in doubt.
    ///
    /// - Parameters:
    ///   - addresses: One address at least; they share the time of a try.
    ///   - configuration: How the client introduces itself, and how patient it is.
    /// - Throws: A ``FeedClientError`` if an address is none, or a file of ``ClientConfiguration/tls``
    ///   cannot be used; nothing for want of a network.
    public convenience init(
        to addresses: [String],
        configuration: ClientConfiguration = ClientConfiguration()
    ) throws(FeedClientError) {
        var configuration = configuration
        var userID: UserID?
        if configuration.sessionToken == nil, let session = configuration.sessionStore?.load() {
            configuration.sessionToken = session.token
            userID = session.userID
        }
        let knowledge = ClientKnowledge(token: configuration.sessionToken, userID: userID)
        let links = try Self.makeLinks(to: addresses, configuration, knowledge)
        self.init(links, configuration)
    }

    /// A client that is connected, for programs that want to know at once whether the service answers.
    ///
    /// - Parameters:
    ///   - address: Where the service listens, as ``init(to:configuration:)-(String,_)`` takes it.
    ///   - configuration: How the client introduces itself, and how patient it is.
    /// - Returns: The client, whose ``service`` is not nil.
    /// - Throws: A ``FeedClientError``, as ``connect()``.
    public static func connect(
        to address: String = defaultAddress,
        configuration: ClientConfiguration = ClientConfiguration()
    ) async throws(FeedClientError) -> FeedClient {
        try await connect(to: [address], configuration: configuration)
    }

    /// A client that is connected to the first of several services that answers.
    ///
    /// - Parameters:
    ///   - addresses: Where the services listen, as ``init(to:configuration:)-([String],_)`` takes them.
    ///   - configuration: How the client introduces itself, and how patient it is.
    /// - Returns: The client, whose ``service`` is not nil.
    /// - Throws: A ``FeedClientError``, as ``connect()``.
    public static func connect(
        to addresses: [String],
        configuration: ClientConfiguration = ClientConfiguration()
    ) async throws(FeedClientError) -> FeedClient {
        let client = try FeedClient(to: addresses, configuration: configuration)
        do throws(FeedClientError) {
            try await client.connect()
        } catch {
            await client.close()
            throw error
        }
        return client
    }

    /// Waits until the client is connected.
    ///
    /// If the service does not know a session from ``ClientConfiguration/sessionStore`` any more, the client
    /// connects as nobody.
    ///
    /// - Returns: What the service answered to Hello.
    /// - Throws: A ``FeedClientError``: the first failure, of the last service that was tried, or with
    ///   ``ClientConfiguration/waitsForService`` the last one within ``ClientConfiguration/connectTimeout``.
    @discardableResult
    public func connect() async throws(FeedClientError) -> HelloResponse {
        let limit = TimeLimit(configuration.openTimeout ?? configuration.connectTimeout)
        let service: HelloResponse
        do throws(FeedClientError) {
            service = try await links.first.open(limit)
        } catch {
            guard links.knowledge.hadStoredSession, error.endsSession else { throw error }
            removeEndedSession()
            service = try await links.first.open(limit)
        }
        if configuration.firstCallWaitsForOpening { links.first.spend(limit.spent) }
        return service
    }

    /// What the service answered to the last Hello: its name, its instance and its limits; nil before the
    /// client was connected once.
    ///
    /// Its `user` is the one of then; ``user`` is the one of now.
    public var service: HelloResponse? { links.knowledge.service }

    /// Who is signed in now, as far as the client knows; nil is nobody.
    ///
    /// Before the first connection it is the user of the stored session, with an id and no name.
    public var user: User? { links.knowledge.user.value }

    /// The user of now, and each one that follows: a sign-in, a sign-out, or nil if the service has ended the
    /// session.
    ///
    /// Each task that asks has a stream of its own, which ends with the client. Of users that it has not
    /// taken only the newest waits.
    public var userChanges: AsyncStream<User?> { links.knowledge.user.changes }

    /// The same client, whose calls act for a user: the votes, marks and posts are the user's.
    ///
    /// Only a service may act for users (`SERVICE_ONLY`). It shares the connections, so closing one of
    /// the two closes both.
    ///
    /// - Parameter userID: An account, or a user of the service's own: `UserID.ofService(_:)`.
    /// - Returns: The client for the user.
    public func acting(for userID: UserID) -> FeedClient {
        FeedClient(links, configuration, actingUserID: userID)
    }

    /// Answers a request over the connection; nil is the client's ``ClientConfiguration/timeout``.
    public func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        switch request {
        case .watchPosts, .cancel: throw .watchIsNoCall
        case .signOut(let request): return try await signOut(request, timeout)
        default: break
        }
        let answer: Answer
        do throws(FeedClientError) {
            answer = try await links.link(for: request).call(
                request,
                minimumRevision: minimumRevision,
                actingUserID: actingUserID,
                timeout: timeout ?? configuration.timeout
            )
        } catch {
            if error.endsSession { removeEndedSession() }
            throw error
        }
        keepSession(answer.response, of: request)
        return answer
    }

    /// Runs tasks on the client's thread, which saves their calls the way to another thread and back.
    ///
    /// It is for tasks that make many calls and do little between them, as the preference of a `Task` or of
    /// a child task. They share the thread with the connections: a task that computes for long holds up
    /// all calls, and one that blocks stops them. Once the client is closed, its tasks go on Swift's
    /// global executor.
    ///
    /// ```swift
    /// group.addTask(executorPreference: client.executor) { try await client.vote(on: id, .up) }
    /// ```
    public var executor: any TaskExecutor { links.executor }

    /// What the client sent again so far; nil once it is closed.
    package func history() async -> ConnectionHistory? { await links.history() }

    /// Finishes the calls that were made before, closes the connection and ends the thread.
    ///
    /// No connection is opened for it: calls that wait for one end with ``FeedClientError/closed``.
    /// Calls made afterwards are ``FeedClientError/closed``. A client that is no longer referenced
    /// closes by itself.
    public func close() async { await links.close() }

    private static func makeLinks(
        to addresses: [String],
        _ configuration: ClientConfiguration,
        _ knowledge: ClientKnowledge
    ) throws(FeedClientError) -> LinkPool {
        guard !addresses.isEmpty else {
            throw .badAddress(reason: "There is no address to connect to.")
        }
        var endpoints: [Endpoint] = []
        var hosts: [Endpoint: String] = [:]
        for address in addresses {
            do {
                let endpoint = try Endpoint(parsing: address)
                endpoints.append(endpoint)
                hosts[endpoint] = Endpoint.host(in: address)
            } catch {
                throw .badAddress(reason: error.description)
            }
        }
        var configuration = configuration
        if let tls = configuration.tls {
            configuration.security = try ClientSecurity(tls, hosts: hosts)
        }
        do {
            return try LinkPool(to: endpoints, configuration, knowledge)
        } catch {
            throw .cannotConnect(reason: error.description)
        }
    }
}

extension FeedClient {
    /// Votes on a post, as every ``FeedCalling`` does.
    ///
    /// It is a function of this type, too, since the most frequent call pays for each function that it
    /// passes. It runs where its caller does, which spares a look at the executor at each step.
    ///
    /// - Parameters:
    ///   - id: The post.
    ///   - direction: The direction of the vote.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The post's counts, including the vote.
    /// - Throws: A ``FeedClientError``, as `POST_NOT_FOUND`.
    @discardableResult
    nonisolated(nonsending) public func vote(
        on id: PostID,
        _ direction: VoteDirection,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> CastVoteResponse {
        let request = Request.castVote(CastVoteRequest(postID: id, direction: direction))
        let answer: Answer
        do throws(FeedClientError) {
            answer = try await links.link(for: request).call(
                request,
                minimumRevision: 0,
                actingUserID: actingUserID,
                timeout: timeout ?? configuration.timeout
            )
        } catch {
            if error.endsSession { removeEndedSession() }
            throw error
        }
        guard case .castVote(let counts) = answer.response else { throw .wrongAnswer(to: request) }
        return counts
    }
}

extension FeedClient: FeedWatching {
    /// The posts of a watch, which follow their changes over the first connection.
    ///
    /// - Parameters:
    ///   - watch: What is watched.
    ///   - interval: The least time between two changes, from 50 ms to a minute; nil is 250 ms.
    /// - Returns: The newest state, whenever something has changed; its iteration keeps the client.
    public func watch(_ watch: PostWatch, interval: Duration?) -> WatchSequence {
        let request = watch.request(interval: interval)
        return WatchSequence { [links, actingUserID] mailbox in
            links.first.watch(request, actingUserID: actingUserID, mailbox)
        }
    }
}

/// A client whose callers number their changes themselves, and keep the numbers beyond the process.
package protocol NumberedCalling: FeedCalling {
    /// Makes changes in their order, and waits until all have ended.
    func make(
        _ changes: [NumberedChange],
        timeout: Duration?
    ) async -> [Result<Answer, FeedClientError>]
}

extension FeedClient: NumberedCalling {
    /// Makes changes under sequences of the caller's own over the first connection, in order, and waits until
    /// all have ended.
    ///
    /// The client must have a fixed ``ClientConfiguration/channel``, and all changes on it must come through
    /// here: the client would number others itself. The caller keeps the sequences of a call within the
    /// service's window.
    package func make(
        _ changes: [NumberedChange],
        timeout: Duration?
    ) async -> [Result<Answer, FeedClientError>] {
        await links.first.call(changes, timeout: timeout ?? configuration.timeout)
    }
}

extension FeedClient {
    /// Creates posts in order, a call each, and waits until all calls have ended.
    ///
    /// One task waits for all of them, which costs less than a task for each call.
    package func createPosts(
        _ posts: [Post],
        in feed: String
    ) async -> [Result<Post, FeedClientError>] {
        let requests = posts.map { Request.createPost(CreatePostRequest(feed: feed, post: $0)) }
        let results = await links.first.call(
            requests,
            actingUserID: actingUserID,
            timeout: configuration.timeout
        )
        return zip(requests, results).map { request, result in
            result.flatMap { answer in
                guard case .post(let post) = answer.response else {
                    return .failure(.wrongAnswer(to: request))
                }
                return .success(post)
            }
        }
    }

    /// Makes calls in order, at most `depth` at a time, and takes their results in the same order.
    ///
    /// A call leaves before the next one, up to its first suspension; no item from `next` is the end. The
    /// first call that fails ends the making of calls. The results of the calls in flight are still taken,
    /// and then the failure is thrown.
    @available(iOS 26, macOS 26, *)
    package static func pipeline<Item: Sendable, Value: Sendable>(
        depth: Int,
        next: () throws -> Item?,
        call: @escaping @Sendable (Item) async throws -> Value,
        take: (Value) throws -> Void
    ) async throws {
        let failure: (any Error)? = await withTaskGroup(
            of: (number: Int, result: Result<Value, any Error>).self
        ) { group in
            var results: [Int: Result<Value, any Error>] = [:]
            var madeCount = 0
            var takenCount = 0
            var isAtEnd = false
            var failure: (any Error)?
            while true {
                while failure == nil, !isAtEnd, madeCount - takenCount < depth {
                    do {
                        guard let item = try next() else {
                            isAtEnd = true
                            break
                        }
                        let number = madeCount
                        // An immediate task runs here until it waits, so calls leave in order.
                        group.addImmediateTask { (number, await Self.result(of: item, call)) }
                        madeCount += 1
                    } catch {
                        failure = error
                    }
                }
                guard let ended = await group.next() else { return failure }
                results[ended.number] = ended.result
                while let result = results.removeValue(forKey: takenCount) {
                    takenCount += 1
                    do {
                        try take(result.get())
                    } catch {
                        failure = failure ?? error
                    }
                }
            }
        }
        if let failure { throw failure }
    }

    private static func result<Item, Value>(
        of item: Item,
        _ call: (Item) async throws -> Value
    ) async -> Result<Value, any Error> {
        do {
            return .success(try await call(item))
        } catch {
            return .failure(error)
        }
    }
}

/// Sessions that begin and end.
extension FeedClient {
    /// Lets all connections follow a session that has begun on the first one, and keeps it for the next
    /// launch.
    private func keepSession(_ response: Response, of request: Request) {
        switch (request, response) {
        case (.signUp, .session(let session)), (.signIn, .session(let session)),
            (.changePassword, .session(let session)), (.resetPassword, .session(let session)):
            guard let token = session.secret, let user = session.user else { return }
            links.adopt(sessionToken: token.bytes)
            configuration.sessionStore?.save(StoredSession(token: token, userID: user.id))
            // A sign-out that was made behind the call may have ended it meanwhile.
            removeEndedSession()
        case (.deleteAccount, _):
            forgetSession()
        default: break
        }
    }

    /// Makes the client nobody's, and returns the token of its session; empty if it had none.
    ///
    /// The store forgets first: who follows the user may open it as soon as it is told.
    @discardableResult
    private func forgetSession() -> [UInt8] {
        configuration.sessionStore?.remove()
        let token = links.knowledge.leaveSession()
        // A sign-in may have been answered in between.
        configuration.sessionStore?.remove(token)
        links.adopt(sessionToken: [])
        return token
    }

    /// Removes the session that has ended from the store, and none that another client has kept there since.
    private func removeEndedSession() {
        configuration.sessionStore?.remove(links.knowledge.endedToken)
    }

    /// Forgets the session at once, and ends it on the service: now, or else when that can be reached.
    private func signOut(
        _ request: SignOutRequest,
        _ timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        let token = forgetSession()
        do throws(FeedClientError) {
            // Calls that are made from now on leave behind it, as those of nobody.
            let answer = try await links.first.call(
                .signOut(request),
                minimumRevision: 0,
                actingUserID: actingUserID,
                timeout: timeout ?? configuration.timeout
            )
            // It may have been the one of a sign-in that had no answer yet.
            removeEndedSession()
            return answer
        } catch {
            links.first.leave(sessionToken: token)
            guard !token.isEmpty, !error.endsSession, error != .closed else { throw error }
            links.endLater(sessionToken: token)
            // Who ends the sessions of all devices has to know whether that is done.
            if request.endsEverywhere { throw error }
            if case .refused = error, !error.mayPass { throw error }
            return Answer(response: .empty, revision: 0)
        }
    }
}

extension FeedClientError {
    /// Whether the service does not know the session any more.
    package var endsSession: Bool {
        guard case .refused(let status) = self else { return false }
        return status.reason == .sessionExpired
    }
}
