public import FeedClient
internal import FeedConcurrency
public import FeedProto

/// A client of an ``InMemoryFeedService``, which makes it.
public final class InMemoryFeedClient: FeedWatching {
    /// What the clients for users share with the client that made them.
    private final class Connection: Sendable {
        /// The caller; nil once the client is closed.
        let caller: Lock<MemoryCaller?>
        let user: CurrentUser
        /// Where the session is kept; nil is nowhere.
        let sessions: (any SessionStore)?

        init(_ caller: MemoryCaller, _ sessions: (any SessionStore)?) {
            self.caller = Lock(caller)
            user = caller.user
            self.sessions = sessions
        }

        func begin(_ session: UserSession) {
            guard let token = session.secret, let user = session.user else { return }
            sessions?.save(StoredSession(token: token, userID: user.id))
        }
    }

    /// What the service answered to Hello.
    public let service: HelloResponse?

    /// Who is signed in; nil is nobody.
    public var user: User? { connection.user.value }

    /// The user of now, and each one that follows.
    public var userChanges: AsyncStream<User?> { connection.user.changes }

    private let memory: InMemoryFeedService
    private let connection: Connection
    private let actingUserID: UserID

    convenience init(
        _ memory: InMemoryFeedService,
        _ caller: MemoryCaller,
        _ service: HelloResponse,
        sessions: (any SessionStore)?
    ) {
        self.init(memory, Connection(caller, sessions), service, actingUserID: 0)
    }

    private init(
        _ memory: InMemoryFeedService,
        _ connection: Connection,
        _ service: HelloResponse?,
        actingUserID: UserID
    ) {
        self.memory = memory
        self.connection = connection
        self.service = service
        self.actingUserID = actingUserID
    }

    /// Answers a request at once; the timeout is not read.
    public func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        try answer(to: request, minimumRevision: minimumRevision, numbered: nil)
    }

    /// Answers a request, and a numbered change with what was answered before.
    func answer(
        to request: Request,
        minimumRevision: UInt64 = 0,
        numbered change: NumberedChange?
    ) throws(FeedClientError) -> Answer {
        // A caller calls alone, as on a connection: a sign-in and the call after it keep their order.
        try connection.caller.withLock { (caller) throws(FeedClientError) -> Answer in
            // A client forgets its session also if the service does not hear of that, and its store first.
            if case .signOut = request { connection.sessions?.remove() }
            guard var calling = caller else { throw .closed }
            let token = calling.token
            defer { caller = calling }
            do throws(FeedClientError) {
                guard !Task.isCancelled else { throw .cancelled(effect: .none) }
                let answer = try memory.answer(
                    to: request,
                    minimumRevision: minimumRevision,
                    actingUserID: actingUserID,
                    from: &calling,
                    numbered: change
                )
                if case .session(let session) = answer.response { connection.begin(session) }
                if case .deleteAccount = request { connection.sessions?.remove() }
                return answer
            } catch {
                if error.endsSession { connection.sessions?.remove(token) }
                guard case .signOut(let request) = request, !calling.token.isEmpty else {
                    throw error
                }
                calling.token = []
                calling.user.set(nil)
                if request.endsEverywhere { throw error }
                if case .refused(let status) = error, !status.isTemporary { throw error }
                return Answer(response: .empty, revision: 0)
            }
        }
    }

    /// The posts of a watch, which show each change before its call has ended.
    ///
    /// The interval is not read: all that has changed since the element before is in the next one.
    public func watch(_ watch: PostWatch, interval: Duration?) -> WatchSequence {
        let request = watch.request(interval: interval)
        return WatchSequence { [memory, connection, actingUserID] mailbox in
            connection.caller.withLock { caller in
                guard let caller else {
                    mailbox.end(.closed)
                    return {}
                }
                return memory.watch(request, actingUserID: actingUserID, from: caller, mailbox)
            }
        }
    }

    /// The same client, whose calls act for a user.
    public func acting(for userID: UserID) -> InMemoryFeedClient {
        InMemoryFeedClient(memory, connection, service, actingUserID: userID)
    }

    /// Ends the client; calls made afterwards are ``/FeedClient/FeedClientError/closed``.
    public func close() async {
        guard let caller = connection.caller.withLock({ $0.take() }) else { return }
        memory.endWatches(of: caller)
        connection.user.finish()
    }
}
