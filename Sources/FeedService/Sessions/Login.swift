internal import FeedAccounts
internal import FeedConcurrency

/// Whether a connection's caller is a user, by the session that it has shown.
enum Login {
    /// The caller has shown no session.
    case none
    /// The caller is the user of this session.
    ///
    /// The count is that of the service's ended sessions when the session was last found current. Before
    /// the instant it neither expires nor has a use to log.
    case current(SessionRow, revocationCount: UInt64, until: MonotonicInstant)
    /// The session that the caller has shown has expired or was ended; the next Hello, sign-in or
    /// sign-up replaces it.
    case over

    /// The session; nil where none is current.
    var session: SessionRow? {
        switch self {
        case .current(let session, _, _): session
        case .none, .over: nil
        }
    }

    /// Whether the caller's session has ended while the connection is open.
    var isOver: Bool {
        switch self {
        case .over: true
        case .none, .current: false
        }
    }
}
