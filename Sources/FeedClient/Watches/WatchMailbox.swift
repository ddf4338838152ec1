import FeedConcurrency

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
        /// The task that waits for news.
        var waiter: CheckedContinuation<Void, Never>?

        /// Whether the task has something to take.
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

    /// A mailbox without a state.
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

    /// Changes the state, and wakes the task where the change is news.
    private func wake(_ change: (inout State) -> Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard change(&state) else { return nil }
            return state.waiter.take()
        }
        waiter?.resume()
    }
}
