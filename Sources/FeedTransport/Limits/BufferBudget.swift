import Synchronization

/// The bytes held for the connections of all loops, in two sums.
///
/// One is what closing connections returns: bytes read and not yet used, unsent bytes, and
/// the part of those that the kernel holds. The other one also has the bytes that the program
/// reserves or keeps for later.
///
/// ``BudgetLevel`` says what is refused above which part of the limit, and which sum that is. Bytes
/// that the program reserves are no reason to close connections
/// (``TCPConnection/hasRoomForUnused()``, ``EventLoop/relieveInSweep()``): closing returns none of
/// them.
package final class BufferBudget: Sendable {
    /// The bytes that may be held before ``isExhausted`` is true.
    package let limitByteCount: Int

    private let connectionBytes = Atomic<Int>(0)
    private let reservedBytes = Atomic<Int>(0)
    private let lentBytes = Atomic<Int>(0)
    private let peakBytes = Atomic<Int>(0)
    private let latestPeakBytes = Atomic<Int>(0)
    private let connections = Atomic<Int>(0)
    private let closings = Atomic<Int>(0)
    private let hosts = HostShares()

    package init(limitByteCount: Int = TransportLimits.budgetByteCount) {
        self.limitByteCount = limitByteCount
    }

    /// All bytes held now: the sum ``BudgetLevel/Sum/all``.
    package var bufferedByteCount: Int {
        connectionByteCount + reservedBytes.load(ordering: .relaxed)
    }

    /// The part of them that closing connections returns: ``BudgetLevel/Sum/connections``.
    package var connectionByteCount: Int { connectionBytes.load(ordering: .relaxed) }

    package var connectionCount: Int { connections.load(ordering: .relaxed) }

    /// Whether changes are refused.
    package var isExhausted: Bool { isAbove(.exhausted) }

    /// Whether a connection above ``fairShareByteCount`` is not read from.
    package var isNearlyExhausted: Bool { isAbove(.nearlyExhausted) }

    /// Whether connections are held to less than their own limits.
    package var isCrowded: Bool { isAbove(.crowded) }

    /// The bytes that one connection may hold while the budget is nearly exhausted.
    package var fairShareByteCount: Int { limitByteCount / max(1, connectionCount) }

    /// A host's share: bytes beyond it are held at the cost of other hosts.
    package var hostShareByteCount: Int { answerLimitByteCount / hosts.holdingCount }

    /// The bytes that all large answers may take together.
    package var answerLimitByteCount: Int { threshold(of: .answering) }

    /// The peak of all held bytes, if it was ``BudgetLevel/notable``.
    package var peakByteCount: Int { peakBytes.load(ordering: .relaxed) }

    /// The peak of all held bytes since the last call if it was ``BudgetLevel/notable``,
    /// otherwise 0.
    package func takeLatestPeak() -> Int { latestPeakBytes.exchange(0, ordering: .relaxed) }

    /// Reserves room for an answer to `host` before it is built; returns false, and reserves
    /// nothing, if there is none.
    ///
    /// O(1). One answer always has room if nothing else is held.
    package func reserve(_ byteCount: Int, for host: HostSlot) -> Bool {
        let (_, reserved) = reservedBytes.wrappingAdd(byteCount, ordering: .relaxed)
        let total = connectionByteCount + reserved
        let hasRoom =
            total <= max(answerLimitByteCount, byteCount)
            || total <= threshold(of: .nearlyExhausted)
                && hosts[host] + byteCount <= hostShareByteCount
        if hasRoom {
            notePeak(total)
        } else {
            reservedBytes.wrappingSubtract(byteCount, ordering: .relaxed)
        }
        return hasRoom
    }

    /// Counts bytes that the program itself keeps for connections; a negative count releases them.
    package func addReserved(_ byteCount: Int) {
        let (_, reserved) = reservedBytes.wrappingAdd(byteCount, ordering: .relaxed)
        if byteCount > 0 { notePeak(connectionByteCount + reserved) }
    }

    /// Counts bytes that a connection from `host` holds; a negative count releases them.
    package func add(_ byteCount: Int, for host: HostSlot) {
        let (_, held) = connectionBytes.wrappingAdd(byteCount, ordering: .relaxed)
        hosts.add(byteCount, for: host)
        if byteCount > 0 { notePeak(held + reservedBytes.load(ordering: .relaxed)) }
    }

    package func byteCount(of host: HostSlot) -> Int { hosts[host] }

    /// Counts a connection that opens (1) or closes (-1).
    func addConnection(_ change: Int) { connections.wrappingAdd(change, ordering: .relaxed) }

    private func notePeak(_ total: Int) {
        // Two threads may overwrite each other's peak with one that is hardly smaller.
        guard total > threshold(of: .notable),
            total > latestPeakBytes.load(ordering: .relaxed)
        else { return }
        latestPeakBytes.store(total, ordering: .relaxed)
        if total > peakByteCount { peakBytes.store(total, ordering: .relaxed) }
    }

    @inline(__always)
    func threshold(of level: BudgetLevel) -> Int { level.byteCount(ofLimit: limitByteCount) }

    /// Whether the sum that belongs to a level is above it; O(1).
    @inline(__always)
    package func isAbove(_ level: BudgetLevel) -> Bool {
        let held =
            switch level.sum {
            case .connections: connectionByteCount
            case .all: bufferedByteCount
            }
        return held > threshold(of: level)
    }

    /// Whether bytes of an unfinished frame from `host` may be kept.
    ///
    /// If hosts are limited to their share, the share must cover all that the host then holds,
    /// and so must twice the bytes left below ``BudgetLevel/unfinished``.
    ///
    /// O(1). Shares shrink with each host that arrives, so the shares of one wait may be too much
    /// together; the bytes left then end them. If all hosts have the same share, that never
    /// happens.
    package func hasRoom(forUnfinished byteCount: Int, of host: HostSlot) -> Bool {
        let total = connectionByteCount + byteCount
        guard total > threshold(of: .sharing) else { return true }
        let left = threshold(of: .unfinished) - total
        return hosts[host] + byteCount <= min(hostShareByteCount, 2 * left)
    }

    /// The connections that all loops have closed for the sake of others.
    var closingCount: Int { closings.load(ordering: .relaxed) }

    func countClosing() { closings.wrappingAdd(1, ordering: .relaxed) }

    /// Takes a part of the send buffers that are lent, a quarter of the limit at most; false if none
    /// is left.
    func lend(_ byteCount: Int) -> Bool {
        let (_, lent) = lentBytes.wrappingAdd(byteCount, ordering: .relaxed)
        if lent <= limitByteCount / 4 { return true }
        lentBytes.wrappingSubtract(byteCount, ordering: .relaxed)
        return false
    }

    func takeBack(_ byteCount: Int) { lentBytes.wrappingSubtract(byteCount, ordering: .relaxed) }
}

/// A level of held bytes in a ``BufferBudget``; above it, less is allowed.
///
/// The levels are listed from below. Each is a part of the budget's limit, and is compared with one
/// of two sums.
package enum BudgetLevel: CaseIterable {
    /// 1/8 of all bytes: a peak above it is remembered.
    case notable
    /// 1/4 of all bytes: above it connections are held to less than their own limits.
    case crowded
    /// 3/8, held for connections: above it hosts are limited to their share. Connections that take
    /// nothing are closed, and unfinished frames are kept within the share only.
    case sharing
    /// 1/2 of all bytes: above it answers that may be large are built only for hosts below their
    /// share.
    case answering
    /// 5/8, held for connections: above it they are closed even if they take their answers.
    case closing
    /// 3/4, held for connections: a host's unfinished frames have at most twice the bytes that are
    /// left below it.
    case unfinished
    /// 3/4 of all bytes: above it no answer that may be large is built, and only connections below
    /// their share are read from.
    case nearlyExhausted
    /// The limit, of all bytes: above it changes are refused.
    case exhausted

    package enum Sum {
        /// The bytes that closing connections returns.
        case connections
        /// These and the bytes that the program reserves or keeps for later.
        case all
    }

    @inline(__always)
    package var sum: Sum {
        switch self {
        case .sharing, .closing, .unfinished: .connections
        case .notable, .crowded, .answering, .nearlyExhausted, .exhausted: .all
        }
    }

    /// The bytes of the level, if the budget has a limit of `limitByteCount`.
    ///
    /// Inlined, so that a level named in the code costs a shift and a constant factor.
    @inline(__always)
    package func byteCount(ofLimit limitByteCount: Int) -> Int {
        switch self {
        case .notable: limitByteCount / 8
        case .crowded: limitByteCount / 4
        case .sharing: limitByteCount / 8 * 3
        case .answering: limitByteCount / 2
        case .closing: limitByteCount / 8 * 5
        case .unfinished, .nearlyExhausted: limitByteCount / 4 * 3
        case .exhausted: limitByteCount
        }
    }
}

/// The place of a host in ``HostShares``.
package struct HostSlot: Sendable, Hashable {
    fileprivate let index: Int

    /// The slot of a host.
    ///
    /// An IPv6 host shares a slot with its network of 64 bits, because each owner has at least one
    /// of these.
    package init(_ host: SocketAddress.Host) {
        var hasher = Hasher()
        switch host {
        case .v4(let bytes): hasher.combine(bytes)
        case .v6(let high, let low):
            hasher.combine(high)
            // Networks that contain all hosts of one kind: loopback, and IPv4 behind IPv6.
            if high == 0 { hasher.combine(low) }
        }
        index = Int(UInt(bitPattern: hasher.finalize()) % UInt(HostShares.slotCount))
    }
}

/// The bytes held for each host, without a lock and without an allocation per host.
///
/// Hosts are hashed into slots with a seed that no client knows. Two hosts that meet in a slot
/// share its share.
private final class HostShares: Sendable {
    /// Few enough to scan, and enough that hosts rarely meet.
    static let slotCount = 1_024

    private let slots = InlineArray<1_024, Atomic<Int>> { _ in Atomic(0) }
    private let holding = Atomic<Int>(0)

    /// The number of hosts that something is held for, at least one.
    var holdingCount: Int { max(1, holding.load(ordering: .relaxed)) }

    subscript(_ host: HostSlot) -> Int { slots[host.index].load(ordering: .relaxed) }

    /// Counts bytes held for a host; a negative count releases them.
    func add(_ byteCount: Int, for host: HostSlot) {
        let (old, new) = slots[host.index].wrappingAdd(byteCount, ordering: .relaxed)
        if old == 0, new != 0 {
            holding.wrappingAdd(1, ordering: .relaxed)
        } else if old != 0, new == 0 {
            holding.wrappingSubtract(1, ordering: .relaxed)
        }
    }
}
