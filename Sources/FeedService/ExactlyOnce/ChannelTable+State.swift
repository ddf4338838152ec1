internal import FeedConcurrency
internal import FeedLog

extension ChannelTable {
    /// A client and one of its channels.
    struct Key: Hashable {
        let clientHigh: UInt64
        let clientLow: UInt64
        let channel: UInt32

        init(_ identity: ChannelState) {
            clientHigh = identity.clientHigh
            clientLow = identity.clientLow
            channel = identity.channel
        }

        init(_ request: Request) {
            clientHigh = request.clientHigh
            clientLow = request.clientLow
            channel = request.channel
        }
    }

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
        /// Idle channels on which nothing was called.
        var unused = IdleList()
        /// The other idle channels.
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

    /// What the lock guards.
    struct State {
        /// No channel or host.
        static let none = -1

        var index: [Key: Int] = [:]
        var channels = Places<ChannelEntry>()
        var hosts = Places<HostEntry>()
        var hostIndex: [ClientIdentity: Int] = [:]
        /// The host that the next run of the eviction begins with.
        var nextHost = 0
        /// The number that the next channel gets.
        var nextNumber: UInt64 = 1
        /// The numbers that were evicted and not taken yet.
        var evicted: [UInt64] = []
        /// The number of evicted channels.
        var evictedCount: UInt64 = 0
        /// Whether the runs since the last query found hosts whose idle channels are kept for the short
        /// retention only.
        var forgetsSoon = false
        /// How often a channel was refused.
        var refusedCount: UInt64 = 0
        /// The places of restored channels by number, until all are restored.
        var restored: [UInt64: Int] = [:]
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

    /// Removes a channel from a host's count, and a host with its last channel.
    ///
    /// O(1).
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
        _ limits: ChannelTable.Limits,
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
        return closeTime.advanced(by: retention) <= now
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
