internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedProto

/// The refusals of the service's state and of frames.
extension Status {
    static var unknownMethod: Status {
        Status(.unknownMethod, "The frame holds no call that \(ServiceVersion.serverName) knows.")
    }

    static var notDurable: Status {
        Status(
            .notDurable,
            "The service keeps its state in memory only; there is nothing to back up."
        )
    }

    static func deadlineExceeded(waited: Duration, _ timeout: Duration) -> Status {
        Status(
            .deadlineExceeded,
            "The request waited \(waited) to be executed; its timeout is \(timeout)."
        )
    }

    /// The service holds so much for connections that it takes no writes.
    static func overloaded(limit: Int) -> Status {
        Status(
            .overloaded,
            "More than \(limit) bytes are held for connections; writes are refused "
                + "until they are fewer.",
            retryMilliseconds: 1000
        )
    }

    static func readOnly(freeByteCount: Int, writableByteCount: Int) -> Status {
        Status(
            .readOnly,
            "The disk has only \(freeByteCount) bytes free; changes are refused until "
                + "\(OperatorLines.size(writableByteCount)) are free, and reads are served.",
            retryMilliseconds: 5000
        )
    }

    /// The disk does not keep up with the admitted changes.
    static func journalBehind(isOfCluster: Bool) -> Status {
        Status(
            .overloaded,
            isOfCluster
                ? "The cluster does not keep up: changes are refused until a majority has confirmed "
                    + "those before them."
                : "The disk does not keep up: changes are refused until those before them are "
                    + "durable.",
            retryMilliseconds: 1000
        )
    }

    /// The clock was set, so posts would get wrong times.
    static func clockJumped(by milliseconds: Int64) -> Status {
        Status(
            .clockJumped,
            "The service's clock jumped by \(milliseconds / 1000) seconds; changes are "
                + "refused until it is back, or the service is started anew.",
            retryMilliseconds: 5000
        )
    }

    /// The process has no memory for a request, whose id is not known either.
    static var outOfMemory: Status {
        Status(
            .overloaded,
            "The service has no memory left for a request of this size.",
            retryMilliseconds: 1000
        )
    }

    /// The bytes after this frame cannot be understood, and the connection closes.
    static func badFrame(_ message: String) -> Status {
        Status(.badFrame, message)
    }

    static func badText(field: String) -> Status {
        invalid(.badText, field: field, "\(field) is not UTF-8 without NUL.")
    }

    static func tooManyConnections(limit: Int) -> Status {
        Status(
            .tooManyConnections,
            "The service has its limit of \(limit) connections.",
            retryMilliseconds: 1000
        )
    }
}

/// The refusals of a service that is one of a cluster's.
extension Status {
    /// How long a caller waits until the cluster may have a leader.
    private static let electionMilliseconds: UInt32 = 500
    /// How long a caller waits until a follower may have heard more.
    private static let catchUpMilliseconds: UInt32 = 100

    /// The leader of the cluster takes the call, at its address if that is known.
    static func notLeader(_ leader: String?) -> Status {
        var status = Status(
            .notLeader,
            leader.map { "This service follows; the leader of the cluster is at \($0)." }
                ?? "This service follows, and knows of no leader of the cluster.",
            retryMilliseconds: leader == nil ? electionMilliseconds : 0
        )
        status.leader = leader ?? ""
        return status
    }

    /// The service has no state yet, and the leader has one, at its address if that is known.
    static func waitsForState(leader: String?) -> Status {
        var status = Status(
            .notLeader,
            "This service has no state yet, and waits for that of its cluster: "
                + (leader.map { "the leader is at \($0)." } ?? "it knows of no leader."),
            retryMilliseconds: leader == nil ? electionMilliseconds : 0
        )
        status.leader = leader ?? ""
        return status
    }

    /// The follower has no such session: it has ended, or its record has not come yet.
    static func sessionUnknownHere(leader: String?) -> Status {
        var status = Status(
            .notLeader,
            "This service follows, and does not know the session, which may be newer than its state: "
                + (leader.map { "the leader of the cluster is at \($0)." }
                    ?? "it knows of no leader of the cluster.")
        )
        status.leader = leader ?? ""
        return status
    }

    /// A use of the session has to be logged, which the leader alone does.
    static func sessionToRenew(leader: String) -> Status {
        var status = Status(
            .notLeader,
            "This service follows, and the session was not used at the leader of the cluster for half of "
                + "its time: show it to the leader, at \(leader), so that it does not end."
        )
        status.leader = leader
        return status
    }

    /// The connection got no channel, as the service followed when it said Hello.
    static func leadsSinceHello(at address: String) -> Status {
        var status = Status(
            .notLeader,
            "This service leads the cluster now, and did not when this connection said Hello: say it "
                + "again, as a call with a sequence needs a channel."
        )
        status.leader = address
        return status
    }

    static func notCaughtUp(wanted: UInt64, revision: UInt64) -> Status {
        Status(
            .notCaughtUp,
            "This service follows, and has not reached revision \(wanted), but \(revision).",
            retryMilliseconds: catchUpMilliseconds
        )
    }

    /// The follower has not heard for some time, nil if never, that it has all that is committed.
    static func staleReplica(age: Duration?, limit: Duration) -> Status {
        let time = age.map { "for \($0.millisecondsRoundedDown) ms" } ?? "since it began"
        return Status(
            .staleReplica,
            "This service follows, and has not heard \(time) that it has all of its leader's changes; "
                + "after \(limit.millisecondsRoundedDown) ms reads are refused.",
            retryMilliseconds: catchUpMilliseconds
        )
    }
}

/// The refusals of callers whose role may not make a call.
extension Status {
    /// The refusal of a call that the authorisation table does not open to the caller.
    static func denied(_ method: Method, _ role: Role) -> Status {
        switch role {
        case .reader, .service, .operator: .roleDenied(method, "the key's role is \(role.rawValue)")
        case .anonymous, .device, .user:
            switch method.access {
            case .viewers:
                .identityRequired(method, "say Hello with a client_id, or sign in, first")
            case .users: .identityRequired(method, "sign in first")
            case .services: .serviceOnly
            case .servicesAndOperators:
                .roleDenied(method, "say Hello with the key of a service or an operator")
            case .operators: .roleDenied(method, "say Hello with the key of an operator")
            case .everyone, .reading, .changing:
                preconditionFailure("Every caller without a key may call \(method.name).")
            }
        case .local: preconditionFailure("A local caller may call \(method.name).")
        }
    }

    private static func roleDenied(_ method: Method, _ cause: String) -> Status {
        Status(.roleDenied, "\(method.name) is not open to this caller: \(cause).")
    }

    /// The key of a Hello is not one of the service's.
    static var badServiceKey: Status {
        Status(.badCredentials, "The service_key is not a key of this service.")
    }

    private static func identityRequired(_ method: Method, _ remedy: String) -> Status {
        Status(.identityRequired, "\(method.name) needs an identity: \(remedy).")
    }
}

/// The refusals of accounts and sessions. None repeats an e-mail, a password or a token.
extension Status {
    static func badToken(_ byteCount: Int) -> Status {
        Status(
            .badCredentials,
            "session_token has \(byteCount) bytes; a token has "
                + "\(SessionToken.byteCount)."
        )
    }

    static func tooManyAccounts(limit: Int) -> Status {
        Status(.tooManyAccounts, "There are \(limit) accounts, which is the limit.")
    }

    static func tooManySessions(limit: Int) -> Status {
        Status(.tooManySessions, "There are \(limit) sessions, which is the limit.")
    }

    static var clusterUpgrading: Status {
        Status(
            .clusterUpgrading,
            "A service of the cluster does not know changes of accounts yet: they are taken once "
                + "all are upgraded.",
            retryMilliseconds: 10_000
        )
    }

    static func tooManyFailures(limit: Int, wait: Duration) -> Status {
        Status(
            .rateLimited,
            "There were \(limit) attempts to sign in within a minute that did not "
                + "succeed; the password was not looked at.",
            retryMilliseconds: UInt32(clamping: max(1000, wait.millisecondsRoundedUp))
        )
    }

    static func tooManyCreations(limit: Int, wait: Duration) -> Status {
        Status(
            .rateLimited,
            "This host has created \(limit) accounts within an hour, which is its limit.",
            retryMilliseconds: UInt32(clamping: max(1000, wait.millisecondsRoundedUp))
        )
    }

    static func tooManySignIns(limit: Int, wait: Duration) -> Status {
        Status(
            .overloaded,
            "\(limit) passwords wait to be checked, which is the limit.",
            retryMilliseconds: UInt32(
                clamping: min(5000, max(100, wait.millisecondsRoundedUp))
            )
        )
    }

    static func signInTooLate(_ timeout: Duration) -> Status {
        Status(
            .deadlineExceeded,
            "The password waited to be checked for longer than the request's timeout of "
                + "\(timeout)."
        )
    }
}

/// The refusals of a key, or of a host, whose clients take more than one may.
extension Status {
    static func tooManyChannels(hostByteCount: Int, limit: Int) -> Status {
        Status(
            .tooManyChannels,
            "The channels of this host take \(hostByteCount) bytes, which is its share of "
                + "the limit of \(limit) for all hosts. Calls without a sequence are taken.",
            retryMilliseconds: 10_000
        )
    }

    static func newChannelsTooFast(perMinute: Int, wait: Duration) -> Status {
        Status(
            .tooManyChannels,
            "This host opens new channels faster than its limit of \(perMinute) a minute. "
                + "Calls without a sequence are taken.",
            retryMilliseconds: retryTime(wait)
        )
    }

    /// There is no memory to record one more call of the channel.
    static func noRoomForCalls(limit: Int) -> Status {
        Status(
            .tooManyChannels,
            "The channels of this host take its share of the limit of \(limit) bytes for "
                + "all hosts; no further calls can be remembered.",
            retryMilliseconds: 1000
        )
    }

    static func tooManyDevices(limit: Int, wait: Duration) -> Status {
        Status(
            .rateLimited,
            "This host has brought its limit of \(limit) new devices a minute.",
            retryMilliseconds: retryTime(wait)
        )
    }

    /// The callers of an identity send more than they may.
    static func rateLimited(
        _ noun: String,
        perSecond limit: Int,
        retryAfter: Duration
    ) -> Status {
        Status(
            .rateLimited,
            "The limit of this caller's key or host is \(limit) \(noun) a second.",
            retryMilliseconds: UInt32(clamping: retryAfter.millisecondsRoundedDown + 1)
        )
    }

    static func tooManyConnections(ofIdentity limit: Int) -> Status {
        Status(
            .tooManyConnections,
            "This key or host has \(limit) connections, or as many as are left.",
            retryMilliseconds: 1000
        )
    }

    /// A wait for clients, which is long enough that they do not all call again at once.
    private static func retryTime(_ wait: Duration) -> UInt32 {
        UInt32(clamping: max(1000, wait.millisecondsRoundedDown))
    }
}

/// The refusals of new posts and edits, and of their deletion by the one who made them.
extension Status {
    /// A host, a device or a user creates more in an hour than it may.
    static func tooManyPosts(_ excess: PostAdmission.Excess) -> Status {
        let noun = excess.isOfBytes ? "bytes of posts" : "posts"
        return Status(
            .rateLimited,
            "This \(excess.identity.creatorNoun) has created its limit of \(excess.limit) "
                + "\(noun) an hour.",
            retryMilliseconds: UInt32(clamping: excess.wait.millisecondsRoundedDown + 1)
        )
    }

    static func noRoomForPosts(byteCount: Int, limit: Int) -> Status {
        Status(
            .noRoomForPosts,
            "The posts take \(byteCount) bytes of memory, and the limit is \(limit). "
                + "Reads, votes and deletions are taken."
        )
    }

    static var usersCreatePosts: Status {
        Status(.identityRequired, "Only users may create posts here: sign in first.")
    }

    static var deletionOfAllPosts: Status {
        .invalid(
            .badField,
            field: "apply",
            "apply is true, but neither author_id, nor client_id, nor host is given: the call would "
                + "delete the posts of all."
        )
    }

    static func badHost(_ text: String) -> Status {
        .invalid(
            .badField,
            field: "host",
            "host is \"\(text.prefix(64))\"; expected an IPv4 or an IPv6 address."
        )
    }
}

extension ClientIdentity {
    /// What the message of a refusal calls it.
    fileprivate var creatorNoun: String {
        switch self {
        case .device: "device"
        case .user: "user"
        case .address, .network, .key, .earlierRun: "host"
        }
    }
}

/// The refusals of numbered calls.
extension Status {
    /// A read needs no sequence, because a repeat of it changes nothing.
    static func sequenceOfRead(_ sequence: UInt64) -> Status {
        .invalid(
            .badField,
            field: "sequence",
            "sequence is \(sequence), but only calls that change something take one; this one takes 0.",
            actual: sequence
        )
    }

    /// A sequence belongs to a channel, and an anonymous connection has none.
    static var sequenceNeedsIdentity: Status {
        Status(
            .identityRequired,
            "A sequence needs an identity: say Hello with a client_id of 16 bytes first."
        )
    }

    static func sequenceExpired(_ sequence: UInt64, highest: UInt64) -> Status {
        Status(
            .sequenceExpired,
            "sequence is \(sequence), and the highest was \(highest): only the last "
                + "\(RecentCalls.window) are remembered, and whether it was executed is not known.",
            isNotExecuted: false
        )
    }

    static func sequenceReused(_ sequence: UInt64) -> Status {
        Status(
            .sequenceReused,
            "sequence \(sequence) was another call's, which was executed.",
            isNotExecuted: false
        )
    }

    /// A vote is left of a batch that another caller has sent first.
    static func batchOfAnother(_ sequence: UInt64) -> Status {
        Status(
            .sequenceReused,
            "sequence \(sequence) was another caller's batch, which was counted in part; "
                + "this vote was not counted, and is not counted for this caller."
        )
    }

    static var channelFenced: Status {
        Status(
            .channelFenced,
            "Another connection has taken over this connection's channel of calls."
        )
    }

    /// The call was executed before, and the post or feed of its answer does not exist any more.
    static func executedOnWhatIsGone(_ status: Status) -> Status {
        var status = status
        status.message = "The call was executed before. " + status.message
        status.isNotExecuted = false
        return status
    }
}

/// The refusals of watches, and the reasons for their ends.
extension Status {
    /// All connections together have as many watches as they may, or those of the caller's host.
    static func tooManyWatches(_ refusal: WatchAdmission.Refusal, ofService limit: Int) -> Status {
        let message =
            switch refusal {
            case .full: "The service has its limit of \(limit) watches."
            case .hostIsFull(let count):
                "Your host has \(count) watches, which is its share of the service's \(limit) now."
            }
        return Status(.tooManyWatches, message, retryMilliseconds: 1000)
    }

    static var watchCancelled: Status {
        Status(.cancelled, "The watch was cancelled.")
    }

    static var watchDrained: Status {
        Status(.draining, "The service is about to stop; watch again elsewhere or later.")
    }

    /// The connection's caller is not the user any more that the watch was begun by.
    static var watchOfFormerUser: Status {
        Status(
            .sessionExpired,
            "The session that the watch was begun with is not the connection's any more."
        )
    }

    /// The event of a watch does not fit into a frame, which the limits rule out.
    static func watchDoesNotFit(_ error: FrameError) -> Status {
        Status(.internal, "An event does not fit: \(error)")
    }
}
