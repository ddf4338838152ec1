import Synchronization

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
final class HostShares: Sendable {
    /// Few enough to scan, and enough that hosts rarely meet.
    static let slotCount = 1_024

    private let slots = InlineArray<1_024, Atomic<Int>> { _ in Atomic(0) }
    private let holding = Atomic<Int>(0)

    /// The number of hosts that something is held for, at least one.
    var holdingCount: Int { max(1, holding.load(ordering: .relaxed)) }

    /// The bytes held for the hosts of a slot.
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
