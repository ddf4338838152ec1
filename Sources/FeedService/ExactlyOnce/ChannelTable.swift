package import FeedConcurrency
package import FeedLog
import FeedRanking

/// The channels whose calls are remembered, by client and channel.
///
/// A channel stays as long as a connection holds it, and for the retention after that, unless its
/// host takes more than its share: `ChannelTable+Eviction` has the rules. Its number is never
/// another's. Lock order: the loop's log, this table, a channel.
package final class ChannelTable: Sendable {
    /// The request of a Hello for a channel.
    package struct Request {
        /// The first eight bytes of the client's id.
        package var clientHigh: UInt64
        /// The last eight bytes of the client's id.
        package var clientLow: UInt64
        /// The number of the channel among the client's.
        package var channel: UInt32
        /// The host that the connection comes from.
        package var host: ClientIdentity
        /// Whether the connection has opened a new channel before.
        package var isFurther = false
        /// Whether a new channel may be made: that is a change.
        package var mayAdd = true
        /// Whether the channel is asked for after its Hello, and is another connection's by now if
        /// it is known.
        package var isLate = false

        /// A request for a channel by its first Hello.
        package init(
            clientHigh: UInt64,
            clientLow: UInt64,
            channel: UInt32,
            host: ClientIdentity
        ) {
            self.clientHigh = clientHigh
            self.clientLow = clientLow
            self.channel = channel
            self.host = host
        }
    }

    /// The reason why there is no channel.
    package enum Refusal: Error, Equatable {
        /// The host's channels take their share of memory, and none of them is idle.
        case noRoom(hostByteCount: Int, limitByteCount: Int)
        /// The host opens new channels too fast; when there may be one.
        case tooFast(wait: Duration)
        /// It would be a new one, and that is a change.
        case mayNotAdd
        /// Another connection has said Hello for it since.
        case takenOver
    }

    /// The channel as it is opened for a Hello.
    package struct Opening {
        /// The channel, held by the connection that said Hello.
        package let held: HeldChannel
        /// Whether it was remembered before.
        package let wasKnown: Bool
        /// The highest sequence that was executed on it.
        package let lastSequence: UInt64
    }

    /// The limits of memory and time.
    package struct Limits: Sendable {
        /// The bytes that all channels may take.
        package var byteCount: Int
        /// The bytes of idle channels that a host may have for the whole retention.
        package var quietByteCount: Int
        /// How long a channel is remembered once its connection has closed.
        package var retention: Duration
        /// How long where the host has more than `quietByteCount` of idle ones.
        package var shortRetention: Duration
        /// The new channels that a host may open at once.
        package var newChannelBurst: Int
        /// The new channels that a host may open in a minute.
        package var newChannelsPerMinute: Int

        /// Limits of these values.
        package init(
            byteCount: Int,
            quietByteCount: Int,
            retention: Duration,
            shortRetention: Duration,
            newChannelBurst: Int,
            newChannelsPerMinute: Int
        ) {
            self.byteCount = byteCount
            self.quietByteCount = quietByteCount
            self.retention = retention
            self.shortRetention = shortRetention
            self.newChannelBurst = newChannelBurst
            self.newChannelsPerMinute = newChannelsPerMinute
        }
    }

    let state = Lock(State())
    /// The limits.
    let limits: Limits
    /// The memory of all channels.
    let budget: ChannelBudget
    /// How fast hosts may open new channels.
    let newChannels: HostBuckets
    /// Whether the table keeps evicted numbers until they are taken.
    let collectsEvicted: Bool
    /// The monotonic clock.
    let clock: @Sendable () -> MonotonicInstant

    /// A table without channels.
    ///
    /// - Parameters:
    ///   - limits: What it may hold.
    ///   - collectsEvicted: Whether the table collects evicted numbers, which a checkpoint takes.
    ///   - clock: The monotonic clock.
    package init(
        limits: Limits,
        collectsEvicted: Bool = false,
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
    }

    /// The channels that are remembered.
    package var count: Int { state.withLock { $0.index.count } }

    /// The bytes of memory that the channels take, about.
    package var byteCount: Int { budget.usedByteCount }

    /// The number of channels that were forgotten, for any of the rules of eviction.
    package var evictedCount: UInt64 { state.withLock { $0.evictedCount } }

    /// How often a channel was refused.
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
                let known = state.index[Key(request)]
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
            clientHigh: request.clientHigh,
            clientLow: request.clientLow,
            channel: request.channel
        )
        state.nextNumber += 1
        log.append(identity)
        return state.insert(Channel(identity, share: share), host: host)
    }

    /// Releases a channel from its connection; O(1).
    ///
    /// Without effect if another connection has taken the channel over.
    ///
    /// - Parameters:
    ///   - held: The channel as the connection held it.
    ///   - isLeft: Whether the connection lives on and has said another Hello: then none of its calls
    ///     is in doubt, and a channel without calls need not be remembered.
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

    /// Whether a client's channel is remembered; O(1).
    package func isKnown(_ clientHigh: UInt64, _ clientLow: UInt64, channel: UInt32) -> Bool {
        let sought = ChannelState(
            number: 0,
            clientHigh: clientHigh,
            clientLow: clientLow,
            channel: channel
        )
        return state.withLock { $0.index[Key(sought)] != nil }
    }
}
