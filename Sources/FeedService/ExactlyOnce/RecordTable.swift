package import FeedRanking
package import FeedTransport

/// The channels whose calls are remembered, by client and channel.
///
/// A channel stays as long as a connection holds it, and for the retention after that. Its number
/// is never another's. Lock order: the loop's log, this table, a channel's record.
package final class RecordTable: Sendable {
    /// There are as many channels as may be remembered.
    package struct Full: Error {
        /// How many that is.
        package let limit: Int
    }

    /// What a Hello is told of its channel.
    package struct Opening {
        /// The channel, held by the connection that said Hello.
        package let channel: HeldChannel
        /// Whether it was remembered before.
        package let wasKnown: Bool
        /// The highest sequence that was executed on it.
        package let lastSequence: UInt64
    }

    /// Which channel of which client.
    struct Key: Hashable {
        let clientHigh: UInt64
        let clientLow: UInt64
        let channel: UInt32

        init(_ state: ChannelState) {
            clientHigh = state.clientHigh
            clientLow = state.clientLow
            channel = state.channel
        }
    }

    /// A channel, and who holds it.
    struct Entry {
        let record: ChannelRecord
        /// The epoch of the latest Hello.
        var epoch: UInt64 = 0
        /// When the connection of that Hello closed; nil while it is open.
        var closeTime: MonotonicInstant?
        /// Whether the channel waits in the queue of those to evict.
        var isQueued = false
    }

    /// What the lock guards.
    struct State {
        var entries: [Key: Entry] = [:]
        /// The number that the next channel gets.
        var nextNumber: UInt64 = 1
        /// Channels that closed, in that order.
        var queue = EvictionQueue()
        /// The numbers that were evicted and not taken yet.
        var evicted: [UInt64] = []
        /// The channels evicted so far.
        var evictedCount: UInt64 = 0
        /// The keys of restored channels by number, until all are restored.
        var restored: [UInt64: Key] = [:]
    }

    let state = HandoverMutex(State())
    /// How many channels are remembered at most.
    let limit: Int
    /// How long a channel is remembered once its connection has closed.
    let retention: Duration
    /// Whether evicted numbers are kept for whoever takes them.
    let collectsEvicted: Bool
    /// The monotonic clock.
    let clock: @Sendable () -> MonotonicInstant

    /// A table without channels.
    ///
    /// - Parameters:
    ///   - limit: How many channels are remembered at most.
    ///   - retention: How long a channel is remembered once its connection has closed.
    ///   - collectsEvicted: Whether someone takes the evicted numbers, as a fold does.
    ///   - clock: The monotonic clock.
    package init(
        limit: Int,
        retention: Duration,
        collectsEvicted: Bool = false,
        clock: @escaping @Sendable () -> MonotonicInstant = { EventLoop.clock }
    ) {
        self.limit = limit
        self.retention = retention
        self.collectsEvicted = collectsEvicted
        self.clock = clock
    }

    /// The channels that are remembered.
    package var count: Int { state.withLock { $0.entries.count } }

    /// The channels evicted so far.
    package var evictedCount: UInt64 { state.withLock { $0.evictedCount } }

    /// The number that the next channel gets; above all that were given.
    package var nextNumber: UInt64 { state.withLock { $0.nextNumber } }

    /// Gives a client's channel to the connection that says Hello, a new one on first sight; O(1).
    ///
    /// To be called within a section of the loop's log, which is told of a new channel. Who held it before is fenced: once this returns, no call of that connection is under way.
    package func open(
        clientHigh: UInt64,
        clientLow: UInt64,
        channel: UInt32,
        log: EffectLog
    ) throws(Full) -> Opening {
        try state.withLock { (state) throws(Full) -> Opening in
            let sought = ChannelState(
                number: state.nextNumber,
                clientHigh: clientHigh,
                clientLow: clientLow,
                channel: channel
            )
            let key = Key(sought)
            let known = state.entries[key]
            guard known != nil || state.entries.count < limit else { throw Full(limit: limit) }
            var entry = known ?? Entry(record: ChannelRecord(sought))
            if known == nil {
                state.nextNumber += 1
                log.append(sought)
            }
            let (epoch, highest) = entry.record.withCalls { ($0.beginEpoch(), $0.highest) }
            entry.epoch = epoch
            entry.closeTime = nil
            state.entries[key] = entry
            return Opening(
                channel: HeldChannel(record: entry.record, epoch: epoch),
                wasKnown: known != nil,
                lastSequence: highest
            )
        }
    }

    /// Begins the retention of a channel whose connection has closed; O(1).
    ///
    /// Does nothing where another connection holds the channel by now.
    package func close(_ channel: HeldChannel) {
        let now = clock()
        let key = Key(channel.record.state)
        state.withLock { state in
            guard var entry = state.entries[key], entry.record === channel.record,
                entry.epoch == channel.epoch
            else { return }
            entry.closeTime = now
            if !entry.isQueued {
                entry.isQueued = true
                state.queue.append(key, due: now.advanced(by: retention))
            }
            state.entries[key] = entry
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
        return state.withLock { $0.entries[Key(sought)] != nil }
    }
}
