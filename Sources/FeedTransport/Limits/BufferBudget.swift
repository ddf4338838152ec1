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

    /// A budget of `limitByteCount`, shared by every loop that is given it.
    package init(limitByteCount: Int = TransportLimits.budgetByteCount) {
        self.limitByteCount = limitByteCount
    }

    /// All bytes held now: the sum ``BudgetLevel/Sum/all``.
    package var bufferedByteCount: Int {
        connectionByteCount + reservedBytes.load(ordering: .relaxed)
    }

    /// The part of them that closing connections returns: ``BudgetLevel/Sum/connections``.
    package var connectionByteCount: Int { connectionBytes.load(ordering: .relaxed) }

    /// The connections that share the budget.
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

    /// The peak of all held bytes, where it was ``BudgetLevel/notable``.
    package var peakByteCount: Int { peakBytes.load(ordering: .relaxed) }

    /// The peak of all held bytes since the last call where it was ``BudgetLevel/notable``,
    /// otherwise 0.
    package func takeLatestPeak() -> Int {
        latestPeakBytes.exchange(0, ordering: .relaxed)
    }

    /// Reserves room for an answer to `host` before it is built; returns false, and reserves
    /// nothing, if there is none.
    ///
    /// O(1). One answer always has room where nothing else is held.
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

    /// The bytes that connections of `host` hold.
    package func byteCount(of host: HostSlot) -> Int { hosts[host] }

    /// Counts a connection that opens (1) or closes (-1).
    func addConnection(_ change: Int) {
        connections.wrappingAdd(change, ordering: .relaxed)
    }

    private func notePeak(_ total: Int) {
        // Two threads may overwrite each other's peak with one that is hardly smaller.
        guard total > threshold(of: .notable),
            total > latestPeakBytes.load(ordering: .relaxed)
        else { return }
        latestPeakBytes.store(total, ordering: .relaxed)
        if total > peakByteCount { peakBytes.store(total, ordering: .relaxed) }
    }
}

extension BufferBudget {
    /// The bytes of a level; O(1).
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
    /// Where hosts are limited to their share, the share must cover all that the host then holds,
    /// and so must twice the bytes left below ``BudgetLevel/unfinished``.
    ///
    /// O(1). Shares shrink with each host that arrives, so the shares of one wait may be too much
    /// together; the bytes left then end them. Where all hosts have the same share, that never
    /// happens.
    package func hasRoom(forUnfinished byteCount: Int, of host: HostSlot) -> Bool {
        let total = connectionByteCount + byteCount
        guard total > threshold(of: .sharing) else { return true }
        let left = threshold(of: .unfinished) - total
        return hosts[host] + byteCount <= min(hostShareByteCount, 2 * left)
    }

    /// The connections that all loops have closed for the sake of others.
    var closingCount: Int { closings.load(ordering: .relaxed) }

    /// Counts a connection that is closed for the sake of others.
    func countClosing() {
        closings.wrappingAdd(1, ordering: .relaxed)
    }

    /// Takes a part of the send buffers that are lent, a quarter of the limit at most; false if none
    /// is left.
    func lend(_ byteCount: Int) -> Bool {
        let (_, lent) = lentBytes.wrappingAdd(byteCount, ordering: .relaxed)
        if lent <= limitByteCount / 4 { return true }
        lentBytes.wrappingSubtract(byteCount, ordering: .relaxed)
        return false
    }

    /// Gives lent bytes back.
    func takeBack(_ byteCount: Int) {
        lentBytes.wrappingSubtract(byteCount, ordering: .relaxed)
    }
}
