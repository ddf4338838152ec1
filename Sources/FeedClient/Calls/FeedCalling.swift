public import FeedProto

/// What a program calls the feed service through: ``FeedClient``, or a stand-in for it.
///
/// A program that takes an `any FeedCalling` runs over a connection, and in its tests over the
/// `InMemoryFeedClient` of the library FeedClientTesting, which needs neither a service nor a network.
///
/// ```swift
/// func like(_ id: UInt64, over feed: any FeedCalling) async throws {
///     try await feed.vote(on: id, .up)
/// }
/// ```
///
/// A conforming type answers requests; all named calls, as ``vote(on:_:timeout:)``, are made of that.
public protocol FeedCalling: Sendable {
    /// What the service answered to the first Hello: name, instance and limits.
    ///
    /// Its `user` is the one of then; ``session(timeout:)`` says who is signed in now.
    var service: HelloResponse { get }

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
    /// - Parameter userID: An account, or a user of the service's own: an id with the top bit set.
    /// - Returns: The client for the user.
    func acting(for userID: UInt64) -> Self

    /// Finishes the calls that were made before; calls made afterwards are
    /// ``FeedClientError/closed``.
    func close() async
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

    /// Makes a call and extracts the value of its answer, which is nil where the answer is of
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
}
