/// The cause of a failure as a stable name, for programs; new ones may appear at any time.
public struct Reason: RawRepresentable, Hashable, Sendable {
    /// The name on the wire.
    public let rawValue: String

    /// Takes any name, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }
}

extension Reason: CustomStringConvertible {
    /// The name itself.
    public var description: String { rawValue }
}

// With INVALID_ARGUMENT.
extension Reason {
    /// The title has more characters or bytes than the feed takes.
    public static var titleTooLong: Self { Self(rawValue: "TITLE_TOO_LONG") }
    /// The text has more characters or bytes than the feed takes.
    public static var textTooLong: Self { Self(rawValue: "TEXT_TOO_LONG") }
    /// The text has fewer characters than the feed asks for.
    public static var textEmpty: Self { Self(rawValue: "TEXT_EMPTY") }
    /// The author's name has more characters or bytes than the service takes.
    public static var nameTooLong: Self { Self(rawValue: "NAME_TOO_LONG") }
    /// A text is not UTF-8, or has a NUL in it.
    public static var badText: Self { Self(rawValue: "BAD_TEXT") }
    /// A URL is too long.
    public static var badURL: Self { Self(rawValue: "BAD_URL") }
    /// The page size is negative.
    public static var badPageSize: Self { Self(rawValue: "BAD_PAGE_SIZE") }
    /// The page token belongs to another list, or was tampered with.
    public static var pageTokenMismatch: Self { Self(rawValue: "PAGE_TOKEN_MISMATCH") }
    /// A batch has more items than the limit.
    public static var batchTooLarge: Self { Self(rawValue: "BATCH_TOO_LARGE") }
    /// The feed does not know the vote's direction.
    public static var badVote: Self { Self(rawValue: "BAD_VOTE") }
    /// The e-mail is no address, or is too long.
    public static var badEmail: Self { Self(rawValue: "BAD_EMAIL") }
    /// The password has too few characters.
    public static var passwordTooShort: Self { Self(rawValue: "PASSWORD_TOO_SHORT") }
    /// The password has too many bytes.
    public static var passwordTooLong: Self { Self(rawValue: "PASSWORD_TOO_LONG") }
    /// A count of votes or comments is over what the service takes.
    public static var badCount: Self { Self(rawValue: "BAD_COUNT") }
    /// A time is before the epoch, or in the future.
    public static var badTime: Self { Self(rawValue: "BAD_TIME") }
    /// A field is missing, or has a value outside of its range.
    public static var badField: Self { Self(rawValue: "BAD_FIELD") }
    /// The bytes are no frame of the contract; the connection is closed.
    public static var badFrame: Self { Self(rawValue: "BAD_FRAME") }
}

// With the other codes.
extension Reason {
    /// NOT_FOUND: no such post.
    public static var postNotFound: Self { Self(rawValue: "POST_NOT_FOUND") }
    /// NOT_FOUND: no such feed.
    public static var feedNotFound: Self { Self(rawValue: "FEED_NOT_FOUND") }
    /// NOT_FOUND: no account has that number or e-mail.
    public static var userNotFound: Self { Self(rawValue: "USER_NOT_FOUND") }
    /// ALREADY_EXISTS: there is a feed of that name.
    public static var feedExists: Self { Self(rawValue: "FEED_EXISTS") }
    /// ALREADY_EXISTS: there is an account with that e-mail.
    public static var emailTaken: Self { Self(rawValue: "EMAIL_TAKEN") }
    /// UNAUTHENTICATED: the password, the token or the key is not right.
    public static var badCredentials: Self { Self(rawValue: "BAD_CREDENTIALS") }
    /// UNAUTHENTICATED: the session has expired or was ended.
    public static var sessionExpired: Self { Self(rawValue: "SESSION_EXPIRED") }
    /// UNAUTHENTICATED: the call needs a caller with an identity.
    public static var identityRequired: Self { Self(rawValue: "IDENTITY_REQUIRED") }
    /// PERMISSION_DENIED: only the author or a service may do this.
    public static var notAuthor: Self { Self(rawValue: "NOT_AUTHOR") }
    /// PERMISSION_DENIED: a service has suspended the user.
    public static var userSuspended: Self { Self(rawValue: "USER_SUSPENDED") }
    /// PERMISSION_DENIED: only a service may do this.
    public static var serviceOnly: Self { Self(rawValue: "SERVICE_ONLY") }
    /// PERMISSION_DENIED: the call is not open to the role of the caller's key, or needs such a role.
    public static var roleDenied: Self { Self(rawValue: "ROLE_DENIED") }
    /// ABORTED: the post has changed since the revision that the request names.
    public static var revisionMismatch: Self { Self(rawValue: "REVISION_MISMATCH") }
    /// RESOURCE_EXHAUSTED: the caller calls too often.
    public static var rateLimited: Self { Self(rawValue: "RATE_LIMITED") }
    /// RESOURCE_EXHAUSTED: the service has too much to do.
    public static var overloaded: Self { Self(rawValue: "OVERLOADED") }
    /// RESOURCE_EXHAUSTED: the service takes no writes, because its disk has too little room.
    public static var readOnly: Self { Self(rawValue: "READ_ONLY") }
    /// RESOURCE_EXHAUSTED: the service takes no more connections.
    public static var tooManyConnections: Self { Self(rawValue: "TOO_MANY_CONNECTIONS") }
    /// UNAVAILABLE: another service of the cluster takes changes: the `leader` of the status, if it is known.
    public static var notLeader: Self { Self(rawValue: "NOT_LEADER") }
    /// UNAVAILABLE: the follower has not reached the revision that the call asks for.
    public static var notCaughtUp: Self { Self(rawValue: "NOT_CAUGHT_UP") }
    /// UNAVAILABLE: the follower has not heard of its leader for too long.
    public static var staleReplica: Self { Self(rawValue: "STALE_REPLICA") }
    /// UNAVAILABLE: a service of the cluster does not know such changes yet, as an upgrade is not finished.
    public static var clusterUpgrading: Self { Self(rawValue: "CLUSTER_UPGRADING") }
    /// UNAVAILABLE: the service is about to stop.
    public static var draining: Self { Self(rawValue: "DRAINING") }
    /// DEADLINE_EXCEEDED: the time had passed before the call was executed.
    public static var deadlineExceeded: Self { Self(rawValue: "DEADLINE_EXCEEDED") }
    /// UNIMPLEMENTED: the frame has no call in it, or one the service does not know.
    public static var unknownMethod: Self { Self(rawValue: "UNKNOWN_METHOD") }
    /// FAILED_PRECONDITION: the sequence is too old to know whether it was executed.
    public static var sequenceExpired: Self { Self(rawValue: "SEQUENCE_EXPIRED") }
    /// FAILED_PRECONDITION: the sequence was used for another call.
    public static var sequenceReused: Self { Self(rawValue: "SEQUENCE_REUSED") }
    /// FAILED_PRECONDITION: another connection has taken the channel over.
    public static var channelFenced: Self { Self(rawValue: "CHANNEL_FENCED") }
    /// RESOURCE_EXHAUSTED: the service remembers as many channels as it can.
    public static var tooManyChannels: Self { Self(rawValue: "TOO_MANY_CHANNELS") }
    /// UNAVAILABLE: the service's clock has jumped, and it takes no writes until the jump is resolved.
    public static var clockJumped: Self { Self(rawValue: "CLOCK_JUMPED") }
    /// FAILED_PRECONDITION: the service keeps its state in memory only.
    public static var notDurable: Self { Self(rawValue: "NOT_DURABLE") }
    /// FAILED_PRECONDITION: the service is no node of a cluster.
    public static var noCluster: Self { Self(rawValue: "NO_CLUSTER") }
    /// FAILED_PRECONDITION: the cluster refuses a change of its members or of its leader.
    public static var replicaRefused: Self { Self(rawValue: "REPLICA_REFUSED") }
    /// UNAVAILABLE: the service's replica is not there, or does not answer.
    public static var replicaSilent: Self { Self(rawValue: "REPLICA_SILENT") }
    /// RESOURCE_EXHAUSTED: a backup is under way already.
    public static var backupRunning: Self { Self(rawValue: "BACKUP_RUNNING") }
    /// RESOURCE_EXHAUSTED: the service's disk has too little room for a backup.
    public static var backupNoRoom: Self { Self(rawValue: "BACKUP_NO_ROOM") }
    /// ABORTED: the backup was given up, because it stood in the way of changes.
    public static var backupCancelled: Self { Self(rawValue: "BACKUP_CANCELLED") }
    /// UNIMPLEMENTED: the service does not speak the protocol version.
    public static var unsupportedVersion: Self { Self(rawValue: "UNSUPPORTED_VERSION") }
    /// UNIMPLEMENTED: the service, of version 0.1, knows no voters of that kind.
    public static var votersUnsupported: Self { Self(rawValue: "VOTERS_UNSUPPORTED") }
    /// RESOURCE_EXHAUSTED: as many devices hold ballots as the service can number.
    public static var tooManyDevices: Self { Self(rawValue: "TOO_MANY_DEVICES") }
    /// RESOURCE_EXHAUSTED: as many users hold ballots as the service can number.
    public static var tooManyUsers: Self { Self(rawValue: "TOO_MANY_USERS") }
    /// RESOURCE_EXHAUSTED: the viewer has marked as many posts as it may, or all viewers have.
    public static var tooManyMarks: Self { Self(rawValue: "TOO_MANY_MARKS") }
    /// RESOURCE_EXHAUSTED: the connection has as many watches as it may, or all connections have.
    public static var tooManyWatches: Self { Self(rawValue: "TOO_MANY_WATCHES") }
    /// CANCELLED: the client has ended the watch.
    public static var cancelled: Self { Self(rawValue: "CANCELLED") }
    /// RESOURCE_EXHAUSTED: there are as many accounts as the service keeps.
    public static var tooManyAccounts: Self { Self(rawValue: "TOO_MANY_ACCOUNTS") }
    /// RESOURCE_EXHAUSTED: all users together have as many sessions as the service keeps.
    public static var tooManySessions: Self { Self(rawValue: "TOO_MANY_SESSIONS") }
    /// FAILED_PRECONDITION: the state that the request builds on is gone.
    public static var instanceChanged: Self { Self(rawValue: "INSTANCE_CHANGED") }
    /// INVALID_ARGUMENT: a feed's name does not have the form of a name.
    public static var badFeedName: Self { Self(rawValue: "BAD_FEED_NAME") }
    /// RESOURCE_EXHAUSTED: the posts take as much memory as the service lets them.
    public static var noRoomForPosts: Self { Self(rawValue: "NO_ROOM_FOR_POSTS") }
    /// RESOURCE_EXHAUSTED: there are as many feeds as the service takes.
    public static var tooManyFeeds: Self { Self(rawValue: "TOO_MANY_FEEDS") }
    /// INTERNAL: the service is at fault.
    public static var `internal`: Self { Self(rawValue: "INTERNAL") }
}
