internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking
internal import FeedState

struct Envelope {
    let id: UInt64
    let method: Method
    /// How long the answer may take; 0 is the service's default.
    let timeoutMilliseconds: UInt32
    /// The revision that the answer must have at least.
    let minimumRevision: UInt64
}

/// The shared parts of all calls of one loop.
struct CallEnvironment {
    let store: FeedStore
    /// Takes the log entries of the loop; every change is in a transaction of it.
    let changeLog: ChangeLog
    let context: ServiceContext
    let counters: LoopCounters
    let log: ServiceLog
    /// What requests ask for; the loop's own, so that no page counts references that all loops share.
    let rules: CallRules

    /// Refuses a request that needs no execution, before anything is looked up.
    ///
    /// Its time is over, its state is newer, it names a user though its caller is no service, or its sequence
    /// is of no change.
    func checkEnvelope(
        of frame: borrowing ClientFrame,
        _ method: Method,
        from caller: borrowing Caller,
        waited: Duration?
    ) throws(Status) {
        if let waited {
            let timeout = context.timeout(milliseconds: frame.timeoutMilliseconds)
            guard waited <= timeout else { throw .deadlineExceeded(waited: waited, timeout) }
        }
        if frame.minimumRevision != 0 {
            let revision = store.revision
            guard frame.minimumRevision <= revision else {
                throw context.stalls.isFollowing
                    ? .notCaughtUp(wanted: frame.minimumRevision, revision: revision)
                    : .stateIsOlder(wanted: frame.minimumRevision, revision: revision)
            }
        }
        try checkActing(for: frame.actingUserID, caller)
        guard frame.sequence == 0 || method.takesSequence || method == .unknown else {
            throw .sequenceOfRead(frame.sequence)
        }
    }

    /// Whether the service takes changes now; votes may pass on the fast path then.
    var takesChanges: Bool { context.changeRefusal == nil }

    /// Refuses a change while the service takes none.
    ///
    /// A repeat of an earlier change is answered without this check.
    func admitChange() throws(Status) {
        guard let refusal = context.changeRefusal else { return }
        context.count(refusal)
        throw refusal.status
    }

    /// Refuses a change of an account as long as a member of the cluster would not read it.
    func admitAccountChange() throws(Status) {
        try admitChange()
        guard context.state?.takesAccountChanges ?? true else { throw .clusterUpgrading }
    }

    /// The revision that an answer names; 0 while a commit stands still, as the newest may be lost.
    var shownRevision: UInt64 { context.stalls.isCommitStalled ? 0 : store.revision }

    /// Refuses a call while a commit stands still, unless its answer shows nothing of the state.
    func requireNoStall(_ method: Method) throws(Status) {
        guard context.stalls.isCommitStalled, !method.isAnsweredInStall else { return }
        throw context.stallRefusal.status
    }

    /// Refuses what a service that follows does not do: to change the state, to show one that may be too old,
    /// and to log the use of a session, which would end if it was used at followers alone.
    func checkLeadership(for method: Method, of caller: borrowing Caller) throws(Status) {
        guard context.stalls.isFollowing, let node = context.node else { return }
        if node.isWaiting, method == .hello || !method.isAnsweredInStall {
            throw .waitsForState(leader: node.leader)
        }
        if method.needsLeader { throw .notLeader(node.leader) }
        guard method.showsState else { return }
        if caller.login.isHalfOver, let leader = node.leader {
            throw .sessionToRenew(leader: leader)
        }
        guard node.isStale else { return }
        throw .staleReplica(age: node.heardAge, limit: node.maximumStaleness)
    }

    /// Refuses a follower's caller who has come further than the service.
    ///
    /// What begins anew there would be of an older state. Elsewhere such a revision is another state's.
    func checkReached(_ revision: UInt64) throws(Status) {
        guard context.stalls.isFollowing else { return }
        let reached = store.revision
        guard revision > reached else { return }
        throw .notCaughtUp(wanted: revision, revision: reached)
    }

    /// Refuses a caller whose role the authorisation table does not admit to the call.
    func checkAccess(of caller: borrowing Caller, to method: Method) throws(Status) {
        let role = caller.role
        guard method.access.admits(role) else { throw .denied(method, role) }
    }
}

/// Who may create and change posts, and how much: in an hour, and in all.
extension CallEnvironment {
    /// Refuses a change of a post by who is not its author; a service may change each post.
    func requireAuthor(of id: PostID, _ caller: borrowing Caller) throws(Status) {
        guard !caller.isService,
            !rules.mayChange(id, user: caller.userID, device: caller.device)
        else { return }
        log.refusedEdit(of: id.rawValue, by: caller.userID, from: caller.host)
        throw .notAuthor(id)
    }

    func requireCreator(_ caller: borrowing Caller) throws(Status) {
        switch (context.limits.posts.creators, caller.role) {
        case (.anyone, _), (_, .service), (_, .local), (.users, .user): return
        case (.users, _): throw .usersCreatePosts
        case (.services, _): throw .serviceOnly
        }
    }

    /// Counts a new post, or the texts of an edit, for the limits of an hour and of all memory.
    func admitPost(
        textByteCount byteCount: Int,
        isNew: Bool,
        by caller: borrowing Caller
    ) throws(Status) {
        guard isNew || byteCount > 0 else { return }
        // An edit may make a post smaller, so it is refused only once the limit is passed.
        try requireRoom(for: isNew ? byteCount + RankingLimits.postOverheadByteCount : 0)
        guard caller.serviceKey?.role != .service, caller.isLimited else { return }
        let excess = context.posts.admit(
            postCount: isNew ? 1 : 0,
            byteCount: byteCount,
            by: caller.creators
        )
        if let excess { throw .tooManyPosts(excess) }
    }

    /// Refuses what would let the memory of all posts pass its limit.
    ///
    /// A start loads a state that is over the limit.
    func requireRoom(for byteCount: Int) throws(Status) {
        let limit = context.limits.posts.memoryByteCount
        let taken = store.postByteCount
        guard limit > 0, taken + byteCount > limit else { return }
        context.posts.countRefusal()
        throw .noRoomForPosts(byteCount: taken, limit: limit)
    }

    /// Notes the host and the device of a new post; not those of a service, which are its own.
    func noteOrigin(of post: PostRow, by caller: borrowing Caller) {
        guard caller.serviceKey?.role != .service else { return }
        context.origins.note(
            post.id,
            PostOrigins.Origin(host: ClientIdentity(caller.host), device: caller.device),
            at: post.createTimeMilliseconds
        )
    }
}

extension Caller {
    /// Those whose limits a post of the caller counts for: its host, and its user or else its device.
    fileprivate var creators: [ClientIdentity] {
        let host = ClientIdentity(host)
        if let requestUserID { return [host, .user(requestUserID)] }
        return device.map { [host, .device($0.high, $0.low)] } ?? [host]
    }
}

extension PostChanges {
    var textByteCount: Int {
        [title, text, linkURL, thumbnailURL, imageURL].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
}

/// How the sessions of users are found, and checked while their connections are open.
extension CallEnvironment {
    /// The session of a token that a Hello has shown; none for an empty token.
    func login(token bytes: [UInt8]) throws(Status) -> Login {
        guard !bytes.isEmpty else { return .none }
        guard let token = SessionToken(bytes: bytes) else { throw .badToken(bytes.count) }
        let count = context.accounts.revocationCount
        let now = context.clock.now()
        guard let session = context.accounts.session(token.hash, at: now) else {
            // A client forgets a session that has ended, and this one may be in a record to come.
            if context.stalls.isFollowing {
                throw .sessionUnknownHere(leader: context.node?.leader)
            }
            throw .sessionExpired
        }
        return current(renewed(session, at: now), at: now, revocationCount: count)
    }

    /// The login of a session that was found current, which is looked up again after a while.
    func current(_ session: SessionRow, at now: Int64, revocationCount: UInt64) -> Login {
        let quiet = min(context.accounts.quietTime(of: session, at: now), Self.longestQuietTime)
        return .current(
            session,
            revocationCount: revocationCount,
            until: context.now.advanced(by: quiet),
            isHalfOver: context.accounts.isHalfOver(session, at: now)
        )
    }

    /// How long a session is not looked up at most; the time of day may be corrected meanwhile.
    private static var longestQuietTime: Duration { .seconds(60) }

    /// Checks the session of an open connection before its requests are executed.
    ///
    /// As long as no session has ended anywhere, that is a comparison of two numbers and of two
    /// instants. No clock is read for it.
    func checkLogin(of caller: inout Caller, at instant: MonotonicInstant) {
        guard case .current(_, let count, let end, _) = caller.login else { return }
        if context.accounts.revocationCount == count, instant < end { return }
        lookUpLogin(of: &caller)
    }

    /// Looks the session of an open connection up: it may have ended, or a use is to be logged.
    func lookUpLogin(of caller: inout Caller) {
        guard let session = caller.login.session else { return }
        let count = context.accounts.revocationCount
        let now = context.clock.now()
        guard let found = context.accounts.session(session.tokenHash, at: now) else {
            caller.login = .over
            return
        }
        caller.login = current(renewed(found, at: now), at: now, revocationCount: count)
    }

    /// The session, which expires later now where its last logged use is a day ago.
    private func renewed(_ session: SessionRow, at now: Int64) -> SessionRow {
        guard context.accounts.isDue(session, at: now), takesChanges else { return session }
        return changeLog.transaction {
            context.accounts.renew(session, at: now, changeLog) ?? session
        }
    }

    /// Refuses a call of a caller whose session has ended.
    ///
    /// The calls by which a caller becomes another one are let in.
    func requireLoginNotOver(of caller: borrowing Caller, for method: Method) throws(Status) {
        guard caller.login.isOver else { return }
        switch method {
        case .hello, .ping, .signUp, .signIn, .resetPassword: return
        default: throw .sessionExpired
        }
    }

    func user(of session: SessionRow) throws(Status) -> User {
        guard let account = context.accounts.account(session.userID) else { throw .sessionExpired }
        return User(account)
    }
}

extension User {
    /// The user of an account.
    init(_ account: AccountRow) {
        self.init(
            id: UserID(rawValue: account.id),
            displayName: account.displayName,
            createTimeMilliseconds: account.createTimeMilliseconds
        )
    }
}

/// How a caller gets the role of a key: Hello shows it, or its certificate has an identity.
extension CallEnvironment {
    /// Checks the key of a Hello; where it shows none, that of the certificate, or nil.
    ///
    /// Without `--service-keys` the callers of this machine may do everything with any key or none.
    ///
    /// - Throws: The refusal of a key that is not valid; the caller stays what it was.
    func serviceKey(
        _ bytes: [UInt8],
        of caller: borrowing Caller
    ) throws(Status) -> ServiceKeys.Shown? {
        guard !bytes.isEmpty, !caller.isOnTrustedHost else { return certificateKey(of: caller) }
        // The length first: a long text is not hashed.
        guard let secret = SessionToken(bytes: bytes),
            let found = context.serviceKeys?.find(secret.hash)
        else {
            log.unknownServiceKey(from: caller.host)
            throw .badServiceKey
        }
        log.keyShown(found.name, found.shown.role, from: caller.host)
        return found.shown
    }

    /// What the caller's certificate makes it now; nil where it has none that the service knows.
    private func certificateKey(of caller: borrowing Caller) -> ServiceKeys.Shown? {
        caller.certificateKey.flatMap { context.serviceKeys?.renewed($0) }
    }

    /// Takes the role of a key from a caller whose key has become void, or gives the key's new one.
    ///
    /// Who has shown a void key is what its certificate makes it.
    @inline(__always)
    func renewServiceKey(of caller: inout Caller) {
        guard let shown = caller.serviceKey else { return }
        let renewed = context.serviceKeys?.renewed(shown)
        guard renewed != shown else { return }
        caller.serviceKey = renewed ?? certificateKey(of: caller)
        guard renewed == nil, let left = caller.allowance else { return }
        if let own = context.identities.enter(caller.identity, isForced: true) {
            caller.allowance = own
            context.identities.leave(left)
        }
    }

    /// Gives a caller the key of its Hello, or takes its key away, and counts its connection for the
    /// identity that it has then.
    func adopt(_ key: ServiceKeys.Shown?, by caller: inout Caller) throws(Status) {
        let identity = Caller.identity(of: caller.host, key)
        if let left = caller.allowance, left.identity != identity {
            guard let own = context.identities.enter(identity) else {
                throw .tooManyConnections(ofIdentity: context.limits.identities.connectionCount)
            }
            caller.allowance = own
            context.identities.leave(left)
        }
        caller.serviceKey = key
    }
}

/// How a caller becomes a voter: a user or a device gets a voter number with its first ballot.
extension CallEnvironment {
    /// The voter number of the caller; nil where it has never cast a ballot.
    func voter(of caller: borrowing Caller) -> VoterID? {
        if let voter = caller.voter { return voter }
        return caller.voterKey.flatMap { store.voter(ifKnown: $0) }
    }

    /// The voter number of the caller, which is given now if the voter is new; the caller remembers it.
    ///
    /// A host may bring so many new devices. Users are not counted: accounts have limits of their own,
    /// and a service is trusted with its users.
    func becomeVoter(_ caller: inout Caller) throws(Status) -> VoterID {
        guard let key = caller.voterKey else { throw .identityRequired }
        let voter: VoterID
        if let known = store.voter(ifKnown: key) {
            voter = known
        } else {
            if case .device = key { try admitDevice(of: &caller) }
            voter = try ranked { () throws(RankingError) in
                try store.voter(for: key, sink: changeLog)
            }
        }
        caller.voter = voter
        return voter
    }

    /// Refuses a caller that acts for a user and is no service, and a user whom nobody knows; 0 is the
    /// caller itself.
    func checkActing(for user: UserID, _ caller: borrowing Caller) throws(Status) {
        guard user != 0 else { return }
        guard caller.isService else { throw .serviceOnly }
        guard !user.isOfService else { return }
        guard let account = context.accounts.account(user.rawValue) else {
            throw .unknownActingUser(user)
        }
        guard !account.isSuspended else { throw .userSuspended }
    }

    /// The name of the account of a user; nil of one of a service's own, who has none.
    ///
    /// An account may have been deleted since the caller's session was looked up. A post that is made
    /// of it later would keep its author: see ``AccountErasure``.
    func accountName(of user: UInt64) throws(Status) -> String? {
        guard !UserID(rawValue: user).isOfService else { return nil }
        guard let account = context.accounts.account(user) else { throw .sessionExpired }
        return account.displayName
    }

    /// Whether a caller may act for a user, as far as that is known without the accounts.
    @inline(__always)
    static func mayActFast(for user: UserID, isService: Bool) -> Bool {
        user == 0 || (user.isOfService && isService)
    }

    /// Counts a new device of the caller's host.
    private func admitDevice(of caller: inout Caller) throws(Status) {
        if let wait = context.devices.admit(caller.identity, standing(of: caller)) {
            throw .tooManyDevices(limit: context.limits.newDevicesPerPeerMinute, wait: wait)
        }
        caller.hasBroughtDevice = true
    }

    private func standing(of caller: borrowing Caller) -> DeviceAdmission.Standing {
        if caller.hasBroughtDevice { return .repeated }
        return caller.age >= DeviceAdmission.establishedAge ? .established : .fresh
    }
}

/// Why the service takes no changes now.
enum ChangeRefusal {
    case commitStalled(Duration, CommitWait)
    /// The service follows a leader, whose address is known or not.
    case following(leader: String?)
    case overloaded(limitByteCount: Int)
    case clockJumped(byMilliseconds: Int64)
    /// The disk has too little room for more changes.
    case diskFull(freeByteCount: Int, writableByteCount: Int)
    case commitsBehind(isOfCluster: Bool)
    case checkpointsBehind(CheckpointBacklog, retryTime: Duration)

    var status: Status {
        switch self {
        case .commitStalled(let time, let wait): .commitStalled(time, wait)
        case .following(let leader): .notLeader(leader)
        case .overloaded(let limitByteCount): .overloaded(limit: limitByteCount)
        case .clockJumped(let milliseconds): .clockJumped(by: milliseconds)
        case .diskFull(let freeByteCount, let writableByteCount):
            .readOnly(freeByteCount: freeByteCount, writableByteCount: writableByteCount)
        case .commitsBehind(let isOfCluster): .journalBehind(isOfCluster: isOfCluster)
        case .checkpointsBehind(let backlog, let retryTime):
            .checkpointsBehind(backlog, retryTime: retryTime)
        }
    }
}

extension ServiceContext {
    /// The cause for which all changes are refused now, nil if they are taken; a few atomic loads.
    var changeRefusal: ChangeRefusal? {
        if stalls.keepsChangesOut {
            return stalls.isFollowing ? .following(leader: node?.leader) : stallRefusal
        }
        if isOverloaded { return .overloaded(limitByteCount: limits.maximumBufferedByteCount) }
        let jump = clock.jumpMilliseconds
        if jump != 0 { return .clockJumped(byMilliseconds: jump) }
        guard let journal = state?.journal else { return nil }
        if !journal.isWritable {
            return .diskFull(
                freeByteCount: journal.freeByteCount,
                writableByteCount: journal.writableByteCount
            )
        }
        switch journal.congestion {
        case nil: return nil
        case .journal: return .commitsBehind(isOfCluster: node != nil)
        case .checkpoints(let backlog, let retryTime):
            return .checkpointsBehind(backlog, retryTime: retryTime)
        }
    }

    /// The refusal of calls while a commit stands still.
    ///
    /// The commit may have come to its end since the watch looked, and then nothing waits any more.
    var stallRefusal: ChangeRefusal {
        .commitStalled(
            max(state?.journal.oldestWait ?? .zero, stalls.times[.commit] ?? .zero),
            commitWait
        )
    }

    /// What a commit that stands still waits for.
    var commitWait: CommitWait { state?.commitWait ?? .disk }

    func count(_ refusal: ChangeRefusal) {
        guard case .checkpointsBehind = refusal else { return }
        state?.journal.countRefusalByCheckpoints()
    }
}

extension Status {
    fileprivate static func commitStalled(_ time: Duration, _ wait: CommitWait) -> Status {
        let seconds = Int(time / .seconds(1))
        let cause =
            switch wait {
            case .disk:
                "The service's disk does not answer: a commit has stood still for \(seconds) s"
            case .majority(let record):
                "No majority of the cluster has confirmed record \(record) for \(seconds) s"
            }
        return Status(
            code: .unavailable,
            reason: .overloaded,
            message: "\(cause), and nothing that may show it is answered.",
            retryAfterMilliseconds: 2000
        )
    }

    /// Whether the call was refused because a commit stands still; such a refusal may overtake held
    /// answers.
    ///
    /// docs/PROTOCOL.md gives this code with this reason to that cause alone. Every other refusal has the
    /// code of its reason, which is another one for OVERLOADED.
    var isOfStall: Bool { code == .unavailable && reason == .overloaded }

    fileprivate static func checkpointsBehind(
        _ backlog: CheckpointBacklog,
        retryTime: Duration
    ) -> Status {
        Status(
            .overloaded,
            "\(backlog.pendingByteCount) bytes of changes wait to be written to the "
                + "state database, of at most \(backlog.limitByteCount); changes are slowed from "
                + "half of them on, and reads are served.",
            retryMilliseconds: UInt32(clamping: retryTime.millisecondsRoundedDown)
        )
    }
}
