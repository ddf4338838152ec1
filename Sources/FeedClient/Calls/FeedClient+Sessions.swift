import FeedProto

/// What a call has made of the client's session.
enum SessionChange {
    /// The client's calls are those of a user.
    case begun(StoredSession)
    /// They are nobody's.
    case ended

    /// What the answer to a request means; nil where it leaves the session as it is.
    init?(_ response: Response, to request: Request) {
        switch (request, response) {
        case (.signUp, .session(let session)), (.signIn, .session(let session)):
            guard let token = session.secret, let user = session.user else { return nil }
            self = .begun(StoredSession(token: token, userID: user.id))
        case (.signOut, _): self = .ended
        default: return nil
        }
    }
}

extension FeedClient {
    /// Lets all connections follow a sign-in or a sign-out on the first one, and keeps its session for
    /// the next launch.
    func adopt(_ change: SessionChange) {
        switch change {
        case .begun(let session):
            links.adopt(sessionToken: session.token.bytes)
            sessionStore?.save(session)
        case .ended:
            links.adopt(sessionToken: [])
            sessionStore?.remove()
        }
    }
}

extension FeedClientError {
    /// Whether the service does not know the session any more.
    var endsSession: Bool {
        guard case .refused(let status) = self else { return false }
        return status.reason == .sessionExpired
    }
}
