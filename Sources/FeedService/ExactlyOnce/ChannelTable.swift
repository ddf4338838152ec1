package import FeedConcurrency
package import FeedLog
package import FeedRanking

/// The channels whose calls are remembered, by client and channel.
///
/// A channel stays as long as a connection holds it, and for the retention after that, unless its
/// host takes more than its share. Its number is never another's. Lock order: the loop's log, this
/// table, a channel.
package final class ChannelTable: Sendable {
    package struct Request {
        package let key: Key
        package let host: ClientIdentity
        /// Whether the connection has opened a new channel before.
        package var isFurther = false
        /// Whether a new channel may be made: that is a change.
        package var mayAdd = true
        /// Whether the channel is asked for after its Hello, and is another connection's by now if
        /// it is known.
        package var isLate = false

        package init(_ key: Key, from host: ClientIdentity) {
            self.key = key
            self.host = host
        }
    }

    /// A device and one of its channels, under the number that the client chose.
    package struct Key: Hashable {
        let device: Device16
        let channel: UInt32

        package init(_ device: Device16, channel: UInt32) {
            self.device = device
            self.channel = channel
        }

        init(_ identity: ChannelState) {
            device = Device16(high: identity.clientHigh, low: identity.clientLow)
            channel = identity.channel
        }
    }

    package enum Refusal: Error, Equatable {
        case noRoom(hostByteCount: Int, limitByteCount: Int)
        case tooFast(wait: Duration)
        /// It would be a new one, and that is a change.
        case mayNotAdd
        case takenOver
    }

    /// The channel as it is opened for a Hello.
    package struct Opening {
        /// The channel, held by the connection that said Hello.
        package let held: HeldChannel
        package let wasKnown: Bool
        package let lastSequence: UInt64
    }

    let state = Lock(State())
    let limits: ChannelLimits
    /// The memory of all channels.
    let budget: ChannelBudget
    /// How fast hosts may open new channels.
    private let newChannels: HostBuckets
    let collectsEvicted: Bool
    let clock: @Sendable () -> MonotonicInstant

    /// A table without channels.
    ///
    /// One that follows forgets a channel only where the log says so, until `beginLeading`.
    package init(
        limits: ChannelLimits,
        collectsEvicted: Bool = false,
        follows: Bool = false,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        self.limits = limits
        self.collectsEvicted = collectsEvicted
        self.clock = clock
        budget = ChannelBudget(limitByteCount: limits.byteCount)
        newChannels = HostBuckets(
            burst: limits.newChannelBurst,
            countPerMinute: limits.newChannelsPerMinute,
            clock: clock
        )
        state.withLock { $0.isFollowing = follows }
    }

    /// The channels that are remembered.
    package var count: Int { state.withLock { $0.index.count } }

    /// The bytes of memory that the channels take, about.
    package var byteCount: Int { budget.usedByteCount }

    /// The number of channels that were forgotten, for any of the rules of eviction.
    package var evictedCount: UInt64 { state.withLock { $0.evictedCount } }

    package var refusedCount: UInt64 { state.withLock { $0.refusedCount } }

    /// Gives a client's channel to the connection that says Hello, a new one on first sight; O(1),
    /// and O(channels evicted) where the host takes its share.
    ///
    /// The caller is within a transaction of the loop's log, which takes the entry of a new
    /// channel. The previous holder is fenced: once this returns, no call of its connection is
    /// under way.
    package func open(_ request: Request, log: ChangeLog) throws(Refusal) -> Opening {
        try state.withLock { (state) throws(Refusal) -> Opening in
            do throws(Refusal) {
                let known = state.index[request.key]
                let place: Int
                if let known {
                    place = try take(known, request, &state)
                } else {
                    place = try add(request, log, &state)
                }
                let channel = state.channels[place].channel
                let (epoch, highest) = channel.withCalls { ($0.beginEpoch(), $0.highest) }
                return Opening(
                    held: HeldChannel(channel: channel, epoch: epoch),
                    wasKnown: known != nil,
                    lastSequence: highest
                )
            } catch {
                state.refusedCount += 1
                throw error
            }
        }
    }

    /// A known channel, which counts as the host's from now on.
    private func take(
        _ place: Int,
        _ request: Request,
        _ state: inout State
    ) throws(Refusal) -> Int {
        guard !request.isLate else { throw .takenOver }
        state.unlink(place)
        let old = state.channels[place].host
        let new = state.host(request.host, budget)
        guard new != old else { return place }
        state.channels[place].host = new
        state.hosts[new].channelCount += 1
        let share = state.hosts[new].share
        state.channels[place].channel.withCalls { $0.move(to: share) }
        state.releaseHost(old)
        return place
    }

    /// A channel that the client did not have.
    private func add(
        _ request: Request,
        _ log: ChangeLog,
        _ state: inout State
    ) throws(Refusal) -> Int {
        guard request.mayAdd else { throw .mayNotAdd }
        let host = state.host(request.host, budget)
        let share = state.hosts[host].share
        state.hosts[host].channelCount += 1
        // The host first gives up its own idle channels.
        while !share.admits(RecentCalls.baseByteCount) {
            guard let idle = state.hosts[host].idlest else {
                state.releaseHost(host)
                throw .noRoom(
                    hostByteCount: share.usedByteCount,
                    limitByteCount: budget.limitByteCount
                )
            }
            evict(idle, &state)
        }
        let reserve = request.isFurther ? limits.newChannelBurst / 2 : 0
        if let wait = newChannels.take(from: request.host, leaving: reserve) {
            state.releaseHost(host)
            throw .tooFast(wait: wait)
        }
        makeRoom(&state)
        let identity = ChannelState(
            number: state.nextNumber,
            clientHigh: request.key.device.high,
            clientLow: request.key.device.low,
            channel: request.key.channel
        )
        state.nextNumber += 1
        log.append(identity)
        return state.insert(Channel(identity, share: share), host: host)
    }

    /// Releases a channel from its connection; O(1).
    ///
    /// Without effect if another connection has taken the channel over.
    ///
    /// The channel is left if the connection lives on and has said another Hello: then none of its calls is
    /// in doubt, and a channel without calls need not be remembered.
    package func close(_ held: HeldChannel, isLeft: Bool = false) {
        let now = clock()
        let key = Key(held.channel.identity)
        state.withLock { state in
            guard let place = state.index[key],
                state.channels[place].channel === held.channel
            else { return }
            let (epoch, highest) = held.withCalls { ($0.epoch, $0.highest) }
            guard epoch == held.epoch else { return }
            if isLeft, highest == 0 {
                evict(place, &state)
            } else {
                state.link(place, isUsed: highest > 0, at: now)
            }
        }
    }

    /// Whether a channel is remembered; O(1).
    package func isKnown(_ key: Key) -> Bool { state.withLock { $0.index[key] != nil } }
}

/// Eviction: the rules by which channels are forgotten.
///
/// - A host that takes more than its share loses idle channels at once: first those on which nothing
///   was called, then the others, the one that has been idle for longest first. So the greediest
///   hosts give up channels when the memory of all runs short.
/// - A host with many idle channels (`quietByteCount`) keeps them for the short retention only.
/// - All others are forgotten after the retention.
///
/// The hosts of restored channels are not known; they count as one, which may take the memory of all
/// hosts and keeps what fits into it for the whole retention: their clients are about to come back.
/// If hosts need that memory again, restored channels are forgotten, the newest first.
extension ChannelTable {
    /// The time between two runs of the eviction.
    package static let evictionInterval = Duration.milliseconds(250)
    /// The most channels that one run evicts: a few tenths of a millisecond, and enough to empty a
    /// full table in about half a minute.
    private static let evictionLimit = 2048
    /// The most hosts that one run visits.
    private static let visitedHostLimit = 4096

    /// The restored channels that are forgotten for a new one at most.
    private static let makeRoomLimit = 8

    /// Forgets channels whose retention is over, the short one or the full one; O(limit), and
    /// O(channels) where memory is given back.
    @discardableResult
    package func evict(limit: Int = evictionLimit) -> Int {
        let now = clock()
        return state.withLock { state in
            guard !state.isFollowing else { return 0 }
            var count = 0
            for _ in 0..<min(state.hosts.endPlace, Self.visitedHostLimit) {
                if state.nextHost >= state.hosts.endPlace { state.nextHost = 0 }
                while count < limit, let due = state.dueChannel(of: state.nextHost, limits, now) {
                    evict(due, &state)
                    count += 1
                }
                // The next run evicts the other channels of this host.
                guard count < limit else { break }
                state.nextHost += 1
            }
            state.shrink()
            return count
        }
    }

    /// Forgets restored channels until a new channel has the memory that it needs; O(1).
    func makeRoom(_ state: inout State) {
        // Calls may have taken more, which the next run evicts.
        for _ in 0..<Self.makeRoomLimit where !budget.holds(RecentCalls.baseByteCount) {
            guard let host = state.hostIndex[.earlierRun], let idle = state.hosts[host].idlest
            else { return }
            evict(idle, &state)
        }
    }

    func evict(_ place: Int, _ state: inout State) {
        let number = state.channels[place].channel.identity.number
        state.remove(place)
        state.restored[number] = nil
        if collectsEvicted { state.evicted.append(number) }
        state.evictedCount += 1
    }

    /// Whether the runs since the last call found a host with so many idle channels that they are
    /// kept for the short retention only.
    package func takeForgetsSoon() -> Bool {
        state.withLock { state in
            let forgetsSoon = state.forgetsSoon
            state.forgetsSoon = false
            return forgetsSoon
        }
    }

    /// The numbers evicted since they were taken last; empty unless the table collects them.
    ///
    /// The log entries that name them may still be on their way to the journal.
    package func takeEvicted() -> [UInt64] {
        state.withLock { state in
            let evicted = state.evicted
            state.evicted = []
            return evicted
        }
    }
}

extension ChannelTable {
    /// The idle channels of a host, the one that has been idle for longest first.
    struct IdleList {
        var first = State.none
        var last = State.none
    }

    /// A channel in the table; 40 bytes.
    struct ChannelEntry {
        let channel: Channel
        /// Its host's place.
        var host: Int
        /// Its neighbours in its host's list of idle channels.
        var previous = State.none
        var next = State.none
        /// When its connection closed; nil while it is held.
        var closeTime: MonotonicInstant?
        var isUsed = false
    }

    /// A host with channels.
    struct HostEntry {
        let key: ClientIdentity
        /// The memory of its channels.
        let share: ChannelShare
        var channelCount = 0
        /// The bytes of its idle channels.
        var idleByteCount = 0
        var unused = IdleList()
        var used = IdleList()

        /// The list of the idle channels on which something was called, or of the others.
        subscript(isUsed: Bool) -> IdleList {
            get { isUsed ? used : unused }
            set { if isUsed { used = newValue } else { unused = newValue } }
        }

        /// The idle channel that is evicted first; nil where none is idle.
        ///
        /// Of the channels of an earlier run it is the newest one, because their idle times are not
        /// known: a flood of new channels must not evict the older ones.
        var idlest: Int? {
            let list = unused.first != State.none ? unused : used
            let idle = key == .earlierRun ? list.last : list.first
            return idle != State.none ? idle : nil
        }
    }

    struct State {
        /// No channel or host.
        static let none = -1

        var index: [Key: Int] = [:]
        var channels = Places<ChannelEntry>()
        var hosts = Places<HostEntry>()
        var hostIndex: [ClientIdentity: Int] = [:]
        /// The host that the next run of the eviction begins with.
        var nextHost = 0
        var nextNumber: UInt64 = 1
        /// The numbers that were evicted and not taken yet.
        var evicted: [UInt64] = []
        /// The number of evicted channels.
        var evictedCount: UInt64 = 0
        /// Whether the runs since the last query found hosts whose idle channels are kept for the short
        /// retention only.
        var forgetsSoon = false
        var refusedCount: UInt64 = 0
        /// The places of restored channels by number, until all are restored.
        var restored: [UInt64: Int] = [:]
        /// When all were restored; idle channels of an earlier run have closed then at the earliest.
        var restoredTime: MonotonicInstant?
        /// Whether channels come and go only as a log says.
        var isFollowing = false
    }
}

extension ChannelTable.State {
    /// The place of a host, which is made where there is none; O(1).
    mutating func host(_ key: ClientIdentity, _ budget: ChannelBudget) -> Int {
        if let place = hostIndex[key] { return place }
        let share = ChannelShare(of: budget, isRestored: key == .earlierRun)
        share.add(ChannelShare.baseByteCount)
        let place = hosts.insert(ChannelTable.HostEntry(key: key, share: share))
        hostIndex[key] = place
        return place
    }

    /// Removes a channel from a host's count, and a host with its last channel; O(1).
    mutating func releaseHost(_ place: Int) {
        hosts[place].channelCount -= 1
        guard hosts[place].channelCount == 0 else { return }
        hosts[place].share.add(-ChannelShare.baseByteCount)
        hostIndex[hosts[place].key] = nil
        hosts.remove(at: place)
    }

    /// Puts a channel in, which its host has counted already, held by a connection; O(1).
    mutating func insert(_ channel: Channel, host: Int) -> Int {
        let place = channels.insert(ChannelTable.ChannelEntry(channel: channel, host: host))
        index[ChannelTable.Key(channel.identity)] = place
        return place
    }

    /// Takes a channel out, and gives its memory back to its host's share; O(1).
    mutating func remove(_ place: Int) {
        unlink(place)
        let entry = channels[place]
        entry.channel.withCalls { $0.move(to: nil) }
        index[ChannelTable.Key(entry.channel.identity)] = nil
        channels.remove(at: place)
        releaseHost(entry.host)
    }

    /// Puts a channel at the end of its host's list of idle ones; O(1).
    mutating func link(_ place: Int, isUsed: Bool, at time: MonotonicInstant) {
        let host = channels[place].host
        let last = hosts[host][isUsed].last
        channels[place].isUsed = isUsed
        channels[place].closeTime = time
        channels[place].previous = last
        channels[place].next = Self.none
        if last == Self.none {
            hosts[host][isUsed].first = place
        } else {
            channels[last].next = place
        }
        hosts[host][isUsed].last = place
        hosts[host].idleByteCount += channels[place].channel.withCalls { $0.byteCount }
    }

    /// Takes a channel out of its host's list, if it is idle: a connection holds it now; O(1).
    mutating func unlink(_ place: Int) {
        let entry = channels[place]
        guard entry.closeTime != nil else { return }
        if entry.previous == Self.none {
            hosts[entry.host][entry.isUsed].first = entry.next
        } else {
            channels[entry.previous].next = entry.next
        }
        if entry.next == Self.none {
            hosts[entry.host][entry.isUsed].last = entry.previous
        } else {
            channels[entry.next].previous = entry.previous
        }
        channels[place].closeTime = nil
        hosts[entry.host].idleByteCount -= entry.channel.withCalls { $0.byteCount }
    }

    /// The channel of a host that is to be forgotten first; nil where none is due.
    mutating func dueChannel(
        of place: Int,
        _ limits: ChannelLimits,
        _ now: MonotonicInstant
    ) -> Int? {
        guard let host = hosts.element(at: place) else { return nil }
        if !host.share.admits(0) { return host.idlest }
        let isQuiet = host.key == .earlierRun || host.idleByteCount <= limits.quietByteCount
        if !isQuiet { forgetsSoon = true }
        let retention = isQuiet ? limits.retention : limits.shortRetention
        if isDue(host.unused.first, retention, now) { return host.unused.first }
        return isDue(host.used.first, retention, now) ? host.used.first : nil
    }

    /// Whether a channel has been idle for so long; allocates nothing, as votes run beside it.
    private func isDue(_ place: Int, _ retention: Duration, _ now: MonotonicInstant) -> Bool {
        guard place != Self.none, let closeTime = channels[place].closeTime else { return false }
        return max(closeTime, restoredTime ?? closeTime).advanced(by: retention) <= now
    }

    /// Gives memory back where most of it is not in use any more; O(channels), seldom.
    mutating func shrink() {
        guard channels.endPlace > 1024, channels.count < channels.endPlace / 8 else { return }
        let moved = channels.compact()
        func newPlace(_ old: Int) -> Int { old == Self.none ? old : moved[old] }
        for place in 0..<channels.endPlace {
            channels[place].previous = newPlace(channels[place].previous)
            channels[place].next = newPlace(channels[place].next)
        }
        for host in 0..<hosts.endPlace where hosts.element(at: host) != nil {
            for isUsed in [false, true] {
                hosts[host][isUsed].first = newPlace(hosts[host][isUsed].first)
                hosts[host][isUsed].last = newPlace(hosts[host][isUsed].last)
            }
        }
        var index: [ChannelTable.Key: Int] = [:]
        index.reserveCapacity(channels.count)
        for place in 0..<channels.endPlace {
            index[ChannelTable.Key(channels[place].channel.identity)] = place
        }
        self.index = index
    }
}

/// The limits of channels: their memory, and how long they are remembered.
package struct ChannelLimits: Sendable, Equatable {
    /// The bytes that all channels may take.
    ///
    /// A channel takes about 256, 16 to 32 for each call that it remembers, and 32 to 64 more for a
    /// batch that was counted in part. So there are 262,144 at most; 15,000 with 256 votes each.
    package var byteCount = 64 << 20
    /// The bytes of idle channels that a host may have for the whole retention: an eighth of all.
    package var quietByteCount = 8 << 20
    /// How long a channel is remembered once its connection has closed.
    package var retention = Duration.seconds(600)
    /// How long where the host has more than `quietByteCount` of idle ones.
    package var shortRetention = Duration.seconds(20)
    /// The new channels that one host may open at once: more than there are connections.
    package var newChannelBurst = 32_768
    /// The new channels that one host may open in a minute.
    package var newChannelsPerMinute = 61_440

    package init() {}
}

/// Elements that keep their place until they are removed; places are used again.
struct Places<Element> {
    private var elements: [Element?] = []
    private var free: [Int] = []

    var count: Int { elements.count - free.count }

    /// All places are below this one.
    var endPlace: Int { elements.count }

    /// The element at a place, which must have one; O(1).
    subscript(place: Int) -> Element {
        get {
            guard let element = elements[place] else { preconditionFailure(Self.nothingThere) }
            return element
        }
        set {
            precondition(elements[place] != nil, Self.nothingThere)
            elements[place] = newValue
        }
    }

    /// The element at a place, nil where there is none; O(1).
    func element(at place: Int) -> Element? {
        place < elements.count ? elements[place] : nil
    }

    /// Puts an element into a free place, which is returned; O(1) on average.
    mutating func insert(_ element: Element) -> Int {
        if let place = free.popLast() {
            elements[place] = element
            return place
        }
        elements.append(element)
        return elements.count - 1
    }

    mutating func remove(at place: Int) {
        precondition(elements[place] != nil, Self.nothingThere)
        elements[place] = nil
        free.append(place)
    }

    /// Moves all elements to the lowest places and gives memory back; O(places).
    ///
    /// Returns the new place of each old one, -1 where there was no element.
    mutating func compact() -> [Int] {
        var moved = [Int](repeating: -1, count: elements.count)
        var compacted: [Element?] = []
        compacted.reserveCapacity(count)
        for (place, element) in elements.enumerated() where element != nil {
            moved[place] = compacted.count
            compacted.append(element)
        }
        elements = compacted
        free = []
        return moved
    }

    private static var nothingThere: String { "There is an element at the place." }
}
