public import FeedProto

/// What a program calls the feed service through: ``FeedClient``, or a stand-in for it.
///
/// A program that takes an `any FeedCalling` runs over a connection, and in its tests over the
/// `InMemoryFeedClient` of the library FeedClientTesting, which needs neither a service nor a network.
///
/// ```swift
/// func like(_ id: PostID, over feed: any FeedCalling) async throws {
///     try await feed.vote(on: id, .up)
/// }
/// ```
///
/// A conforming type answers requests; all named calls, as ``vote(on:_:timeout:)``, are made of that.
public protocol FeedCalling: Sendable {
    /// What the service answered to the last Hello: its name, its instance and its limits; nil before the
    /// client was connected once.
    ///
    /// Its `user` is the one of then; ``user`` is the one of now.
    var service: HelloResponse? { get }

    /// Who is signed in now, as far as the client knows; nil is nobody.
    var user: User? { get }

    /// The user of now, and each one that follows: a sign-in, a sign-out, or nil if the service has ended the
    /// session; for each task that asks, a stream of its own.
    var userChanges: AsyncStream<User?> { get }

    /// Answers a request; programs use ``call(_:minimumRevision:timeout:)`` or the named calls.
    ///
    /// - Parameters:
    ///   - request: The call.
    ///   - minimumRevision: Never answer from an older state than this; 0 is any.
    ///   - timeout: How long it may take; nil is a default of the conforming type.
    /// - Returns: The answer, of the kind that the call has.
    /// - Throws: A ``FeedClientError``; its effect says whether the call may have been executed.
    func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer

    /// The same client, whose calls act for a user: the votes, marks and posts are the user's.
    ///
    /// Only a service may act for users (`SERVICE_ONLY`). Closing one of the two closes both.
    ///
    /// - Parameter userID: An account, or a user of the service's own: `UserID.ofService(_:)`.
    /// - Returns: The client for the user.
    func acting(for userID: UserID) -> Self

    /// Finishes the calls that were made before; calls made afterwards are
    /// ``FeedClientError/closed``.
    func close() async
}

/// What a stand-in without accounts of its own need not have.
extension FeedCalling {
    /// The user whom the service has named.
    public var user: User? { service?.user }

    /// The user whom the service has named, alone.
    public var userChanges: AsyncStream<User?> {
        AsyncStream { changes in
            changes.yield(user)
            changes.finish()
        }
    }
}

extension FeedCalling {
    /// Makes any call of the contract; the methods named after calls are more convenient.
    ///
    /// - Parameters:
    ///   - request: The call.
    ///   - minimumRevision: Never answer from an older state than this; 0 is any.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The answer, of the kind that the call has.
    /// - Throws: A ``FeedClientError``; its effect says whether the call may have been executed.
    public func call(
        _ request: Request,
        minimumRevision: UInt64 = 0,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Answer {
        try await answer(to: request, minimumRevision: minimumRevision, timeout: timeout)
    }

    /// Makes a call and extracts the value of its answer, which is nil if the answer is of
    /// another kind.
    func call<Value>(
        _ request: Request,
        timeout: Duration?,
        _ value: (Response) -> Value?
    ) async throws(FeedClientError) -> Value {
        let answer = try await answer(to: request, minimumRevision: 0, timeout: timeout)
        guard let value = value(answer.response) else { throw .wrongAnswer(to: request) }
        return value
    }

    /// Makes a call whose answer is empty.
    func emptyCall(_ request: Request, timeout: Duration?) async throws(FeedClientError) {
        try await call(request, timeout: timeout) { if case .empty = $0 { () } else { nil } }
    }
}

/// What the service answered, and from which state.
public struct Answer: Sendable, Equatable {
    /// The answer.
    public var response: Response
    /// The revision of the state that the answer reflects.
    ///
    /// Ask for it on another connection to read there what was written here.
    public var revision: UInt64

    /// An answer; programs make one in their tests.
    public init(response: Response, revision: UInt64) {
        self.response = response
        self.revision = revision
    }
}

/// A client that also has watches: ``FeedClient``, or a stand-in for it.
///
/// It is a protocol of its own, so that a type that answers calls alone need not have watches. A program
/// that watches takes an `any FeedWatching`, which is an `any FeedCalling` too.
public protocol FeedWatching: FeedCalling {
    /// The posts of a watch, which follow their changes; it begins with the first iteration.
    ///
    /// - Parameters:
    ///   - watch: What is watched.
    ///   - interval: The least time between two changes, from 50 ms to a minute; nil is 250 ms.
    /// - Returns: The newest state, whenever something has changed.
    func watch(_ watch: PostWatch, interval: Duration?) -> WatchSequence
}

extension FeedWatching {
    /// The posts of a watch, which follow their changes at most four times a second.
    public func watch(_ watch: PostWatch) -> WatchSequence { self.watch(watch, interval: nil) }

    /// The first posts of a list as a person sees them: they follow their changes, and rows stay in place.
    ///
    /// - Parameters:
    ///   - list: The feed, the order and which posts.
    ///   - limit: How many posts: 1 to 100.
    /// - Returns: The newest state, whenever something has changed.
    public func observe(_ list: PostList, limit: Int = 20) -> WatchSequence {
        watch(PostWatch(.top(limit), of: list))
    }
}

extension Request {
    /// Whether executing the request may change the service's state; an unknown request may.
    var mayHaveEffect: Bool {
        switch self {
        case .hello, .ping, .cancel, .getSession, .listSessions, .getPost, .batchGetPosts,
            .listPosts, .syncPosts, .watchPosts, .getPostRank, .listFeeds, .getServerStats,
            .clusterStatus:
            false
        case .correctTimes(let request): request.appliesCorrection
        case .deletePosts(let request): request.deletesPosts
        default:
            true
        }
    }

    /// Whether the protocol gives the request a sequence, by which it is executed once.
    var takesSequence: Bool {
        switch self {
        case .createPost, .importPosts, .updatePost, .deletePost, .castVote, .batchCastVotes,
            .markPosts, .createFeed:
            true
        default:
            false
        }
    }
}
