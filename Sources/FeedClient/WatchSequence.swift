internal import FeedConcurrency

/// A watch: the newest state of its posts, whenever something has changed.
///
/// ```swift
/// let watch = client.watch(PostWatch(.top(20), in: "posts", order: .top))
/// for try await posts in watch {
///     show(posts.rows)    // in the order that the reader sees, with the numbers of now
///     showButton(posts.hasNewOrder || posts.newPostCount > 0)
/// }
/// ```
///
/// Rows stay where they are until ``refresh()``, but a list without rows fills. The watch begins with the
/// first element that is waited for, and ends with the iteration, with its task, or with the client. A slow
/// program gets the newest state: states in between are dropped, and no more than one waits.
///
/// A lost connection and a service that stops for a while are no end: the watch resumes once the
/// service answers again. The sequence ends with a ``FeedClientError``: a refusal that does not pass,
/// ``FeedClientError/requestTooLarge(byteCount:limitByteCount:)``,
/// ``FeedClientError/cancelled(effect:)`` of its task, or ``FeedClientError/closed``.
public struct WatchSequence: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = WatchedPosts
    /// Why it ends.
    public typealias Failure = FeedClientError

    /// Begins a watch that fills the mailbox, and returns what ends it.
    package typealias Begin = @Sendable (WatchMailbox) -> @Sendable () -> Void

    fileprivate let begin: Begin
    fileprivate let iterations = Iterations()

    /// The watches that a function begins, one for each iteration.
    package init(_ begin: @escaping Begin) { self.begin = begin }

    /// Puts the rows into the order of now: the iteration gets an element with it at once.
    ///
    /// Any task may call it. Before the first element there is nothing to do.
    public func refresh() {
        for mailbox in iterations.all { mailbox.refresh() }
    }

    /// Begins a watch of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(Iteration(of: self)) }

    /// The watch of one iteration, which ends with it.
    public struct Iterator: AsyncIteratorProtocol {
        private let iteration: Iteration

        fileprivate init(_ iteration: Iteration) { self.iteration = iteration }

        /// The newest state, once there is one that was not returned before.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(FeedClientError) -> WatchedPosts? {
            try await iteration.next()
        }

        /// The newest state, once there is one that was not returned before.
        public mutating func next() async throws(FeedClientError) -> WatchedPosts? {
            try await next(isolation: nil)
        }
    }

    /// What an iterator and its copies hold.
    fileprivate final class Iteration: Sendable {
        private let mailbox = WatchMailbox()
        private let begin: Begin
        private let iterations: Iterations
        /// Ends the watch; nil before it has begun.
        private let end = Lock<(@Sendable () -> Void)?>(nil)

        init(of sequence: WatchSequence) {
            begin = sequence.begin
            iterations = sequence.iterations
            iterations.add(mailbox)
        }

        deinit {
            iterations.remove(mailbox)
            end.withLock { $0 }?()
        }

        func next() async throws(FeedClientError) -> WatchedPosts? {
            guard !Task.isCancelled else {
                cancel()
                return try await mailbox.next().get()
            }
            let isFirst = end.withLock { $0 == nil }
            if isFirst {
                let ending = begin(mailbox)
                end.withLock { $0 = ending }
            }
            let outcome = await withTaskCancellationHandler {
                await mailbox.next()
            } onCancel: {
                cancel()
            }
            return try outcome.get()
        }

        private func cancel() {
            mailbox.end(.cancelled(effect: .none))
            end.withLock { $0 }?()
        }
    }

    /// The mailboxes of the iterations, for a refresh.
    fileprivate final class Iterations: Sendable {
        private let mailboxes = Lock<[ObjectIdentifier: WatchMailbox]>([:])

        var all: [WatchMailbox] { mailboxes.withLock { Array($0.values) } }

        func add(_ mailbox: WatchMailbox) {
            mailboxes.withLock { $0[ObjectIdentifier(mailbox)] = mailbox }
        }

        func remove(_ mailbox: WatchMailbox) {
            mailboxes.withLock { $0[ObjectIdentifier(mailbox)] = nil }
        }
    }
}

/// The newest state of one watch, from the client's thread to the task that iterates.
///
/// It holds one state and no queue: a state that the task has not taken is replaced by the next one.
package final class WatchMailbox: Sendable {
    private struct State {
        var posts: WatchedPosts?
        /// Whether `posts` has something that the task has not got.
        var hasNews = false
        /// Why there is nothing more; taken by the task once.
        var ending: Ending = .none
        var waiter: CheckedContinuation<Void, Never>?

        var isReady: Bool {
            guard !hasNews else { return true }
            if case .none = ending { return false }
            return true
        }
    }

    private enum Ending {
        case none
        case failed(FeedClientError)
        case told
    }

    private let state = Lock(State())

    package init() {}

    /// Takes the newest copy of the watch; nothing once it has ended.
    package func put(_ copy: WatchCopy) {
        wake { state in
            guard case .none = state.ending else { return false }
            if state.posts == nil {
                state.posts = WatchedPosts(copy)
            } else {
                state.posts?.follow(copy)
            }
            state.hasNews = true
            return true
        }
    }

    /// Ends the watch; the first end counts.
    ///
    /// The task still gets the newest state, unless it has given up itself.
    package func end(_ error: FeedClientError) {
        wake { state in
            guard case .none = state.ending else { return false }
            state.ending = .failed(error)
            if case .cancelled = error { state.hasNews = false }
            return true
        }
    }

    /// Puts the rows into the order of now, which the task gets as news; nothing before the first state.
    package func refresh() {
        wake { state in
            guard state.posts != nil, case .none = state.ending else { return false }
            state.posts?.refresh()
            state.hasNews = true
            return true
        }
    }

    /// Waits for news, or for the end; nil once the error was returned.
    package func next() async -> Result<WatchedPosts?, FeedClientError> {
        while true {
            if let outcome = take() { return outcome }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard !state.isReady else { return true }
                    precondition(state.waiter == nil, "A watch is iterated by one task.")
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    private func take() -> Result<WatchedPosts?, FeedClientError>? {
        state.withLock { state in
            if state.hasNews {
                state.hasNews = false
                return .success(state.posts)
            }
            switch state.ending {
            case .none: return nil
            case .told: return .success(nil)
            case .failed(let error):
                state.ending = .told
                return .failure(error)
            }
        }
    }

    /// Changes the state, and wakes the task if the change is news.
    private func wake(_ change: (inout State) -> Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard change(&state) else { return nil }
            return state.waiter.take()
        }
        waiter?.resume()
    }
}
