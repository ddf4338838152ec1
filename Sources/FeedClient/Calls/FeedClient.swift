public import FeedProto
internal import FeedTransport

/// A client of the feed service whose calls are async functions.
///
/// Any number of tasks may use one client: all calls share one connection, leave in the order in
/// which they were made, and do not wait for one another's answers. Calls beyond the number that
/// the service takes in flight wait in order. A thread of the client's own runs the connection.
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

    /// What the service answered to Hello on the first connection: name, instance and limits.
    public let service: HelloResponse

    private let link: Link
    private let timeout: Duration
    /// The user whom the calls act for; 0 is the client itself.
    private let actingUserID: UInt64

    private init(
        _ link: Link,
        _ service: HelloResponse,
        timeout: Duration,
        actingUserID: UInt64 = 0
    ) {
        self.link = link
        self.service = service
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
        let link = try makeLink(to: address, configuration)
        do throws(FeedClientError) {
            let service = try await link.open(
                timeout: configuration.openTimeout ?? configuration.connectTimeout
            )
            return FeedClient(link, service, timeout: configuration.timeout)
        } catch {
            await link.close()
            throw error
        }
    }

    /// The same client, whose calls act for a user: the votes, marks and posts are the user's.
    ///
    /// Only a service may act for users (`SERVICE_ONLY`). It shares the connection, so closing one of
    /// the two closes both.
    ///
    /// - Parameter userID: An account, or a user of the service's own: an id with the top bit set.
    /// - Returns: The client for the user.
    public func acting(for userID: UInt64) -> FeedClient {
        FeedClient(link, service, timeout: timeout, actingUserID: userID)
    }

    /// Answers a request over the connection; nil is the client's ``ClientConfiguration/timeout``.
    public func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        try await link.call(
            request,
            minimumRevision: minimumRevision,
            actingUserID: actingUserID,
            timeout: timeout ?? self.timeout
        )
    }

    /// What the client sent again so far; nil once it is closed.
    package func history() async -> ConnectionHistory? { await link.history() }

    /// Finishes the calls that were made before, closes the connection and ends the thread.
    ///
    /// No connection is opened for it: calls that wait for one end with ``FeedClientError/closed``.
    /// Calls made afterwards are ``FeedClientError/closed``. A client that is no longer referenced
    /// closes by itself.
    public func close() async {
        await link.close()
    }

    private static func makeLink(
        to address: String,
        _ configuration: ClientConfiguration
    ) throws(FeedClientError) -> Link {
        let endpoint: Endpoint
        do {
            endpoint = try Endpoint(parsing: address)
        } catch {
            throw .badAddress(reason: error.description)
        }
        ProcessSetup.ignoreBrokenPipes()
        do {
            return try Link(to: endpoint, configuration)
        } catch {
            throw .cannotConnect(reason: error.description)
        }
    }
}

extension FeedClient {
    /// Makes calls, which leave in their order, and waits until all have ended.
    func call(all requests: [Request]) async -> [Result<Answer, FeedClientError>] {
        await link.call(requests, actingUserID: actingUserID, timeout: timeout)
    }
}
