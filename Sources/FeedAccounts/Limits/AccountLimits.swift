/// The limits of accounts and sessions, each with its reason.
package struct AccountLimits: Sendable, Equatable {
    /// The accounts that are kept; about half a KiB of memory each.
    package var maximumAccountCount = 2_000_000
    /// The sessions of a user; the oldest one ends when a further one begins.
    package var maximumSessionsPerUser = 32
    /// The sessions of all users, expired ones that are not forgotten yet included: two for each account.
    package var maximumSessionCount = 4_000_000
    /// How long a session lasts after its last use.
    package var sessionDuration = Duration.seconds(30 * 86_400)
    /// How much of that must be over before a use is logged again: reads cost no log entry.
    package var renewalInterval = Duration.seconds(86_400)
    /// The failed attempts to sign in, for each e-mail and for each peer, in a window.
    package var failuresPerWindow = 6
    /// The length of that window.
    package var failureWindow = Duration.seconds(60)
    /// The accounts that a peer may create in a window: a school or an office behind one address signs
    /// up within an hour, and a program gets few.
    package var creationsPerWindow = 20
    /// The length of that window.
    package var creationWindow = Duration.seconds(3600)
    /// The e-mails and the peers that these limits count at the same time; one with few attempts is
    /// forgotten for a further one.
    package var maximumLimitedKeyCount = 65_536
    /// The passwords that wait to be hashed: under half a second of work.
    package var maximumQueuedHashCount = 32

    /// The limits as the protocol states them.
    package init() {}
}
