internal import FeedAccounts
internal import FeedConcurrency
internal import FeedRanking
internal import FeedTransport

/// The service's state of a connection between two loop iterations.
struct Session {
    /// The requests that may be executed.
    var life = SessionLife()
    var caller: Caller
    /// The last request that the limits of the caller's identity have counted: one that is passed again
    /// is counted once.
    var chargedID: UInt64 = 0
    /// The progress of the request that needs another loop iteration.
    var suspendedWork = SuspendedWork()
}

/// The life of a connection and the last request that it executed: a value without I/O or clock.
///
/// Request ids rise strictly on a connection, so GoAway can name the last executed request.
package struct SessionLife {
    private enum State {
        case serving
        /// The service is stopping: requests that were received whole are finished, then GoAway
        /// is sent.
        case draining
        case closing
    }

    package enum RequestAction: Equatable {
        case execute
        /// Its id is not above the last one: answer BAD_FRAME and close.
        case refuse(lastID: UInt64)
        /// The connection is closing: ignore it.
        case ignore
    }

    private var state = State.serving

    package init() {}

    /// The highest id that was executed, 0 before the first.
    package private(set) var lastID: UInt64 = 0

    package var isClosing: Bool { state == .closing }

    /// Whether GoAway is sent after the received requests are finished.
    package var isDraining: Bool { state == .draining }

    /// A request of this id was read.
    package func action(for id: UInt64) -> RequestAction {
        if state == .closing { return .ignore }
        return id > lastID ? .execute : .refuse(lastID: lastID)
    }

    /// Whether a request of this id is executed.
    @inline(__always)
    func executes(_ id: UInt64) -> Bool { state != .closing && id > lastID }

    /// The request of this id was executed, or refused with an answer of its own.
    package mutating func answered(_ id: UInt64) {
        precondition(id > lastID, "A request is answered once, in the order of ids.")
        lastID = id
    }

    /// The service is stopping.
    package mutating func drain() {
        if state == .serving { state = .draining }
    }

    /// No more requests will be executed; true the first time.
    package mutating func close() -> Bool {
        defer { state = .closing }
        return state != .closing
    }
}

/// The progress of a request that needs more work than one loop iteration allows.
struct SuspendedWork {
    /// The refresh allowance of reads in the next loop iteration; larger where a read has waited.
    var refreshAllowance = RefreshAllowance()
    /// The progress of an import's check that waits for its next iteration; nil where none waits.
    var textWalk: TextWalk?
}

/// A read whose revision a follower has not reached.
struct PostponedRead {
    /// Its frame, without the header.
    let body: [UInt8]
    let revision: UInt64
    /// How long the read may wait, by what it says itself.
    let timeout: Duration
    /// Its progress, if it needs more work than one loop iteration allows.
    var work = SuspendedWork()

    init(_ body: RawSpan, revision: UInt64, timeout: Duration) {
        var bytes: [UInt8] = []
        bytes.append(copying: body)
        self.body = bytes
        self.revision = revision
        self.timeout = timeout
    }

    func withBody<Result>(_ work: (RawSpan) -> Result) -> Result { body.withRawSpan(work) }
}

/// The room for reads that wait for a revision, in one loop.
struct PostponedReadRoom {
    private var count: Int
    private var byteCount: Int

    init(_ limits: ServiceLimits) {
        count = limits.waitingReadCount
        byteCount = limits.waitingReadByteCount
    }

    func admits(_ readByteCount: Int) -> Bool { count > 0 && readByteCount <= byteCount }

    mutating func take(_ readByteCount: Int) {
        count -= 1
        byteCount -= readByteCount
    }

    mutating func giveBack(_ readByteCount: Int) {
        count += 1
        byteCount += readByteCount
    }
}

/// How much of an import's texts may still be walked character by character in this loop iteration.
///
/// A walk takes about 25 ns a byte where characters have many scalars, so the texts of a full frame
/// would occupy a loop for 28 ms. An import that has used up an iteration continues in a later one,
/// after the posts that are checked.
package struct TextWalk: Sendable {
    private var remainingByteCount: Int
    /// The number of posts, from the import's first, that keep to the rules.
    package private(set) var checkedPostCount = 0

    /// A walk in its first loop iteration.
    ///
    /// - Parameter byteLimit: The bytes of an iteration; a post that is begun is finished.
    package init(byteLimit: Int) {
        remainingByteCount = byteLimit
    }

    /// Whether another post may be checked in this iteration; the first one always may.
    package var hasRoom: Bool { remainingByteCount > 0 }

    /// Counts the next post, which keeps to the rules, and the bytes that were walked for it.
    package mutating func checked(walkedByteCount: Int) {
        checkedPostCount += 1
        remainingByteCount -= walkedByteCount
    }

    /// Ends the import; the next one in this iteration has the rest of the bytes.
    package mutating func endImport() {
        checkedPostCount = 0
    }

    package mutating func renew(byteLimit: Int) {
        remainingByteCount = byteLimit
    }
}

/// The limits of the requests that one connection has executed in one loop iteration.
struct IterationLimits {
    /// How many frames may still be executed.
    var frameCount: Int
    /// The bytes of answers at which nothing more is executed; without room if not positive.
    let answerByteCount: Int
    /// How long the first request has waited for its loop iteration; nil is not at all.
    let waited: Duration?
    let now: MonotonicInstant
}

/// The client of a connection: the holder of a key, a user, a device, or an anonymous client.
struct Caller {
    /// The device that calls; nil on an anonymous connection.
    private(set) var device: Device16?
    /// Whether the caller is a user, by the session that it has shown.
    var login = Login.none {
        didSet {
            if userID != oldValue.session?.userID { ownVoter = nil }
            takesFastPath = mayVote
        }
    }
    /// The user that a service acts for in the request that is executed; 0 is none.
    private(set) var actingUserID: UInt64 = 0
    /// The number of the connection's own voter; nil until it is looked up.
    private(set) var ownVoter: VoterID?
    /// The number of the user that is acted for; nil until it is looked up.
    private var actingVoter: VoterID?
    /// The channel of the caller's numbered calls; nil on an anonymous connection, and if the service
    /// has refused it.
    private(set) var channel: HeldChannel?
    /// The channel that the service has refused to the caller's Hello.
    private(set) var missedChannel: UInt32?
    /// Whether the caller's Hello got no channel because the service followed the leader of a cluster.
    var hasMetFollower = false
    /// Whether the connection has opened a channel that was not known.
    private(set) var hasOpenedChannel = false
    /// The revision of the last change that the connection has made, for pages that must show it.
    private(set) var lastChange: UInt64 = 0
    /// Whether the connection has brought a new device.
    var hasBroughtDevice = false
    /// The key that Hello has shown, or else that of the certificate; nil where there is none, or it is
    /// void.
    var serviceKey: ServiceKeys.Shown? { didSet { takesFastPath = mayVote } }
    /// Whether the caller's votes may take the fast path, which does not read the authorisation table.
    ///
    /// A flag, so that a run of votes reads one byte for the session and the role together.
    private(set) var takesFastPath = true
    /// What is left of the limits of the caller's identity; nil where it has none.
    var allowance: IdentityAllowance?
    /// What the certificate of the connection made the caller when it opened; nil without one.
    let certificateKey: ServiceKeys.Shown?
    private let openTime: MonotonicInstant
    /// Whether each caller of the host may do everything.
    let isOnTrustedHost: Bool
    /// Whether the caller has limits, of its key or of its host.
    let isLimited: Bool
    /// The host of the connection, which new devices are counted for.
    let host: SocketAddress.Host

    /// A caller from this host that has not said Hello.
    init(
        host: SocketAddress.Host,
        isOnTrustedHost: Bool,
        isLimited: Bool = true,
        certificateKey: ServiceKeys.Shown?,
        openTime: MonotonicInstant = MonotonicInstant.now
    ) {
        self.host = host
        self.isOnTrustedHost = isOnTrustedHost
        self.isLimited = isLimited
        self.certificateKey = certificateKey
        self.openTime = openTime
        serviceKey = certificateKey
        takesFastPath = mayVote
    }

    /// Whether the caller is trusted as a service.
    var isService: Bool { isOnTrustedHost || serviceKey?.role == .service }

    var identity: ClientIdentity { Self.identity(of: host, serviceKey) }

    static func identity(
        of host: SocketAddress.Host,
        _ key: ServiceKeys.Shown?
    ) -> ClientIdentity {
        key.map { .key($0.number) } ?? ClientIdentity(host)
    }

    /// Whom the caller shares scarce places with: a service has those of its key, and all others have those
    /// of their host, as a key of an `app` may be in everybody's hands.
    var peer: ClientIdentity { isService ? identity : ClientIdentity(host) }

    var userID: UInt64? { login.session?.userID }

    /// The user in whose name the request is executed, and the author of what it writes; nil is none.
    ///
    /// It is the user that a service acts for, or else the user of the session.
    var requestUserID: UInt64? { actingUserID != 0 ? actingUserID : userID }

    /// What the caller has shown itself to be; the authorisation table decides by it.
    var role: Role {
        if isOnTrustedHost { return .local }
        if let role = serviceKey.flatMap({ Role($0.role) }) { return role }
        if userID != nil { return .user }
        return device == nil ? .anonymous : .device
    }

    /// The hash by which a channel knows a batch of the caller's again that was counted in part.
    ///
    /// The user of the session is in it, so that what is left of the batch is counted for nobody else. A
    /// batch that was counted whole, and that of a device, has the hash of its content; there, the user
    /// that a service acts for is in.
    func hash(ofPartOf content: UInt32) -> UInt32 {
        guard actingUserID == 0, let userID else { return content }
        let mixed = (userID ^ UInt64(content)) &* 0x9E37_79B9_7F4A_7C15
        return UInt32(truncatingIfNeeded: mixed >> 32)
    }

    /// Whether the caller's session has not ended, and the table opens votes to its role.
    private var mayVote: Bool { !login.isOver && Method.castVote.access.admits(role) }

    /// The caller has said Hello; an anonymous Hello withdraws an earlier identity.
    mutating func introduce(
        _ device: Device16?,
        on number: UInt32,
        _ opening: ChannelTable.Opening?
    ) {
        channel = nil
        missedChannel = device == nil ? nil : number
        if let opening { hold(opening) }
        guard device != self.device else { return }
        self.device = device
        ownVoter = nil
    }

    /// The user whose request is executed next; 0 is the caller itself.
    ///
    /// Every request says so, because the connections of a service carry requests of many users.
    @inline(__always)
    mutating func act(forUser user: UserID) {
        guard user.rawValue != actingUserID else { return }
        actingUserID = user.rawValue
        actingVoter = nil
    }

    /// The identity whose ballots the request sets and shows; nil where the caller has named nobody.
    ///
    /// A person who signs in on a device votes as the user: nothing merges the two.
    var voterKey: VoterKey? {
        if let requestUserID { return .user(requestUserID) }
        return device.map { .device($0) }
    }

    /// The number of that identity in the ranking; nil until it is looked up.
    var voter: VoterID? {
        @inline(__always) get { actingUserID == 0 ? ownVoter : actingVoter }
        @inline(__always) set {
            if actingUserID == 0 { ownVoter = newValue } else { actingVoter = newValue }
        }
    }

    /// Notes the revision of an answer to a change.
    ///
    /// A vote that changes nothing, and a repeated one, are answered with the revision that the post
    /// has had for long.
    @inline(__always)
    mutating func noteChange(_ revision: UInt64) { lastChange = max(lastChange, revision) }

    mutating func hold(_ opening: ChannelTable.Opening) {
        channel = opening.held
        missedChannel = nil
        if !opening.wasKnown { hasOpenedChannel = true }
    }

    var age: Duration { MonotonicInstant.now.duration(since: openTime) }
}

/// Whether a connection's caller is a user, by the session that it has shown.
enum Login {
    case none
    /// The caller is the user of this session.
    ///
    /// The count is that of the service's ended sessions when the session was last found current. Before
    /// the instant it neither expires nor has a use to log. Half of its time may be over since the last use
    /// that was logged.
    case current(
        SessionRow,
        revocationCount: UInt64,
        until: MonotonicInstant,
        isHalfOver: Bool
    )
    /// The session that the caller has shown has expired or was ended; the next Hello, sign-in or
    /// sign-up replaces it.
    case over

    /// The session; nil where none is current.
    var session: SessionRow? {
        if case .current(let session, _, _, _) = self { session } else { nil }
    }

    /// Whether no use of the session was logged for half of its time.
    var isHalfOver: Bool {
        if case .current(_, _, _, let isHalfOver) = self { isHalfOver } else { false }
    }

    /// Whether the caller's session has ended while the connection is open.
    var isOver: Bool { if case .over = self { true } else { false } }
}
