import Synchronization

/// The bytes that the connections of all loops hold: what they read and could not use yet, and
/// what they have to send and the kernel did not take.
///
/// Over the limit, connections that hold more than their share are no longer read from.
package final class BufferBudget: Sendable {
    /// The bytes that may be held before ``isExhausted`` is true.
    package let limitByteCount: Int

    private let held = Atomic<Int>(0)
    private let connections = Atomic<Int>(0)

    /// A budget of `limitByteCount`, shared by every loop that is given it.
    package init(limitByteCount: Int = TransportLimits.budgetByteCount) {
        self.limitByteCount = limitByteCount
    }

    /// The bytes held now.
    package var bufferedByteCount: Int { held.load(ordering: .relaxed) }

    /// The connections that share the budget.
    package var connectionCount: Int { connections.load(ordering: .relaxed) }

    /// Whether more is held than the limit allows.
    package var isExhausted: Bool { bufferedByteCount > limitByteCount }

    /// What one connection may hold while the budget is exhausted.
    package var fairShareByteCount: Int { limitByteCount / max(1, connectionCount) }

    /// Counts bytes that are held from now on, or, negative, no longer.
    func add(_ byteCount: Int) {
        held.wrappingAdd(byteCount, ordering: .relaxed)
    }

    /// Counts a connection that opens (1) or closes (-1).
    func addConnection(_ change: Int) {
        connections.wrappingAdd(change, ordering: .relaxed)
    }
}
