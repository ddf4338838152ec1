public import FeedProto

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
    /// - Throws: A ``FeedClientError``, as `IDENTITY_REQUIRED` where nobody is signed in.
    public func session(timeout: Duration? = nil) async throws(FeedClientError) -> UserSession {
        try await sessionCall(.getSession, begins: false, timeout: timeout)
    }

    /// Ends the client's session.
    ///
    /// - Parameters:
    ///   - everywhere: Whether all sessions of the user end, on other devices too.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `IDENTITY_REQUIRED` where nobody is signed in.
    public func signOut(
        everywhere: Bool = false,
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        let request = Request.signOut(SignOutRequest(endsEverywhere: everywhere))
        guard case .empty = try await call(request, timeout: timeout).response else {
            throw .wrongAnswer(to: request)
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
    /// The token for ``ClientConfiguration/sessionToken``; nil where the call returned none.
    public var secret: Secret? { Secret(bytes: token) }
}
