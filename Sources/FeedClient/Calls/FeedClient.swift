public import FeedProto
internal import FeedTransport

/// A client of the feed service whose calls are async functions.
///
/// Any number of tasks may use one client: all calls share one connection, or a few
/// (``ClientConfiguration/connectionCount``). Over each they leave in the order in which they were made,
/// and do not wait for one another's answers. Calls beyond the number that the service takes in flight
/// wait in order. A thread of the client's own runs the connections.
///
/// ```swift
/// let client = try await FeedClient.connect(to: "127.0.0.1:7433")
/// let post = try await client.createPost(Post(title: "Apple"))
/// let counts = try await client.vote(on: post.id, .up)
/// await client.close()
/// ```
///
/// Every call ends: by its answer, or by a ``FeedClientError`` that says whether the call may have
/// been executed. A lost connection is opened again while calls wait. Reads are asked again; changes
/// are sent again where the client has an id, and executed once.
public final class FeedClient: FeedCalling {
    /// Where a service listens by default.
    public static let defaultAddress = "127.0.0.1:7433"

    /// The address of a service as people type it: where it has no port, with that of the usual address,
    /// which nil stands for.
    package static func address(of target: String?, usual: String = defaultAddress) -> String {
        guard let target else { return usual }
        let hasPort = target.hasPrefix("[") ? !target.hasSuffix("]") : target.contains(":")
        return hasPort || target.isEmpty ? target : target + usual.drop { $0 != ":" }
    }

    /// What the service answered to Hello on the first connection: name, instance and limits.
    ///
    /// Its `user` is the one of then; ``FeedCalling/session(timeout:)`` says who is signed in now.
    public let service: HelloResponse

    let links: LinkPool
    let sessionStore: (any SessionStore)?
    let timeout: Duration
    /// The user whom the calls act for; 0 is the client itself.
    let actingUserID: UInt64

    private init(
        _ links: LinkPool,
        _ service: HelloResponse,
        _ sessionStore: (any SessionStore)?,
        timeout: Duration,
        actingUserID: UInt64 = 0
    ) {
        self.links = links
        self.service = service
        self.sessionStore = sessionStore
        self.timeout = timeout
        self.actingUserID = actingUserID
    }

    /// Connects to a service at `127.0.0.1:7433`, `[::1]:7433` or `feed.example.org:7433` and
    /// introduces the client to it.
    ///
    /// All addresses of a name are tried in order. `localhost` is the IPv4 loopback address. From
    /// here on, writing to a closed connection is an error and no longer a signal (SIGPIPE) that
    /// ends the process.
    public static func connect(
        to address: String = defaultAddress,
        configuration: ClientConfiguration = ClientConfiguration()
    ) async throws(FeedClientError) -> FeedClient {
        try await connect(to: [address], configuration: configuration)
    }

    /// Connects to the first of several services that answers, and to another one when it fails.
    ///
    /// Each try to connect begins with the service that was reached last. The services have to be one
    /// instance, as the addresses of one service are. Where another instance answers, changes without an
    /// answer end in doubt.
    ///
    /// - Parameters:
    ///   - addresses: One address at least; they share the time of a try.
    ///   - configuration: How the client introduces itself, and how patient it is.
    /// - Returns: The client.
    /// - Throws: A ``FeedClientError``: that of the last service that was tried.
    public static func connect(
        to addresses: [String],
        configuration: ClientConfiguration = ClientConfiguration()
    ) async throws(FeedClientError) -> FeedClient {
        let store = configuration.sessionStore
        guard configuration.sessionToken == nil, let session = store?.load() else {
            return try await open(addresses, configuration)
        }
        var configuration = configuration
        configuration.sessionToken = session.token
        do throws(FeedClientError) {
            return try await open(addresses, configuration)
        } catch {
            guard error.endsSession else { throw error }
            store?.remove()
            configuration.sessionToken = nil
            return try await open(addresses, configuration)
        }
    }

    private static func open(
        _ addresses: [String],
        _ configuration: ClientConfiguration
    ) async throws(FeedClientError) -> FeedClient {
        let links = try makeLinks(to: addresses, configuration)
        do throws(FeedClientError) {
            let service = try await links.first.open(
                timeout: configuration.openTimeout ?? configuration.connectTimeout
            )
            return FeedClient(
                links,
                service,
                configuration.sessionStore,
                timeout: configuration.timeout
            )
        } catch {
            await links.close()
            throw error
        }
    }

    /// The same client, whose calls act for a user: the votes, marks and posts are the user's.
    ///
    /// Only a service may act for users (`SERVICE_ONLY`). It shares the connections, so closing one of
    /// the two closes both.
    ///
    /// - Parameter userID: An account, or a user of the service's own: an id with the top bit set.
    /// - Returns: The client for the user.
    public func acting(for userID: UInt64) -> FeedClient {
        FeedClient(links, service, sessionStore, timeout: timeout, actingUserID: userID)
    }

    /// Answers a request over the connection; nil is the client's ``ClientConfiguration/timeout``.
    public func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        switch request {
        case .watchPosts, .cancel: throw .watchIsNoCall
        default: break
        }
        let changeCount = links.sessionChangeCount
        let answer: Answer
        do throws(FeedClientError) {
            answer = try await links.link(for: request).call(
                request,
                minimumRevision: minimumRevision,
                actingUserID: actingUserID,
                timeout: timeout ?? self.timeout
            )
        } catch {
            // The end of a session says nothing of one that has begun since.
            if error.endsSession, changeCount == links.sessionChangeCount { sessionStore?.remove() }
            throw error
        }
        if let change = SessionChange(answer.response, to: request) { adopt(change) }
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
    public func close() async {
        await links.close()
    }

    private static func makeLinks(
        to addresses: [String],
        _ configuration: ClientConfiguration
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
                hosts[endpoint] = ClientSecurity.host(of: address)
            } catch {
                throw .badAddress(reason: error.description)
            }
        }
        var configuration = configuration
        if let tls = configuration.tls {
            configuration.security = try ClientSecurity(tls, hosts: hosts)
        }
        ProcessSetup.ignoreBrokenPipes()
        do {
            return try LinkPool(to: endpoints, configuration)
        } catch {
            throw .cannotConnect(reason: error.description)
        }
    }
}

extension FeedClient {
    /// Makes calls, which leave in their order, and waits until all have ended.
    func call(all requests: [Request]) async -> [Result<Answer, FeedClientError>] {
        await links.first.call(requests, actingUserID: actingUserID, timeout: timeout)
    }
}
