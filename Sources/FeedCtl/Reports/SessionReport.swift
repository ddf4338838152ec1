package import FeedProto
internal import FeedText

/// Who has signed in, as `signup`, `login`, `logout` and `whoami` report it.
package struct SessionReport: Report, Equatable {
    /// The account; 0 is nobody.
    let userID: UInt64
    let displayName: String
    /// When the session ends unless it is used; 0 without one.
    let expireTimeMs: Int64

    /// The report of a session; nil is none.
    package init(_ session: UserSession? = nil) {
        userID = session?.user?.id ?? 0
        displayName = session?.user?.displayName ?? ""
        expireTimeMs = session?.expireTimeMilliseconds ?? 0
    }

    /// One line; the token is never shown.
    package func text(_ style: TextStyle) -> String {
        guard userID != 0 else { return "Nobody has signed in.\n" }
        return "Signed in as \(VisibleText.line(displayName)), account \(userID).\n"
    }
}
