internal import FeedAccounts
internal import FeedConcurrency
internal import FeedProto

/// The refusals of accounts and sessions. None repeats an e-mail, a password or a token.
extension Status {
    /// The token has another length than tokens have.
    static func badToken(_ byteCount: Int) -> Status {
        Status(
            code: .unauthenticated,
            reason: .badCredentials,
            message: "session_token has \(byteCount) bytes; a token has "
                + "\(SessionToken.byteCount)."
        )
    }

    /// The session has expired or was ended, or there never was one.
    static var sessionExpired: Status {
        Status(
            code: .unauthenticated,
            reason: .sessionExpired,
            message: "The session has expired or was ended: sign in again."
        )
    }

    /// The connection has no session.
    static var sessionRequired: Status {
        Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "The connection has no session: sign in, or say Hello with a session_token."
        )
    }

    /// The password is not the account's, or there is no such account.
    static var badCredentials: Status {
        Status(
            code: .unauthenticated,
            reason: .badCredentials,
            message: "There is no account with this e-mail and this password."
        )
    }

    /// The e-mail has an account.
    static var emailTaken: Status {
        Status(
            code: .alreadyExists,
            reason: .emailTaken,
            message: "There is an account with this e-mail."
        )
    }

    /// There are as many accounts as there may be.
    static func tooManyAccounts(limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManyAccounts,
            message: "There are \(limit) accounts, which is the limit."
        )
    }

    /// There are as many sessions as there may be.
    static func tooManySessions(limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManySessions,
            message: "There are \(limit) sessions, which is the limit."
        )
    }

    /// The e-mail is not one.
    static func badEmail(_ byteCount: Int) -> Status {
        .invalid(
            .badEmail,
            field: "email",
            "email has \(byteCount) bytes; an address has at most "
                + "\(EmailAddress.maximumByteCount), one @ inside, and no space or control character.",
            limit: UInt64(EmailAddress.maximumByteCount),
            actual: UInt64(byteCount)
        )
    }

    /// The password has too few characters.
    static func passwordTooShort(_ count: Int, limit: Int) -> Status {
        .invalid(
            .passwordTooShort,
            field: "password",
            "password has \(count) characters; it has at least \(limit).",
            limit: UInt64(limit),
            actual: UInt64(count)
        )
    }

    /// The password has too many bytes.
    static func passwordTooLong(_ byteCount: Int, limit: Int) -> Status {
        .invalid(
            .passwordTooLong,
            field: "password",
            "password has \(byteCount) bytes; the limit is \(limit).",
            limit: UInt64(limit),
            actual: UInt64(byteCount)
        )
    }

    /// The e-mail or the peer has failed too often.
    static func tooManyFailures(limit: Int, wait: Duration) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .rateLimited,
            message: "There were \(limit) attempts to sign in within a minute that did not "
                + "succeed; the password was not looked at.",
            retryAfterMilliseconds: UInt32(clamping: max(1000, wait.millisecondsRoundedUp))
        )
    }

    /// The host has created too many accounts.
    static func tooManyCreations(limit: Int, wait: Duration) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .rateLimited,
            message: "This host has created \(limit) accounts within an hour, which is its limit.",
            retryAfterMilliseconds: UInt32(clamping: max(1000, wait.millisecondsRoundedUp))
        )
    }

    /// The queue of passwords to hash is full.
    static func tooManySignIns(limit: Int, wait: Duration) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "\(limit) passwords wait to be checked, which is the limit.",
            retryAfterMilliseconds: UInt32(
                clamping: min(5000, max(100, wait.millisecondsRoundedUp))
            )
        )
    }

    /// The password waited longer than the request's timeout.
    static func signInTooLate(_ timeout: Duration) -> Status {
        Status(
            code: .deadlineExceeded,
            reason: .deadlineExceeded,
            message: "The password waited to be checked for longer than the request's timeout of "
                + "\(timeout)."
        )
    }

    /// Only the author of a post may change it.
    static func notAuthor(_ postID: UInt64) -> Status {
        Status(
            code: .permissionDenied,
            reason: .notAuthor,
            message: "The post \(postID) is another author's: only its author or a service may "
                + "change it."
        )
    }
}
