internal import FeedConcurrency
package import FeedProto

/// What a client knows of its service and of the one who is signed in: its connections tell it, and any task
/// asks.
///
/// Several connections learn of a session at different moments. So what is said of another session than the
/// one of now says nothing of the user of now.
package final class ClientKnowledge: Sendable {
    private struct State {
        var service: HelloResponse?
        /// The token of the session of now; empty if there is none.
        var token: [UInt8]
        /// The token of the session that the service has ended last; empty if it has ended none.
        var endedToken: [UInt8] = []
    }

    private let state: Lock<State>
    package let user: CurrentUser
    /// Whether the client has begun with a session from its store.
    let hadStoredSession: Bool

    /// The knowledge of a client without a connection; the user is known of a stored session.
    package init(token: Secret?, userID: UserID?) {
        state = Lock(State(token: token?.bytes ?? []))
        user = CurrentUser(userID.map { User(id: $0, displayName: "") })
        hadStoredSession = userID != nil
    }

    package var service: HelloResponse? { state.withLock { $0.service } }

    package var endedToken: [UInt8] { state.withLock { $0.endedToken } }

    package func take(_ news: SessionNews) {
        switch news {
        case .greeted(let hello, let token):
            state.withLock { state in
                state.service = hello
                if state.token == token { user.set(hello.user) }
            }
        case .signedIn(let session):
            state.withLock { state in
                state.token = session.secret?.bytes ?? []
                user.set(session.user)
            }
        case .signedOut:
            let token = leaveSession()
            guard !token.isEmpty else { return }
            state.withLock { $0.endedToken = token }
        case .ended(let ended):
            state.withLock { state in
                state.endedToken = ended.token
                guard state.token == ended.token else { return }
                state.token = []
                user.set(nil)
            }
        }
    }

    /// Makes the client nobody's at once, and returns the token of its session; empty if it had none.
    package func leaveSession() -> [UInt8] {
        state.withLock { state in
            defer { state.token = [] }
            user.set(nil)
            return state.token
        }
    }
}

/// Who is signed in, and the tasks that follow it.
package final class CurrentUser: Sendable {
    private struct State {
        var user: User?
        var followers: [UInt64: AsyncStream<User?>.Continuation] = [:]
        var lastFollower: UInt64 = 0
        var isFinished = false
    }

    private let state: Lock<State>

    package init(_ user: User?) { state = Lock(State(user: user)) }

    deinit { finish() }

    package var value: User? { state.withLock { $0.user } }

    /// How many tasks follow, for tests.
    package var followerCount: Int { state.withLock { $0.followers.count } }

    /// The user of now, and each later one: of those that a task has not taken, only the newest waits.
    package var changes: AsyncStream<User?> {
        let (stream, follower) = AsyncStream.makeStream(
            of: User?.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = state.withLock { state -> UInt64? in
            follower.yield(state.user)
            guard !state.isFinished else { return nil }
            state.lastFollower += 1
            state.followers[state.lastFollower] = follower
            return state.lastFollower
        }
        guard let number else {
            follower.finish()
            return stream
        }
        follower.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.followers.removeValue(forKey: number) }
        }
        return stream
    }

    package func set(_ user: User?) {
        state.withLock { state in
            guard state.user != user, !state.isFinished else { return }
            state.user = user
            for follower in state.followers.values { follower.yield(user) }
        }
    }

    /// Ends the changes: the client is closed.
    package func finish() {
        let followers = state.withLock { state in
            state.isFinished = true
            defer { state.followers = [:] }
            return Array(state.followers.values)
        }
        for follower in followers { follower.finish() }
    }
}
