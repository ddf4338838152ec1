public import FeedProto

extension FeedCalling {
    /// Asks for a sign of life.
    ///
    /// - Parameters:
    ///   - payload: Up to 4,096 bytes that the answer returns.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The payload, and whether the service welcomes new calls.
    /// - Throws: A ``FeedClientError``.
    @discardableResult
    public func ping(
        payload: [UInt8] = [],
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> PingResponse {
        try await call(.ping(PingRequest(payload: payload)), timeout: timeout) {
            if case .ping(let answer) = $0 { answer } else { nil }
        }
    }

    /// Reads all feeds and their policies, in the order of their creation.
    public func feeds(timeout: Duration? = nil) async throws(FeedClientError) -> [Feed] {
        try await call(.listFeeds, timeout: timeout) {
            if case .listFeeds(let answer) = $0 { answer.feeds } else { nil }
        }
    }

    /// Creates a feed with a policy, which never changes afterwards.
    ///
    /// - Parameters:
    ///   - feed: Its name and policy; the service's defaults replace unspecified values.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The feed with the policy that it got.
    /// - Throws: A ``FeedClientError``, as `FEED_EXISTS` if there is one of that name.
    @discardableResult
    public func createFeed(
        _ feed: Feed,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Feed {
        try await call(.createFeed(CreateFeedRequest(feed: feed)), timeout: timeout) {
            if case .feed(let feed) = $0 { feed } else { nil }
        }
    }

    /// Backs up the service's state while it serves, in its data directory.
    ///
    /// - Parameter timeout: How long to wait for it; a large state takes minutes. The service
    ///   continues the backup after that time: ``stats(timeout:)`` shows its progress.
    /// - Returns: The backup's name, and the revision of the state that it holds.
    /// - Throws: A ``FeedClientError``, as `NOT_DURABLE` if the state is in memory only.
    @discardableResult
    public func backup(timeout: Duration? = nil) async throws(FeedClientError) -> BackupResponse {
        try await call(.backup, timeout: timeout) {
            if case .backup(let backup) = $0 { backup } else { nil }
        }
    }

    /// Finds posts whose times lie more than five minutes ahead of the service's clock, and
    /// corrects them on request.
    ///
    /// Each call handles a part of them.
    ///
    /// - Parameters:
    ///   - request: Where to continue, what to set, and whether to set it.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The posts as they were found, and where to continue.
    /// - Throws: A ``FeedClientError``, as `SERVICE_ONLY` for callers from another machine.
    public func correctTimes(
        _ request: CorrectTimesRequest,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> CorrectTimesResponse {
        try await call(.correctTimes(request), timeout: timeout) {
            if case .correctTimes(let answer) = $0 { answer } else { nil }
        }
    }

    /// Finds the posts that a user, a device or a host has made, and deletes them on request.
    ///
    /// Each call handles a part of them.
    ///
    /// - Parameters:
    ///   - request: Whose posts, since when, where to continue, and whether to delete them.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The posts that were found with those who made them, and where to continue.
    /// - Throws: A ``FeedClientError``, as `ROLE_DENIED` for callers that are neither services nor
    ///   operators.
    public func deletePosts(
        _ request: DeletePostsRequest,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> DeletePostsResponse {
        try await call(.deletePosts(request), timeout: timeout) {
            if case .deletePosts(let answer) = $0 { answer } else { nil }
        }
    }

    /// Stops the service as SIGTERM does: it finishes what it has received.
    ///
    /// - Parameter timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `ROLE_DENIED` for callers that are no operators.
    public func drain(timeout: Duration? = nil) async throws(FeedClientError) {
        try await emptyCall(.drain, timeout: timeout)
    }

    /// Sets the least level of the lines of the service's log, until it ends or another one is set.
    ///
    /// - Parameters:
    ///   - level: trace, debug, info, notice, warning, error or critical.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `ROLE_DENIED` for callers that are no operators.
    public func setLogLevel(
        _ level: String,
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        try await emptyCall(.setLogLevel(SetLogLevelRequest(level: level)), timeout: timeout)
    }

    /// Asks what a service knows of its cluster.
    ///
    /// - Parameters:
    ///   - record: The record of the log whose chain is wanted; 0 is the newest one of the service.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The cluster as the service that was asked knows it; only the leader knows who lags.
    /// - Throws: A ``FeedClientError``, as `NO_CLUSTER` if the service is no node of one.
    public func clusterStatus(
        record: UInt64 = 0,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> ClusterStatus {
        let request = ClusterStatusRequest(record: record)
        return try await call(.clusterStatus(request), timeout: timeout) {
            if case .clusterStatus(let status) = $0 { status } else { nil }
        }
    }

    /// Adds a node to the cluster, or removes one.
    ///
    /// - Parameters:
    ///   - request: The name and the URL of a node to add, or the number of one to remove.
    ///   - timeout: How long it may take; nil is the client's timeout. The leader waits 10 s for its cluster.
    /// - Returns: The node's number, and the token with which a node that was added joins.
    /// - Throws: A ``FeedClientError``, as `REPLICA_REFUSED` with the cause.
    @discardableResult
    public func changeMembers(
        _ request: ChangeMembersRequest,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> ChangeMembersResponse {
        try await call(.changeMembers(request), timeout: timeout) {
            if case .changeMembers(let answer) = $0 { answer } else { nil }
        }
    }

    /// Lets another node of the cluster lead; the leader's connections end.
    ///
    /// - Parameters:
    ///   - node: The node's number, 16 hexadecimal digits; empty is any other one that votes.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `REPLICA_REFUSED` with the cause. A lost connection may mean that
    ///   the leadership has gone.
    public func transferLeadership(
        to node: String = "",
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        try await emptyCall(
            .transferLeadership(TransferLeadershipRequest(node: node)),
            timeout: timeout
        )
    }

    /// Reads the service's counters.
    public func stats(timeout: Duration? = nil) async throws(FeedClientError) -> ServerStats {
        try await call(.getServerStats, timeout: timeout) {
            if case .serverStats(let stats) = $0 { stats } else { nil }
        }
    }
}

/// Accounts and sessions.
///
/// A client that signs up or in is the user's from then on, also on its later connections. A password
/// that was sent and lost with its connection is not sent again.
extension FeedCalling {
    /// Creates an account and signs in to it.
    ///
    /// - Parameters:
    ///   - email: The e-mail address.
    ///   - password: The password: at least 6 characters, at most 128 bytes.
    ///   - displayName: The name that posts show; empty is the address before the @.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The session. Its token is given only here: store it to stay signed in.
    /// - Throws: A ``FeedClientError``, as `EMAIL_TAKEN`.
    @discardableResult
    public func signUp(
        email: String,
        password: String,
        displayName: String = "",
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> UserSession {
        let request = SignUpRequest(
            email: email,
            password: SecretText(password),
            displayName: displayName
        )
        return try await sessionCall(.signUp(request), begins: true, timeout: timeout)
    }

    /// Signs in to an account.
    ///
    /// - Parameters:
    ///   - email: The e-mail address.
    ///   - password: The password.
    ///   - createsIfMissing: Whether to create the account if the address has none.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The session. Its token is given only here: store it to stay signed in.
    /// - Throws: A ``FeedClientError``, as `BAD_CREDENTIALS`.
    @discardableResult
    public func signIn(
        email: String,
        password: String,
        createsIfMissing: Bool = false,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> UserSession {
        let request = SignInRequest(
            email: email,
            password: SecretText(password),
            createsIfMissing: createsIfMissing
        )
        return try await sessionCall(.signIn(request), begins: true, timeout: timeout)
    }

    /// Reads the client's session, and extends it.
    ///
    /// - Parameter timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The session, without its token.
    /// - Throws: A ``FeedClientError``, as `IDENTITY_REQUIRED` if nobody is signed in.
    public func session(timeout: Duration? = nil) async throws(FeedClientError) -> UserSession {
        try await sessionCall(.getSession, begins: false, timeout: timeout)
    }

    /// Ends the client's session.
    ///
    /// The client forgets it at once: from here on it is nobody's, also if the call fails. It is no failure
    /// if the service does not answer within the time, or refuses for now: the client ends the session there
    /// as soon as it can, for a day, until it is closed.
    ///
    /// - Parameters:
    ///   - everywhere: Whether all sessions of the user end, on other devices too. Then a failure is thrown,
    ///     and only the session of this client is ended later.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `IDENTITY_REQUIRED` if nobody is signed in.
    public func signOut(
        everywhere: Bool = false,
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        try await emptyCall(.signOut(SignOutRequest(endsEverywhere: everywhere)), timeout: timeout)
    }

    /// Changes the password of the client's user.
    ///
    /// All sessions of the user end, on other devices too, and a new one begins.
    ///
    /// - Parameters:
    ///   - password: The password that the user has.
    ///   - newPassword: The password from now on: at least 6 characters, at most 128 bytes.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The new session. Its token is given only here: store it to stay signed in.
    /// - Throws: A ``FeedClientError``, as `BAD_CREDENTIALS`. If the connection was lost, the password may
    ///   be the new one: sign in with either.
    @discardableResult
    public func changePassword(
        _ password: String,
        to newPassword: String,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> UserSession {
        let request = ChangePasswordRequest(
            password: SecretText(password),
            newPassword: SecretText(newPassword)
        )
        return try await sessionCall(.changePassword(request), begins: true, timeout: timeout)
    }

    /// Gives the client's user another e-mail address; the sessions stay.
    ///
    /// - Parameters:
    ///   - email: The e-mail address from now on.
    ///   - password: The password that the user has.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `BAD_CREDENTIALS` or `EMAIL_TAKEN`.
    public func changeEmail(
        to email: String,
        password: String,
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        let request = ChangeEmailRequest(password: SecretText(password), email: email)
        try await emptyCall(.changeEmail(request), timeout: timeout)
    }

    /// Deletes the account of the client's user, who is signed out everywhere.
    ///
    /// The posts go, or lose their author, in the seconds after. There is no way back.
    ///
    /// - Parameters:
    ///   - password: The password that the user has.
    ///   - keepsPosts: Whether the user's posts stay, without an author.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `BAD_CREDENTIALS`. If the connection was lost, the account may be
    ///   deleted: then no sign-in succeeds.
    public func deleteAccount(
        password: String,
        keepsPosts: Bool = false,
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        let request = DeleteAccountRequest(
            password: SecretText(password),
            keepsPosts: keepsPosts
        )
        try await emptyCall(.deleteAccount(request), timeout: timeout)
    }

    /// Reads the sessions of the client's user.
    ///
    /// - Parameter timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The sessions, the one that began first in front.
    /// - Throws: A ``FeedClientError``, as `IDENTITY_REQUIRED` if nobody is signed in.
    public func sessions(timeout: Duration? = nil) async throws(FeedClientError) -> [SessionInfo] {
        try await call(.listSessions, timeout: timeout) {
            if case .listSessions(let answer) = $0 { answer.sessions } else { nil }
        }
    }

    /// Ends a session of the client's user; nothing happens if it has ended.
    ///
    /// - Parameters:
    ///   - id: The session, as ``sessions(timeout:)`` names it.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `IDENTITY_REQUIRED` if nobody is signed in.
    public func endSession(
        _ id: SessionID,
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        try await emptyCall(.endSession(EndSessionRequest(id: id)), timeout: timeout)
    }

    /// Sets the password of the user of a token, and signs in.
    ///
    /// - Parameters:
    ///   - token: The token of a ``makePasswordReset(_:timeout:)``.
    ///   - newPassword: The password from now on: at least 6 characters, at most 128 bytes.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The session. Its token is given only here: store it to stay signed in.
    /// - Throws: A ``FeedClientError``, as `BAD_CREDENTIALS`.
    @discardableResult
    public func resetPassword(
        token: [UInt8],
        to newPassword: String,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> UserSession {
        let request = ResetPasswordRequest(token: token, newPassword: SecretText(newPassword))
        return try await sessionCall(.resetPassword(request), begins: true, timeout: timeout)
    }

    /// Ends the sessions of a user, suspends it or takes that back, or deletes it, as a service.
    ///
    /// - Parameters:
    ///   - request: The user, and what is done; it may be repeated.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `USER_NOT_FOUND`.
    public func changeUser(
        _ request: ChangeUserRequest,
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        try await emptyCall(.changeUser(request), timeout: timeout)
    }

    /// Makes a token with which a user who has forgotten the password gets another one, as a service.
    ///
    /// - Parameters:
    ///   - request: The user.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The token, a secret, which the program sends to the user's address.
    /// - Throws: A ``FeedClientError``, as `USER_NOT_FOUND` or `USER_SUSPENDED`.
    public func makePasswordReset(
        _ request: MakePasswordResetRequest,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> PasswordReset {
        try await call(.makePasswordReset(request), timeout: timeout) {
            if case .passwordReset(let reset) = $0 { reset } else { nil }
        }
    }

    private func sessionCall(
        _ request: Request,
        begins: Bool,
        timeout: Duration?
    ) async throws(FeedClientError) -> UserSession {
        try await call(request, timeout: timeout) {
            guard case .session(let session) = $0, !begins || session.secret != nil else {
                return nil
            }
            return session
        }
    }
}

extension UserSession {
    /// The token for ``ClientConfiguration/sessionToken``; nil if the call returned none.
    public var secret: Secret? { Secret(bytes: token) }
}
