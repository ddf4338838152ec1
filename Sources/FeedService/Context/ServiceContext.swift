internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedLog
internal import FeedRanking
internal import FeedState
internal import FeedTransport
internal import FoundationEssentials
internal import Synchronization

/// The context that all loops share beside the store: limits, keys, counts and the durable state.
final class ServiceContext: Sendable {
    let limits: ServiceLimits
    /// Writes and reads page tokens, under a key of this instance.
    let tokens: PageTokenCoder
    /// Names this state; another number means other state.
    let instanceID: UInt64
    /// The durable state; nil where all state is in memory.
    let state: DurableState?
    /// The time of day, in Unix milliseconds.
    let timeOfDay: @Sendable () -> Int64
    let clock: ClockWatch
    let startTimeMilliseconds: Int64
    /// The keys that callers show; nil where the callers of this machine may do everything.
    let serviceKeys: ServiceKeys?
    let stalls: Stalls
    /// What the service is in its cluster; nil without one.
    let node: ClusterNode?
    /// What gets a state for the directory, which has none; nil with one.
    let waitingNode: WaitingNode?
    let devices: DeviceAdmission
    let posts: PostAdmission
    /// The hosts and devices of the latest posts.
    let origins: PostOrigins
    let identities: IdentityAdmission
    let watchAdmission: WatchAdmission
    /// The channels whose numbered calls are remembered.
    let channels: ChannelTable
    let accounts: Accounts
    /// Limits how often passwords may be tried.
    let signInLimits: SignInLimits<ClientIdentity>
    let passwords: PasswordHasher
    let budget: BufferBudget
    /// Bounds what imports and corrections of times log at the same time; unbounded where nothing is
    /// journaled.
    let longTransactionRoom: LongTransactionRoom
    /// The clock of timers and deadlines; nil is the system's clock.
    let loopClock: ManualClock?
    /// One loop's counts each, in the order of the loops.
    let counters: [LoopCounters]
    /// The level from which on the log has lines.
    let logThreshold: LogThreshold
    private let supervisor: Supervisor
    private let listeners = Lock<[ListenerCounters]>([])
    private let draining = Atomic(false)
    private let drainHandler = Lock<(@Sendable () -> Void)?>(nil)

    /// Makes what the loops of a configuration share, for a state that was opened or for none.
    init(
        _ configuration: ServiceConfiguration,
        _ state: DurableState?,
        _ waitingNode: WaitingNode? = nil,
        channels: ChannelTable,
        clock: ClockWatch
    ) {
        self.clock = clock
        self.state = state
        self.waitingNode = waitingNode
        self.channels = channels
        limits = configuration.limits
        let identity = state?.identity
        instanceID = identity?.instanceID ?? .random(in: 1 ... .max)
        tokens =
            if let key = identity?.pageTokenKey {
                PageTokenCoder(key0: key.high, key1: key.low)
            } else {
                PageTokenCoder(key0: .random(in: 0 ... .max), key1: .random(in: 0 ... .max))
            }
        let replica = configuration.state?.replica
        let stalls = Stalls(limit: limits.stallLimit, isFollowing: replica != nil)
        let staleness = limits.maximumStaleness
        self.stalls = stalls
        node = replica.map {
            ClusterNode(
                $0,
                maximumStaleness: staleness,
                isWaiting: waitingNode != nil,
                stalls
            )
        }
        precondition(
            (1...RankingLimits.maximumPageSize).contains(limits.calls.maximumPageSize)
                && limits.calls.maximumWatchTopCount <= RankingLimits.maximumPageSize
                && limits.greatestPostByteCount + 256 <= StateOptions.shortTransactionByteCount
                && limits.calls.maximumTitleByteCount <= RankingLimits.maximumFieldByteCount
                && limits.calls.maximumURLByteCount <= RankingLimits.maximumFieldByteCount
                && limits.calls.maximumTextByteCount <= RankingLimits.maximumTextByteCount
                && limits.calls.maximumImportedCount <= RankingLimits.maximumImportedCount,
            "The service's limits are within what the ranking and a transaction can hold."
        )
        self.loopClock = configuration.loopClock
        timeOfDay = configuration.timeOfDay
        startTimeMilliseconds = configuration.timeOfDay()
        serviceKeys = configuration.serviceKeys
        supervisor = configuration.supervisor
        logThreshold = configuration.logThreshold
        accounts = Accounts(limits.accounts)
        signInLimits = SignInLimits(limits.accounts, clock: configuration.signInClock)
        passwords = PasswordHasher(
            queueLimit: limits.accounts.maximumQueuedHashCount,
            functions: configuration.passwordFunctions
        )
        watchAdmission = WatchAdmission(limit: limits.maximumWatchCount)
        let loopClock = configuration.loopClock
        identities = IdentityAdmission(limits.identities) { loopClock?.now ?? .now }
        devices = DeviceAdmission(limit: limits.newDevicesPerPeerMinute)
        posts = PostAdmission(limits.posts) { loopClock?.now ?? .now }
        origins = PostOrigins(at: startTimeMilliseconds)
        longTransactionRoom = LongTransactionRoom(
            maximumByteCount: configuration.state?.maximumLongTransactionByteCount ?? .max
        )
        budget =
            configuration.budget
            ?? BufferBudget(limitByteCount: limits.maximumBufferedByteCount)
        counters = (0..<configuration.threadCount).map { _ in LoopCounters() }
    }

    /// The log that takes the entries of a loop's changes.
    func changeLog(_ loop: Int) -> ChangeLog { state?.logs[loop] ?? .none }

    var now: MonotonicInstant { loopClock?.now ?? .now }

    /// Whether the caller of a connection may do everything: one of this machine, where there are no keys.
    ///
    /// Nobody behind a proxy is: it may be one of several, of which each knows the one before.
    func trusts(_ connection: TCPConnection) -> Bool { serviceKeys == nil && isLocal(connection) }

    /// Whether the caller of a connection has limits: one of another machine, unless a flag says otherwise.
    func limitsCaller(of connection: TCPConnection) -> Bool {
        limits.identities.limitsLoopback || !isLocal(connection)
    }

    private func isLocal(_ connection: TCPConnection) -> Bool {
        connection.peer.host.isLoopback && !connection.isProxied
    }

    /// Whether the service is stopping; once set, it stays.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// The address of the cluster's leader, if that is another service and known.
    var otherLeader: String? { stalls.isFollowing ? node?.leader : nil }

    /// Calls `body` when an operator asks for a drain, on the loop of the operator's connection.
    func onDrainRequest(_ body: @escaping @Sendable () -> Void) {
        drainHandler.withLock { $0 = body }
    }

    /// An operator asks the service to stop.
    func askToDrain() { drainHandler.withLock { $0 }?() }

    /// The service begins to stop, and its supervisor is told; true the first time.
    func beginDraining() -> Bool {
        guard !draining.exchange(true, ordering: .relaxed) else { return false }
        supervisor.notify(.stopping)
        return true
    }

    /// Counts a listener's connections in the statistics.
    func addListener(_ counters: ListenerCounters) {
        listeners.withLock { $0.append(counters) }
    }

    var openConnectionCount: UInt64 { UInt64(clamping: budget.connectionCount) }

    /// The connections that may open beside those.
    var leftConnectionCount: Int { limits.maximumConnectionCount - budget.connectionCount }

    var acceptedConnectionCount: UInt64 { total { $0.acceptedCount } }

    /// The number of connections that were refused because there were too many.
    var refusedConnectionCount: UInt64 { total { $0.refusedCount } }

    /// How often accepting paused for want of a file descriptor.
    var acceptPauseCount: UInt64 { total { $0.restCount } }

    var bufferedByteCount: UInt64 { UInt64(clamping: budget.bufferedByteCount) }

    private func total(_ count: (ListenerCounters) -> Int) -> UInt64 {
        listeners.withLock { $0.reduce(0) { $0 + UInt64(clamping: count($1)) } }
    }

    /// Whether writes are refused because too many bytes are held for connections.
    ///
    /// Reads are refused much earlier, because ``AnswerRoom`` has no room for their answers.
    var isOverloaded: Bool { budget.isExhausted }

    /// The bytes that the answers to reads may take together.
    var allReadAnswersByteLimit: Int { budget.answerLimitByteCount }

    /// The answers that a connection may leave unsent before it is served no further; while much is
    /// held, so little that all connections together leave room for reads.
    var unsentByteLimit: Int {
        guard budget.isCrowded else { return limits.maximumUnsentByteCount }
        let share = budget.fairShareByteCount / 4
        return min(limits.maximumUnsentByteCount / 16, max(Self.leastUnsentByteLimit, share))
    }

    /// The least limit of a connection's unsent answers: those to some hundred votes.
    private static let leastUnsentByteLimit = 4096

    /// How long a request may wait, by what it says itself.
    func timeout(milliseconds: UInt32) -> Duration {
        guard milliseconds > 0 else { return .milliseconds(limits.defaultTimeoutMilliseconds) }
        return .milliseconds(min(milliseconds, limits.maximumTimeoutMilliseconds))
    }
}

/// The room that the answers of one loop iteration to one connection take in the budget, from
/// before they are built until the connection or the outbox counts what is left of them.
struct AnswerRoom {
    private let budget: BufferBudget
    private var host: HostSlot?
    private var byteCount = 0

    init(_ budget: BufferBudget) { self.budget = budget }

    /// The next answers go to this host.
    mutating func begin(for host: HostSlot) {
        self.host = host
    }

    /// Takes room for an answer of at most this many bytes; false if there is none, and then the
    /// answer must not be built.
    mutating func reserve(_ greatestByteCount: Int) -> Bool {
        guard let host else { return true }
        guard budget.reserve(greatestByteCount, for: host) else { return false }
        byteCount += greatestByteCount
        return true
    }

    /// Gives back the room beyond these bytes, which the encoded answers have.
    mutating func shrink(to encodedByteCount: Int) {
        let surplus = byteCount - encodedByteCount
        guard surplus > 0 else { return }
        budget.addReserved(-surplus)
        byteCount -= surplus
    }

    mutating func end() {
        shrink(to: 0)
    }
}
